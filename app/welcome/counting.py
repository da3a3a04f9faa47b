"""Counts the images of folders for a new project on a thread of its own."""

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
    """What searching some paths gave, and why others cannot be searched."""

    found: dict[Path, FoundImages] = field(default_factory=dict)
    photos: dict[Path, Photos] = field(default_factory=dict)
    failures: dict[Path, str] = field(default_factory=dict)


@final
class FolderCounting(QObject):
    """Finds images and keeps what it found of each path, so that adding one does not read the others again."""

    changed = Signal()  # other folders, or their images are known now
    counted = Signal(int)  # images found so far in those that are being searched

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._paths: Sequence[Path] = ()
        self._known = SearchedPaths()
        self.folders: Sequence[FoundFolder] = ()
        self._searching = JobSlot(parent=self)
        self._searching.progressed.connect(lambda progress: self.counted.emit(progress.done))
        self.stop = self._searching.stop

    def search(self, paths: Sequence[Path]) -> None:
        """Find the images of these paths; those that are known already are not searched again."""
        self._paths = paths
        self._searching.abandon()
        if waiting := self.waiting:
            title = tr("Looking for images")
            self._searching.start(title, partial(_searched, waiting), self._on_searched)
        self._tell()

    def forget(self) -> None:
        """The disk may have changed by the next time."""
        self._searching.abandon()
        self._paths, self._known, self.folders = (), SearchedPaths(), ()

    @property
    def waiting(self) -> tuple[Path, ...]:
        """Paths that are not searched yet."""
        return tuple(
            path
            for path in self._paths
            if path not in self._known.found and path not in self.failures
        )

    @property
    def failures(self) -> Mapping[Path, str]:
        """Why some paths cannot be searched."""
        return {path: why for path, why in self._known.failures.items() if path in self._paths}

    @property
    def found(self) -> FoundImages:
        """What was found in all paths so far."""
        from engine.collection.importing.folder_choice import merged

        return merged(
            [self._known.found[path] for path in self._paths if path in self._known.found]
        )

    @property
    def photos(self) -> Photos:
        """How many images there are, and a few of them."""
        known = [self._known.photos[path] for path in self._paths if path in self._known.photos]
        some = [path for each in known for path in each.some]
        step = max(1, len(some) // MOST_TRIED)
        count = sum(each.count for each in known)
        return Photos(count, bool(self.waiting), tuple(some[::step][:MOST_TRIED]))

    def _list_folders(self) -> tuple[FoundFolder, ...]:
        """The folders found so far, then those without images, and those that are not searched yet."""
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
        self._tell()

    def _tell(self) -> None:
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
