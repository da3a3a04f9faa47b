"""Find the images and parts of a project that a label is about: by content, else by path.

Folders count: a path with other folders is another photo, as the first photo on each memory card
has the same name. Only the beginning of an absolute path from another computer may differ, if
enough folders are equal. A name of several images is ambiguous.

An equal path with another content hash is another photo. An image of the project that was never
read is read to decide that.
"""

import os
import re
import stat
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby, takewhile
from pathlib import Path, PurePosixPath
from typing import final

from engine.errors import reason_of
from engine.events import CancelToken
from engine.file_parts import MOST_BOXES, WHOLE_FILE, FilePart, file_part
from engine.files import FoundFile, shown
from engine.images.kinds import IMAGE_SUFFIXES, RAW_SUFFIXES, kinds_text
from engine.images.photo_facts import photo_facts
from engine.images.read_file import HASH_BYTES
from engine.images.reduced_photo import photo_hashes
from engine.interchange.labelled_images.foreign_labels import ForeignLabel
from engine.project import ImageId, Project
from engine.project.records import ImageContent, NewItem
from engine.texts import Message, marked

ELSEWHERE = Message(
    "it is neither below the list's folder nor below a folder of the project's images"
)
NO_FILE = Message("it is not a regular file")
NO_IMAGE = marked("it is not an image that can be read; images are {kinds}")
OTHER_CONTENT = "other content"
_LEAST_FOLDERS = 2  # equal ones, if the beginning of an absolute path differs. Chosen
# on every memory card: without meaning
_CAMERA_FOLDER = re.compile(r"dcim|\d{3}\w{5}", re.IGNORECASE)
# scheme with a server or bucket
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://[^/]*/", re.IGNORECASE)
_DRIVE = re.compile(r"[a-z]:|/", re.IGNORECASE)  # start of an absolute path


class FileContents:
    """Cache of content hashes of files: a plan is made again when it is applied."""

    def __init__(self, cancel: CancelToken | None = None) -> None:
        self.cancel = cancel or CancelToken()
        self._known: dict[tuple[Path, int, int], frozenset[str]] = {}

    def hashes(self, file: Path) -> frozenset[str]:
        """A file's hashes as hex, today's and that of earlier versions.

        Raises:
            OSError: it cannot be read, or is not a regular file.
            Cancelled: `cancel` was set.
        """
        if not file.is_file():
            raise FileNotFoundError(f"no file {file}")
        facts = file.stat()
        key = file, facts.st_size, facts.st_mtime_ns
        if key not in self._known:
            self.cancel.raise_if_cancelled()
            self._known[key] = frozenset(each.hex() for each in photo_hashes(file))
        return self._known[key]


@dataclass(frozen=True)
class ImageMatch:
    """The images that a label is about."""

    images: tuple[int, ...] = ()  # one, or all with the same content
    namesake: str = ""  # path of another image with this name, or ""
    reason: str = ""  # why it is another one
    several: tuple[str, ...] = ()  # paths of all images that match, if it is ambiguous


