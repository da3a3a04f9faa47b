"""State of recent projects and pictures of the welcome page, read on background threads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from app.jobs.background_thread import DetachedJob, Work, leave
from app.texts import tr
from engine.config import THUMBNAIL_SIDES, CacheFolders, assets_folder, guide_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.project.overview import FaceImage

SAMPLE_PICTURE = "sample/photos/IMG_0060.jpg"  # in the assets folder
GUIDE_PICTURE = "images/window.png"  # in the guide folder
LONGER_SIDE = 512  # pixels to which they are reduced


@dataclass(frozen=True)
class RecentFacts:
    """State of a project on disk."""

    path: Path
    is_gone: bool = False
    is_read: bool = False  # False on errors; the counts are 0 then
    images: int = 0
    labelled: int = 0
    changed_at: datetime | None = None
    face: QImage | None = None  # thumbnail of one of its images


@final
class FirstPageLooks(QObject):
    """Reads each project on its own thread: an unreachable share does not block the others."""

    seen = Signal(RecentFacts)
    starts_seen = Signal(QImage, QImage)  # pictures of the sample and of the guide

    def __init__(self, caches: CacheFolders, parent: QObject) -> None:
        super().__init__(parent)
        self._caches = caches
        self._jobs: list[DetachedJob] = []
        self._has_starts = False

    def look(self, paths: Sequence[Path]) -> None:
        """Read these projects and, on the first call, the other pictures."""
        self.forget()
        for path in paths:
            job = DetachedJob(tr("Recent projects"), self._facts_of(path), self)
            job.finished.connect(self.seen.emit)
            self._begin(job)
        if not self._has_starts:
            self._has_starts = True
            job = DetachedJob(tr("Recent projects"), lambda _on, _cancel: starts_pictures(), self)
            job.finished.connect(lambda pictures: self.starts_seen.emit(*pictures))
            self._begin(job)

    def _facts_of(self, path: Path) -> Work:
        return lambda _on_progress, _cancel: facts_of(path, self._caches)

    def _begin(self, job: DetachedJob) -> None:
        # An error does not mean that the project is missing.
        job.failed.connect(lambda _message: None)
        self._jobs.append(job)
        job.start()

    def forget(self) -> None:
        for job in self._jobs:
            job.cancel()
            job.deleteLater()
        self._jobs.clear()

    def stop(self) -> None:
        """Stop before the program exits, without waiting for an unreachable share."""
        for job in self._jobs:
            job.cancel()
        leave([job.worker for job in self._jobs])


def facts_of(path: Path, caches: CacheFolders) -> RecentFacts:
    """Read the state of a project from its file and the thumbnail cache; reads no photo."""
    from engine.errors import ProjectMissingError, ProtoleafError
    from engine.project.overview import read_overview

    try:
        overview = read_overview(path)
    except ProjectMissingError:
        return RecentFacts(path, is_gone=True)
    except (ProtoleafError, OSError):
        return RecentFacts(path)
    return RecentFacts(
        path,
        is_read=True,
        images=overview.images,
        labelled=overview.labelled,
        changed_at=overview.changed_at,
        face=_face(overview.faces, caches),
    )


def _face(faces: Sequence[FaceImage], caches: CacheFolders) -> QImage | None:
    from app.images.thumbnails import load_thumbnail
    from engine.file_parts import ImageSource
    from engine.images.thumbnail_cache import ThumbnailCache

    cache = ThumbnailCache(caches.thumbnails)
    try:
        for each in faces:
            for side in THUMBNAIL_SIDES:
                known = each.size_bytes, each.modified_ns
                image = load_thumbnail(
                    cache, ImageSource(each.path, each.part), side, last_known=known, makes=False
                )
                if image is not None:
                    return image
        return None
    finally:
        cache.close()


def starts_pictures() -> tuple[QImage, QImage]:
    """Reduced pictures of the sample and of the guide."""
    return _small(assets_folder() / SAMPLE_PICTURE), _small(guide_folder() / GUIDE_PICTURE)


def _small(path: Path) -> QImage:
    from app.images.pixels import image_of
    from engine.images.decode import decode_rgb
    from engine.images.pixels import fit_within

    pixels = fit_within(decode_rgb(path.read_bytes()), LONGER_SIDE)
    return image_of(pixels).convertToFormat(QImage.Format.Format_RGB32)
