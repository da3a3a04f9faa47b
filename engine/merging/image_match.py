"""Matching of images of two projects: by content, common history, or path; each at most once."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest
from typing import final

from engine.collection.importing.match_images import FileContents
from engine.project import ImageId, ImageTable, Project
from engine.project.fork import Fork


class MatchedBy(Enum):
    """Evidence for a match."""

    CONTENT = "content"
    HISTORY = "history"
    PATH = "path"


@dataclass(frozen=True)
class ImagePairs:
    """Matched images, and the others."""

    pairs: dict[ImageId, ImageId]  # our image by theirs
    counts: dict[MatchedBy, int]  # matches by evidence
    copies: tuple[tuple[ImageId, ImageId], ...]
    """Further images of the same content, theirs and ours; one of them is matched already."""
    missing: tuple[ImageId, ...]
    """Theirs, one per file, whose file we do not have; and parts of files that we removed."""
    new_parts: tuple[tuple[ImageId, ImageId], ...]
    """Parts that only they have of a common file: theirs, and an image of ours of that file."""
    other_content: tuple[tuple[ImageId, ImageId], ...]
    """Theirs and ours of one path with different content."""


def match_images(
    ours: Project, theirs: Project, fork: Fork | None, contents: FileContents | None = None
) -> ImagePairs:
    """Match their images with ours.

    Args:
        contents: reads our file where both hashes are known and differ, since earlier versions
            hashed differently.

    Raises:
        Cancelled: the work was stopped.
    """
    matcher = _ImageMatcher(ours, theirs, contents or FileContents())
    matcher.by_content()
    if fork is not None:
        matcher.by_history(fork)
    matcher.by_path()
    return matcher.found(fork)


@final
class _ImageMatcher:
    def __init__(self, ours: Project, theirs: Project, contents: FileContents) -> None:
        self._ours, self._theirs = ours, theirs
        self._contents = contents
        self._our_table, self._their_table = ours.images.files(), theirs.images.files()
        self._pairs: dict[int, int] = {}  # places in the tables
        self._taken: set[int] = set()
        self._counts = dict.fromkeys(MatchedBy, 0)
        self._copies: list[tuple[int, int]] = []
        self._copied: set[int] = set()
        self._other: list[tuple[int, int]] = []

    def _take(self, their: int, our: int, by: MatchedBy) -> None:
        self._pairs[their] = our
        self._taken.add(our)
        self._counts[by] += 1

    # -- by content

    def by_content(self) -> None:
        """Match equal content: equal paths first, then in the order of the paths."""
        ours = _by_hash(self._our_table)
        for content, their_places in _by_hash(self._their_table).items():
            if our_places := ours.get(content):
                self._pair(their_places, our_places)

    def _pair(self, theirs: list[int], ours: list[int]) -> None:
        if len(theirs) == len(ours) == 1:
            self._take(theirs[0], ours[0], MatchedBy.CONTENT)
            return
        our_paths = {self._our_table.paths[each]: each for each in ours}
        their_paths = {self._their_table.paths[each]: each for each in theirs}
        both = sorted(our_paths.keys() & their_paths.keys())
        rest = zip_longest(
            sorted(their_paths.keys() - set(both)), sorted(our_paths.keys() - set(both))
        )
        pairs = [*((each, each) for each in both), *rest]
        first = pairs[0] if both else (min(their_paths), min(our_paths))
        for their_path, our_path in pairs:
            if their_path is not None and our_path is not None:
                self._take(their_paths[their_path], our_paths[our_path], MatchedBy.CONTENT)
            elif their_path is None:
                self._copies.append((their_paths[first[0]], our_paths[our_path]))
            else:
                self._copies.append((their_paths[their_path], our_paths[first[1]]))
                self._copied.add(their_paths[their_path])

    # -- by history

    def by_history(self, fork: Fork) -> None:
        """Match images from before the fork, unless both contents are known."""
        places = {image_id: place for place, image_id in enumerate(self._our_table.ids)}
        for their in self._unmatched():
            image_id = self._their_table.ids[their]
            our = places.get(image_id)
            if our is None or our in self._taken or not fork.is_same_image(image_id, image_id):
                continue
            if not self._both_known(their, our):
                self._take(their, our, MatchedBy.HISTORY)

    def _both_known(self, their: int, our: int) -> bool:
        return (
            self._their_table.content_hashes[their] is not None
            and self._our_table.content_hashes[our] is not None
        )

    def _unmatched(self) -> Iterator[int]:
        places = range(len(self._their_table.ids))
        return (each for each in places if each not in self._pairs and each not in self._copied)

    # -- by path

    def by_path(self) -> None:
        """Match equal paths in the project folders, or one file on this computer."""
        left = list(self._unmatched())
        if not left:
            return
        written = {path: place for place, path in enumerate(self._our_table.paths)}
        files = self._files() if self._ours.path.parent != self._theirs.path.parent else {}
        for their in left:
            path = self._their_table.paths[their]
            our = written.get(path)
            if our is None and files:
                our = files.get(os.path.normpath(self._theirs.path.parent / path))
            if our is None or our in self._taken:
                continue
            if self._may_be_equal(their, our):
                self._take(their, our, MatchedBy.PATH)
            else:
                self._other.append((their, our))

    def _files(self) -> dict[str, int]:
        folder = self._ours.path.parent
        return {
            os.path.normpath(folder / path): place
            for place, path in enumerate(self._our_table.paths)
        }

    def _may_be_equal(self, their: int, our: int) -> bool:
        if self._their_table.sizes_bytes[their] != self._our_table.sizes_bytes[our]:
            return False
        content = self._their_table.content_hashes[their]
        if content is None or self._our_table.content_hashes[our] is None:
            return True
        try:
            return content.hex() in self._contents.hashes(
                self._ours.path.parent / self._our_table.paths[our]
            )
        except (OSError, ValueError):
            return False

    def found(self, fork: Fork | None) -> ImagePairs:
        """The result, by ids."""
        refused = {their for their, _our in self._other}
        missing = (each for each in self._unmatched() if each not in refused)
        pairs, copies = dict(self._ids(self._pairs.items())), list(self._ids(self._copies))
        parts = _Parts(self._ours, self._theirs, fork)
        if parts.are_any:
            further = [copy for copy in copies if copy[0] not in pairs]
            pairs |= {
                their: our for pair in list(pairs.items()) for their, our in parts.match(*pair)
            }
            copies += [each for copy in further for each in parts.match(*copy) if each != copy]
        return ImagePairs(
            pairs=pairs,
            counts=self._counts,
            copies=tuple(copies),
            missing=(*(self._their_table.ids[each] for each in missing), *parts.removed),
            new_parts=tuple(parts.new),
            other_content=tuple(self._ids(self._other)),
        )

    def _ids(self, places: Iterable[tuple[int, int]]) -> Iterator[tuple[ImageId, ImageId]]:
        return ((self._their_table.ids[their], self._our_table.ids[our]) for their, our in places)


@final
class _Parts:
    """Matches the parts of common files: boxes, pages, frames."""

    def __init__(self, ours: Project, theirs: Project, fork: Fork | None) -> None:
        self.new: list[tuple[ImageId, ImageId]] = []  # see `ImagePairs.new_parts`
        self.removed: list[ImageId] = []  # theirs that we had and removed
        self._fork = fork
        tables = ours.images.table(), theirs.images.table()
        self.are_any = any(table.has_parts for table in tables)
        self._ours, self._theirs = (
            _parts_by_file(table) if self.are_any else {} for table in tables
        )

    def match(self, their_id: ImageId, our_id: ImageId) -> Iterator[tuple[ImageId, ImageId]]:
        """Match the parts of the files of two images; collect those that only they have."""
        ours, theirs = self._ours[our_id], self._theirs[their_id]
        ids = {part: image_id for image_id, part in ours.items()}
        taken = {ids[part] for part in theirs.values() if part in ids}
        for image_id, part in theirs.items():
            if part in ids:
                yield image_id, ids[part]
            elif self._is_old(image_id) and image_id not in self._ours:
                self.removed.append(image_id)
            elif self._is_old(image_id) and image_id in ours and image_id not in taken:
                yield image_id, image_id  # a box that was moved in one of the copies
            else:
                self.new.append((image_id, our_id))

    def _is_old(self, image_id: ImageId) -> bool:
        """Whether it is from before the fork."""
        return self._fork is not None and self._fork.is_same_image(image_id, image_id)


def _parts_by_file(table: ImageTable) -> dict[ImageId, dict[ImageId, str]]:
    """The images of each file with their parts, by image."""
    files: dict[str, dict[ImageId, str]] = {}
    for image_id, path, part in zip(table.ids, table.paths, table.parts, strict=True):
        files.setdefault(path, {})[image_id] = part
    return {image_id: files[path] for image_id, path in zip(table.ids, table.paths, strict=True)}


def _by_hash(table: ImageTable) -> dict[bytes, list[int]]:
    found: dict[bytes, list[int]] = {}
    for place, content in enumerate(table.content_hashes):
        if content is not None:
            found.setdefault(content, []).append(place)
    return found