class ImageMatcher:
    """Finds images of a project; each file is read once."""

    def __init__(self, project: Project, contents: FileContents | None = None) -> None:
        self._project = project
        self._folder = project.path.parent
        self._files = contents or FileContents()

    def match(self, label: ForeignLabel) -> ImageMatch:
        by_file = None if label.file is None else self._project.images.find(label.file)
        hashes = self._hashes_of(label, is_ours=by_file is not None)
        by_path = self._by_path(label, by_file)
        if not hashes:
            ending = by_path[:1] or self._ending_as(label.image)
            if len(ending) > 1:
                return ImageMatch(
                    several=tuple(self._project.images.record(each).path for each in ending)
                )
            return ImageMatch(ending)
        if same := next((self._contents[each] for each in hashes if each in self._contents), None):
            return ImageMatch(tuple(each for each in by_path if each in same)[:1] or same)
        return self._compared((*by_path, *self._ending_as(label.image)), hashes)

    def _hashes_of(self, label: ForeignLabel, *, is_ours: bool) -> frozenset[str]:
        """Content hashes of a label's photo, if known."""
        written = label.content_hash.strip().casefold()
        if len(written) == 2 * HASH_BYTES:
            return frozenset((written,))
        if label.file is None or is_ours:
            return frozenset()
        try:
            return self._files.hashes(label.file)
        except (OSError, ValueError):
            return frozenset()

    def _by_path(self, label: ForeignLabel, by_file: int | None) -> tuple[int, ...]:
        plain = _plain(label.image)
        by_image = self._project.images.find(self._folder / plain) if plain else None
        return tuple(
            dict.fromkeys(
                each for each in (by_file, by_image, self._odd.get(label.image)) if each is not None
            )
        )

    def _compared(self, candidates: tuple[int, ...], hashes: frozenset[str]) -> ImageMatch:
        """Images of the same name: those whose content is not known yet are read."""
        match = ImageMatch()
        for image_id in dict.fromkeys(candidates):
            record = self._project.images.record(image_id)
            reason: str = OTHER_CONTENT
            if image_id in self._unread:
                try:
                    if hashes & self._files.hashes(self._project.images.resolve(record)):
                        return ImageMatch((image_id,))
                except (OSError, ValueError) as error:
                    reason = Message("it cannot be read: {reason}", {"reason": reason_of(error)})
            match = match if match.namesake else ImageMatch((), record.path, reason)
        return match

    def _ending_as(self, image: str) -> tuple[int, ...]:
        """Images whose path is a suffix of this one, or vice versa; equal case takes precedence."""
        plain = _plain(image)
        parts = PurePosixPath(plain).parts
        if not parts:
            return ()
        loose = _loosely(parts)
        fits = self._fits_elsewhere if _DRIVE.match(plain) else self._fits
        candidates = self._names.get(parts[-1]) or self._stems.get(parts[-1], [])
        found = tuple(image_id for image_id, path in candidates if fits(parts, path))
        return found or tuple(
            each for each, path in self._loosely_named.get(loose[-1], ()) if fits(loose, path)
        )

    @cached_property
    def _loosely_named(self) -> dict[str, list[tuple[int, tuple[str, ...]]]]:
        """As `_names`: other systems write capitals, and letters with accents, otherwise."""
        found: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        for image_id, path in chain.from_iterable(self._names.values()):
            loose = _loosely(path)
            found.setdefault(loose[-1], []).append((image_id, loose))
        return found

    @cached_property
    def _stems(self) -> dict[str, list[tuple[int, tuple[str, ...]]]]:
        """As `_names`, without suffixes: some tables call images so."""
        found: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        for image_id, parts in chain.from_iterable(self._names.values()):
            stem = PurePosixPath(parts[-1]).stem
            found.setdefault(stem, []).append((image_id, (*parts[:-1], stem)))
        return found

    def _fits(self, parts: tuple[str, ...], path: tuple[str, ...]) -> bool:
        return _common(
            parts, path if len(parts) <= len(path) else (*self._folder.parts, *path)
        ) == len(parts)

    def _fits_elsewhere(self, parts: tuple[str, ...], path: tuple[str, ...]) -> bool:
        """Whether an absolute path may be an image's on another computer.

        It must contain all folders of the image below the project's, or below those of all images.
        Equal folders further up mean that the one in between differs.
        """
        common = _common(parts, path)
        shared, same = path[: len(path) - common], path[len(path) - common : -1]
        if len(shared) > len(self._shared) or not set(shared).isdisjoint(
            parts[: len(parts) - common]
        ):
            return False
        distinct = [not _CAMERA_FOLDER.fullmatch(name) for name in same]
        below = distinct[len(self._shared) - len(shared) :] if shared else distinct
        return any(below) or sum(distinct) >= _LEAST_FOLDERS

    @cached_property
    def _shared(self) -> tuple[str, ...]:
        """Common parent folders of all images of the project."""
        folders = {PurePosixPath(path).parent.parts for _, path in self._project.images.each_path()}
        first, last = min(folders, default=()), max(folders, default=())
        return tuple(
            name
            for name, _ in takewhile(
                lambda pair: pair[0] == pair[1], zip(first, last, strict=False)
            )
        )

    @cached_property
    def _contents(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for each in self._files_of_project():
            if each.content_hash is not None:
                found[each.content_hash.hex()] = (
                    *found.get(each.content_hash.hex(), ()),
                    each.image_id,
                )
        return found

    @cached_property
    def _unread(self) -> frozenset[int]:
        return frozenset(
            each.image_id for each in self._files_of_project() if each.content_hash is None
        )

    @cached_property
    def _odd(self) -> dict[str, int]:
        r"""Images with paths of invalid Unicode, by their escaped paths (`m\xf6we.jpg`)."""
        each = self._files_of_project()
        return {text: one.image_id for one in each if (text := shown(one.path)) != one.path}

    @cached_property
    def _names(self) -> dict[str, list[tuple[int, tuple[str, ...]]]]:
        found: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        for each in self._files_of_project():
            parts = PurePosixPath(each.path).parts
            found.setdefault(parts[-1], []).append((each.image_id, parts))
        return found

    def _files_of_project(self) -> Iterator[ImageContent]:
        """The first image of each file."""
        for _, of_file in groupby(self._project.images.each_content(), key=lambda each: each.path):
            yield next(of_file)


def _plain(image: str) -> str:
    r"""Replace "\\" of Windows in a path, and strip the server or bucket of an address."""
    return _ADDRESS.sub("", image.replace("\\", "/").strip(), count=1).removeprefix("./")


def _loosely(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFC", name).casefold() for name in parts)


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    """Length of the common suffix."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


@final
class PermittedImages:
    """Files that may become images: a foreign list could name any file here.

    They must be below the list's folder, folders of the project's images, or further given ones.
    """

    def __init__(self, project: Project, source: Path, further: Sequence[Path] = ()) -> None:
        own = source if source.is_dir() else source.parent
        ours = {path.parent for path in project.images.each_file()}
        self._roots = {os.path.realpath(folder) for folder in (own, *further, *ours)}

    def refusal(self, file: Path) -> str:
        """Why a file must not become an image, or "". Only permitted files are opened."""
        try:
            status = file.stat()
        except (OSError, ValueError):
            return NO_FILE
        if not stat.S_ISREG(status.st_mode):
            return NO_FILE
        real = Path(os.path.realpath(file))
        if not any(str(folder) in self._roots for folder in real.parents):
            return ELSEWHERE
        suffix = file.suffix.casefold()
        is_image = suffix in IMAGE_SUFFIXES and (
            suffix in RAW_SUFFIXES or photo_facts(file).width > 0
        )
        return "" if is_image else Message(NO_IMAGE, {"kinds": kinds_text()})


# intersection over union of equal boxes. Chosen: above the rounding of boxes of 100 pixels
SAME = 0.98


@dataclass(frozen=True)
class NewPart:
    """A part that is not in the project."""

    item: NewItem
    is_of_machine: bool  # detected, so that its score counts

    def is_wanted(self, threshold: float) -> bool:
        """Whether it was drawn by a person, or its score reaches a threshold."""
        score = self.item.detection_score
        return not self.is_of_machine or score is None or score >= threshold


@final
class PartMatcher:
    """Matches parts of files, and collects new ones."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._parts_of_files: dict[
            str, dict[FilePart, ImageId]
        ] = {}  # images of each file, by part
        self._new: defaultdict[str, dict[FilePart, NewPart]] = defaultdict(dict)  # by path
        self.problems: list[str] = []

    @property
    def new(self) -> tuple[NewPart, ...]:
        return tuple(part for of_file in self._new.values() for part in of_file.values())

    def images_of(self, label: ForeignLabel, images: tuple[ImageId, ...]) -> tuple[ImageId, ...]:
        """Images of a label's part, by one image of each file, without new ones."""
        if label.part == WHOLE_FILE:
            return images
        return tuple(found for each in images if (found := self._image_of(label, each)) is not None)

    def _image_of(self, label: ForeignLabel, image_id: ImageId) -> ImageId | None:
        record = self._project.images.record(image_id)
        parts = self._known(record.path)
        if (found := _same(parts, label.part)) is not None:
            return found
        new = self._new[record.path]
        known = new.get(label.part)
        if known is not None and (known.is_of_machine <= label.is_machine):
            return None
        if known is None and len(new) + len(parts) >= MOST_BOXES:
            template = "{image} has more boxes than {most}; the others are left out"
            line = Message(template, {"image": label.image, "most": MOST_BOXES})
            if line not in self.problems:
                self.problems.append(line)
            return None
        file = FoundFile(
            self._project.images.resolve(record), record.size_bytes, record.modified_ns
        )
        item = NewItem(file, label.part.text, label.category, label.score)
        new[label.part] = NewPart(item, label.is_machine)
        return None

    def _known(self, path: str) -> Mapping[FilePart, ImageId]:
        if path not in self._parts_of_files:
            of_file = self._project.images.parts_of(self._project.path.parent / path)
            self._parts_of_files[path] = {
                file_part(part): image_id for image_id, part in of_file.items()
            }
        return self._parts_of_files[path]


def add_parts(project: Project, parts: Sequence[NewPart], threshold: float) -> int:
    """Add wanted boxes, pages and moments as images; return their number."""
    items = [each.item for each in parts if each.is_wanted(threshold)]
    return len(project.images.add(items).images_added) if items else 0


def _same(parts: Mapping[FilePart, ImageId], part: FilePart) -> ImageId | None:
    """The image of this part, or of a box that differs by rounding alone."""
    if (found := parts.get(part)) is not None or part.box is None:
        return found
    boxes = (
        (part.box.overlap(each.box), image_id)
        for each, image_id in parts.items()
        if each.box is not None and each.picture == part.picture
    )
    share, found = max(boxes, default=(0.0, None))
    return found if share >= SAME else None
