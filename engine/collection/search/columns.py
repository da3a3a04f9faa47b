"""Columns of image metadata to search and sort by.

Columns (n,) are aligned, in ascending image id. They are replaced, never changed in place.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Flags, Floats, Integers, Ranks
from engine.collation import in_order
from engine.collection.state import Sorting
from engine.images.found_details import SEPARATOR
from engine.project import Project
from engine.project.records import ImageDetails, Note
from engine.search_folding import folded

_SEPARATOR = "\n"  # between texts; no text that is searched for contains one
WILDCARD = "*"  # in a text that is searched for: any letters of a word
_WORD_BYTE = rb"[\w\x80-\xff]"  # every byte of a letter beyond ASCII in UTF-8 is one
_ANY_LETTERS = rb"[^\s]*"


def _encoded(text: str) -> bytes:
    return folded(text).replace(_SEPARATOR, "\r").encode("utf-8", "surrogatepass")


@final
class TextColumn:
    """Folded texts (n,), searched as one block of bytes: 100,000 texts in a few milliseconds."""

    def __init__(self, texts: Iterable[str]) -> None:
        block = b"".join(_encoded(text) + b"\n" for text in texts)
        self._bytes = np.frombuffer(block, dtype=np.uint8)
        self._ends = np.flatnonzero(self._bytes == ord(_SEPARATOR))

    def __len__(self) -> int:
        return len(self._ends)

    def containing(self, text: str) -> Flags:
        """(n,) whether each text contains this one.

        A text with `*` must begin and end at word boundaries: `fox*` is not found in `arctifoxes`.
        """
        if text and WILDCARD not in text:
            places = self._find(np.frombuffer(_encoded(text), dtype=np.uint8))
        elif text:
            parts = _ANY_LETTERS.join(re.escape(_encoded(part)) for part in text.split(WILDCARD))
            pattern = rb"(?<!" + _WORD_BYTE + rb")" + parts + rb"(?!" + _WORD_BYTE + rb")"
            hits = re.finditer(pattern, self._bytes.tobytes())
            places = np.array([hit.start() for hit in hits if hit.group()], dtype=np.int64)
        else:
            return np.ones(len(self._ends), dtype=bool)
        found = np.zeros(len(self._ends), dtype=bool)
        found[np.searchsorted(self._ends, places)] = True
        return found

    def _find(self, wanted: NDArray[np.uint8]) -> Integers:
        """Positions of a byte string in the block."""
        starts = self._bytes[: max(0, len(self._bytes) - len(wanted) + 1)]
        places = np.flatnonzero(starts == wanted[0])
        for offset in range(1, len(wanted)):
            places = places[self._bytes[places + offset] == wanted[offset]]
        return places

    @property
    def is_filled(self) -> Flags:
        """(n,) whether each text is not empty."""
        return np.diff(self._ends, prepend=-1) > 1


@dataclass(frozen=True)
class FileColumns:
    """Names, folders and sizes of the files."""

    ids: Integers  # (n,) int64, ascending
    names: NDArray[np.object_]  # (n,) str
    folders: tuple[str, ...]  # distinct, as stored, sorted
    folder_code: NDArray[np.int32]  # (n,) index into `folders`
    size_bytes: Integers  # (n,)

    @cached_property
    def name_column(self) -> TextColumn:
        return TextColumn(self.names)

    @cached_property
    def folder_column(self) -> TextColumn:
        """Texts of `folders`."""
        return TextColumn(self.folders)

    @cached_property
    def name_rank(self) -> Ranks:
        """(n,) rank by name: IMG_2 before IMG_10; ties by image id."""
        return _ranks(np.array(in_order(range(len(self.names)), self.names.item), dtype=np.int64))

    @cached_property
    def folder_rank(self) -> Ranks:
        """(n,) rank by folder, then by name."""
        return _ranks(np.lexsort((self.name_rank, self.folder_code)))

    @cached_property
    def size_rank(self) -> Ranks:
        """(n,) rank by size, the largest first."""
        return _ranks(np.lexsort((self.ids, -self.size_bytes)))


NO_TIME = np.iinfo(np.int64).min  # of an image without a date
NO_CAMERA = 0
TEXTS = ("title", "description", "keywords")
_UNKNOWN: Mapping[str, np.number[Any]] = {
    "taken": np.int64(NO_TIME),
    "camera_code": np.int32(NO_CAMERA),
    "latitude": np.float32("nan"),
    "longitude": np.float32("nan"),
    "width": np.int32(0),
    "height": np.int32(0),
}
"""Columns of `DetailColumns` with the value of an image without metadata."""


@dataclass(frozen=True)
class DetailColumns:
    """Image metadata (EXIF, IPTC, XMP)."""

    ids: Integers  # (n,) int64, ascending
    taken: Integers  # (n,) seconds of wall time since 1970, or `NO_TIME`
    cameras: tuple[str, ...]  # distinct; the first is ""
    camera_code: NDArray[np.int32]  # (n,) index into `cameras`
    latitude: Floats  # (n,) degrees, or NaN
    longitude: Floats  # (n,) degrees, or NaN
    width: NDArray[np.int32]  # (n,) pixels as shown, or 0
    height: NDArray[np.int32]  # (n,)
    texts: Mapping[str, Mapping[int, str]]  # of each of `TEXTS`, by image id, where not empty

    @cached_property
    def text_columns(self) -> Mapping[str, TextColumn]:
        """Columns (n,) of those of `TEXTS` that any image has."""
        ids = self.ids.tolist()
        return {
            name: TextColumn(texts.get(each, "") for each in ids)
            for name, texts in self.texts.items()
            if texts
        }

    @cached_property
    def taken_rank(self) -> Ranks:
        """(n,) rank by date, the earliest first; images without a date last."""
        return _ranks(np.lexsort((self.ids, self.taken, self.taken == NO_TIME)))


@dataclass(frozen=True)
class NoteColumns:
    """Stars, flags and comments."""

    ids: Integers  # (n,) int64, ascending
    by_image: Mapping[int, Note]

    @cached_property
    def stars(self) -> NDArray[np.uint8]:
        """(n,) 0 for none."""
        return self._column(np.uint8, lambda note: note.stars)

    @cached_property
    def is_flagged(self) -> Flags:
        return self._column(np.bool_, lambda note: note.is_flagged)

    @cached_property
    def has_comment(self) -> Flags:
        return self._column(np.bool_, lambda note: bool(note.comment))

    def _column(self, kind: type[Any], value_of: Callable[[Note], int]) -> NDArray[Any]:
        column = np.zeros(len(self.ids), dtype=kind)
        places = places_of(self.ids, np.array(list(self.by_image), dtype=np.int64))
        column[places] = [value_of(self.by_image[each]) for each in self.ids[places].tolist()]
        return column


@dataclass(frozen=True)
class SourceColumns:
    """Sources of labels, such as an import or a review."""

    ids: Integers  # (n,) int64, ascending
    sources: tuple[str, ...]  # distinct; the first is ""
    code: NDArray[np.int32]  # (n,) index into `sources`


@dataclass(frozen=True)
class ImageColumns:
    """All metadata of the images of a project."""

    files: FileColumns
    details: DetailColumns
    notes: NoteColumns
    labels: SourceColumns

    @property
    def ids(self) -> Integers:
        """(n,) int64, ascending."""
        return self.files.ids

    def ranks(self, by: Sorting) -> Ranks:
        """(n,) int32, rank of each image."""
        match by:
            case Sorting.TAKEN:
                return self.details.taken_rank
            case Sorting.NAME:
                return self.files.name_rank
            case Sorting.FOLDER:
                return self.files.folder_rank
            case Sorting.SIZE:
                return self.files.size_rank


def _ranks(order: Integers) -> Ranks:
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def read_columns(project: Project) -> ImageColumns:
    """Read the metadata of all images of a project."""
    files = read_files(project)
    details = with_details(no_details(files.ids), project.details.each())
    notes = NoteColumns(files.ids, project.notes.by_image())
    return ImageColumns(files, details, notes, read_sources(project, files.ids))


def read_files(project: Project) -> FileColumns:
    """Read names, folders and sizes of all images of a project."""
    table = project.images.table()
    parts = [path.rpartition("/") for path in table.paths]
    folders = in_order({folder for folder, _, _ in parts}, str)
    codes = {folder: code for code, folder in enumerate(folders)}
    return FileColumns(
        np.array(table.ids, dtype=np.int64),
        np.array([name for _, _, name in parts], dtype=np.object_),
        tuple(folders),
        np.array([codes[folder] for folder, _, _ in parts], dtype=np.int32),
        np.array(table.sizes_bytes, dtype=np.int64),
    )


def read_sources(project: Project, ids: Integers) -> SourceColumns:
    """Read the sources of the labels of images (n,)."""
    blank = SourceColumns(ids, ("",), np.zeros(len(ids), dtype=np.int32))
    return with_sources(blank, project.labels.sources())


def with_sources(columns: SourceColumns, changed: Iterable[tuple[int, str]]) -> SourceColumns:
    """Update the sources of the labels of some images; "" where there is no label any more."""
    found = dict(changed)
    places = places_of(columns.ids, np.array(list(found), dtype=np.int64))
    codes = {source: code for code, source in enumerate(columns.sources)}
    values = [codes.setdefault(found[i], len(codes)) for i in columns.ids[places].tolist()]
    return SourceColumns(columns.ids, tuple(codes), _updated(columns.code, places, values))


def no_details(ids: Integers) -> DetailColumns:
    """Columns of images (n,) without metadata."""
    blank: dict[str, Any] = {name: np.full(len(ids), value) for name, value in _UNKNOWN.items()}
    return DetailColumns(ids, cameras=("",), texts={name: {} for name in TEXTS}, **blank)


def with_details(columns: DetailColumns, details: Iterable[ImageDetails]) -> DetailColumns:
    """Update the metadata of some images; removed images are skipped."""
    by_id = {each.image_id: each for each in details}
    places = places_of(columns.ids, np.array(list(by_id), dtype=np.int64))
    found = [by_id[image_id] for image_id in columns.ids[places].tolist()]
    if not found:
        return columns
    codes = {camera: code for code, camera in enumerate(columns.cameras)}
    values: dict[str, list[Any]] = {
        name: [getattr(each, name) for each in found]
        for name in ("latitude", "longitude", "width", "height")
    }
    values["taken"] = [_taken_seconds(each) for each in found]
    values["camera_code"] = [codes.setdefault(each.camera, len(codes)) for each in found]
    updated: dict[str, Any] = {
        name: _updated(getattr(columns, name), places, column) for name, column in values.items()
    }
    texts = {name: _texts(name, columns.texts[name], found) for name in TEXTS}
    return replace(columns, cameras=tuple(codes), texts=texts, **updated)


def _texts(
    name: str, before: Mapping[int, str], found: Sequence[ImageDetails]
) -> Mapping[int, str]:
    if not any(each.fields.get(name) or each.image_id in before for each in found):
        return before
    texts = dict(before)
    for each in found:
        if text := each.fields.get(name, ""):
            texts[each.image_id] = text.replace(SEPARATOR, " ")
        else:
            texts.pop(each.image_id, None)
    return texts


def _updated(column: NDArray[Any], places: Integers, values: Sequence[Any]) -> NDArray[Any]:
    changed = column.copy()
    changed[places] = values
    return changed


def _taken_seconds(details: ImageDetails) -> int:
    """Seconds of wall time since 1970; of a date without a time its first second; or `NO_TIME`."""
    if details.taken_on:
        return int(np.datetime64(details.taken_on, "s").astype(np.int64))
    taken_at: datetime | None = details.taken_at
    return NO_TIME if taken_at is None else round(taken_at.replace(tzinfo=UTC).timestamp())


def details_of_images(columns: DetailColumns, ids: Integers) -> DetailColumns:
    """Reindex metadata to other images (m,); new ones have none."""
    moved: dict[str, Any] = {
        name: reindexed(getattr(columns, name), columns.ids, ids, unknown)
        for name, unknown in _UNKNOWN.items()
    }
    kept = frozenset(ids.tolist())
    texts = {
        name: {each: text for each, text in found.items() if each in kept}
        for name, found in columns.texts.items()
    }
    return DetailColumns(ids=ids, cameras=columns.cameras, texts=texts, **moved)


def columns_of_images(columns: ImageColumns, ids: Integers) -> ImageColumns:
    """Reindex all columns to other images (m,); new ones have no metadata."""
    files = columns.files
    return ImageColumns(
        FileColumns(
            ids,
            reindexed(files.names, files.ids, ids, ""),
            files.folders or ("",),
            reindexed(files.folder_code, files.ids, ids, 0),
            reindexed(files.size_bytes, files.ids, ids, 0),
        ),
        details_of_images(columns.details, ids),
        NoteColumns(ids, columns.notes.by_image),
        replace(columns.labels, ids=ids, code=reindexed(columns.labels.code, files.ids, ids, 0)),
    )


def reindexed(
    column: NDArray[Any], ids: Integers, wanted: Integers, default: object
) -> NDArray[Any]:
    """Values (m,) of the wanted ids in a column (n,) of other ids, both ascending."""
    found: NDArray[Any] = np.full(len(wanted), default, dtype=column.dtype)
    found[places_of(wanted, ids)] = column[places_of(ids, wanted)]
    return found


def places_of(ids: Integers, wanted: Integers) -> Integers:
    """Sorted positions, in ascending ids, of the wanted ids that are there."""
    places = np.searchsorted(ids, wanted)
    is_there = places < len(ids)
    is_there[is_there] = ids[places[is_there]] == wanted[is_there]
    return np.sort(places[is_there]).astype(np.int64)
