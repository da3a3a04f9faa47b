"""Which images of a project a file of labels means: by path, then by content, then by the end of the path."""

from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

from engine.images.content_hash import file_hashes
from engine.interchange.labelled_images.records import ForeignLabel
from engine.project import Project

_LEAST_PARTS: Final = 2
"""Folder and name: a name alone (IMG_0001.jpg) says too little of a path from another computer."""


class ImageMatcher:
    """Finds images of a project; what is asked of the disk is asked once.

    Args:
        project: may be open for reading only.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._folder = project.path.parent

    def images_of(self, label: ForeignLabel) -> list[int]:
        """The images that a label is about: one, or all with the same content; [] where there is none."""
        return self._by_path(label) or self._by_content(label) or self._by_end(label.image)

    def _by_path(self, label: ForeignLabel) -> list[int]:
        for path in dict.fromkeys((self._folder / _plain(label.image), *([label.file] if label.file else []))):
            image_id = self._project.find_image(path)
            if image_id is not None:
                return [image_id]
        return []

    def _by_content(self, label: ForeignLabel) -> list[int]:
        if label.content_hash:
            return self._contents.get(label.content_hash.casefold(), [])
        if label.file is None:
            return []
        try:
            hashes = file_hashes(label.file)
        except (OSError, ValueError):
            return []
        return next((self._contents[each.hex()] for each in hashes if each.hex() in self._contents), [])

    def _by_end(self, image: str) -> list[int]:
        """The one image whose path ends as this, or as which this ends, in at least a folder and a name."""
        parts = PurePosixPath(_plain(image)).parts
        candidates = self._names.get(parts[-1], []) if parts else []
        fitting = [image_id for image_id, path in candidates if _ends_alike(parts, path)]
        return fitting if len(fitting) == 1 else []

    @cached_property
    def _contents(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for image_id, _, content_hash in self._project.each_image_content():
            if content_hash is not None:
                found.setdefault(content_hash.hex(), []).append(image_id)
        return found

    @cached_property
    def _names(self) -> dict[str, list[tuple[int, tuple[str, ...]]]]:
        found: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        for image_id, path in self._project.each_image_path():
            parts = PurePosixPath(path).parts
            found.setdefault(parts[-1], []).append((image_id, parts))
        return found


def _plain(image: str) -> str:
    r"""A path as we write it: Windows puts "\\" between names."""
    return image.replace("\\", "/").strip().removeprefix("./")


def _ends_alike(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    shorter = min(len(first), len(second))
    common = 0
    for a, b in zip(reversed(first), reversed(second), strict=False):
        if a != b:
            break
        common += 1
    return common >= _LEAST_PARTS or common == shorter == len(first)
