"""Counts the images in folders for a new project, in the background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.jobs.background_thread import sentence_for
from app.jobs.slot import JobSlot
from app.texts import tr
from app.welcome.logic import MOST_TRIED, Photos

if TYPE_CHECKING:
    from engine.collection.importing.folder_choice import FoundFolder
    from engine.events import CancelToken, OnProgress
    from engine.images.find_images import FoundImages


@dataclass
class SearchedPaths:
    """Images found in paths, and errors for those that cannot be read."""

    found: dict[Path, FoundImages] = field(default_factory=dict)
    photos: dict[Path, Photos] = field(default_factory=dict)
    failures: dict[Path, str] = field(default_factory=dict)


@final
class FolderCounting(QObject):
    """Finds images and caches results per path, so that adding a path searches only that one."""

    changed = Signal()  # other folders, or new results
    counted = Signal(int)  # images found so far in the folders being searched

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._paths: Sequence[Path] = ()
        self._known = SearchedPaths()
        self.folders: Sequence[FoundFolder] = ()
        self._searching = JobSlot(parent=self)
        self._searching.progressed.connect(lambda progress: self.counted.emit(progress.done))
        self.stop = self._searching.stop

    def search(self, paths: Sequence[Path]) -> None:
        """Search these paths; those already searched are skipped."""
        self._paths = paths
        self._searching.abandon()
        if waiting := self.waiting:
            title = tr("Looking for images")
            self._searching.start(title, partial(_searched, waiting), self._on_searched)
        self._publish_folders()

    def forget(self) -> None:
        """Clear the cache, as files may change until the next use."""
        self._searching.abandon()
        self._paths, self._known, self.folders = (), SearchedPaths(), ()

    @property
    def waiting(self) -> tuple[Path, ...]:
        """Paths not searched yet."""
        return tuple(
            path
            for path in self._paths
            if path not in self._known.found and path not in self.failures
        )

    @property
    def failures(self) -> Mapping[Path, str]:
        """Error by path, for paths that cannot be searched."""
        return {path: why for path, why in self._known.failures.items() if path in self._paths}

    @property
    def found(self) -> FoundImages:
        """Images found so far in all paths."""
        from engine.collection.importing.folder_choice import merged

        return merged(
            [self._known.found[path] for path in self._paths if path in self._known.found]
        )

    @property
    def photos(self) -> Photos:
        """Number of images so far, and a sample of them."""
        known = [self._known.photos[path] for path in self._paths if path in self._known.photos]
        some = [path for each in known for path in each.some]
        step = max(1, len(some) // MOST_TRIED)
        count = sum(each.count for each in known)
        return Photos(count, bool(self.waiting), tuple(some[::step][:MOST_TRIED]))

    def _list_folders(self) -> tuple[FoundFolder, ...]:
        """The folders found so far, then those without images, then those not searched yet."""
        from engine.collection.importing.folder_choice import FoundFolder, found_folders

        found = self._known.found
        empty = [path for path in self._paths if path in found and not found[path].folders]
        return (
            *found_folders(self.found),
            *(FoundFolder(path, 0, 0) for path in (*empty, *self.waiting)),
        )

    def _on_searched(self, searched: SearchedPaths) -> None:
        self._known.found.update(searched.found)
        self._known.photos.update(searched.photos)
        self._known.failures.update(searched.failures)
        self._publish_folders()

    def _publish_folders(self) -> None:
        self.folders = self._list_folders()
        self.changed.emit()


def _searched(paths: Sequence[Path], on_progress: OnProgress, cancel: CancelToken) -> SearchedPaths:
    from engine.errors import StorageError
    from engine.images.find_parts import find_images_and_parts

    searched = SearchedPaths()
    for path in paths:
        try:
            found = find_images_and_parts([path], on_progress=on_progress, cancel=cancel)
            searched.found[path], searched.photos[path] = found, Photos.of_found(found)
        except StorageError as error:
            searched.failures[path] = sentence_for(error)
    return searched
