"""What is known of all images, as columns to search and sort by; made when first wanted, then kept up to date.

Columns (n,) are aligned, in ascending image id, and replaced, never changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.collation import in_order
from engine.collection.detail_columns import DetailColumns, no_details, places_of, with_details
from engine.collection.state import Sorting
from engine.collection.text_column import TextColumn
from engine.project import Project
from engine.project.records import Note

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class FileColumns:
    """What the list of images says of the files."""

    ids: Ids  # (n,) int64, ascending
    names: Sequence[str]  # (n,)
    folders: tuple[str, ...]  # distinct ones, as stored, in order
    folder_code: NDArray[np.int32]  # (n,) place in `folders`
    size_bytes: NDArray[np.int64]  # (n,)

    @cached_property
    def name_column(self) -> TextColumn:
        """File names (n,)."""
        return TextColumn(self.names)

    @cached_property
    def folder_column(self) -> TextColumn:
        """Texts of `folders`."""
        return TextColumn(self.folders)

    @cached_property
    def name_rank(self) -> NDArray[np.int32]:
        """(n,) rank by the order of names: IMG_2 before IMG_10. Of equal names the older image comes first."""
        return _ranks(
            np.array(in_order(range(len(self.names)), self.names.__getitem__), dtype=np.int64)
        )

    @cached_property
    def folder_rank(self) -> NDArray[np.int32]:
        """(n,) rank by folder, and by name within one."""
        return _ranks(np.lexsort((self.name_rank, self.folder_code)))

    @cached_property
    def size_rank(self) -> NDArray[np.int32]:
        """(n,) rank by size, the largest first."""
        return _ranks(np.lexsort((self.ids, -self.size_bytes)))


@dataclass(frozen=True)
class NoteColumns:
    """What people noted."""

    ids: Ids  # (n,) int64, ascending
    by_image: Mapping[int, Note]

    @cached_property
    def stars(self) -> NDArray[np.uint8]:
        """(n,) 0 for none."""
        return self._column(
            np.uint8, [(note.image_id, note.stars) for note in self.by_image.values() if note.stars]
        )

    @cached_property
    def is_flagged(self) -> NDArray[np.bool_]:
        """(n,) bool."""
        return self._column(
            np.bool_, [(note.image_id, 1) for note in self.by_image.values() if note.is_flagged]
        )

    @cached_property
    def has_comment(self) -> NDArray[np.bool_]:
        """(n,) bool."""
        return self._column(
            np.bool_, [(note.image_id, 1) for note in self.by_image.values() if note.comment]
        )

    def _column(self, kind: type[Any], values: Sequence[tuple[int, int]]) -> NDArray[Any]:
        column = np.zeros(len(self.ids), dtype=kind)
        given = dict(values)
        places = places_of(self.ids, np.array(list(given), dtype=np.int64))
        column[places] = [given[image_id] for image_id in self.ids[places].tolist()]
        return column


@dataclass(frozen=True)
class SourceColumns:
    """By which ways labels came in."""

    sources: tuple[str, ...]  # distinct ones; the first is ""
    code: NDArray[np.int32]  # (n,) place in `sources`


@dataclass(frozen=True)
class ImageColumns:
    """All that is known; see the parts."""

    files: FileColumns
    details: DetailColumns
    notes: NoteColumns
    labels: SourceColumns

    @property
    def ids(self) -> Ids:
        """(n,) int64, ascending."""
        return self.files.ids

    def ranks(self, by: Sorting) -> NDArray[np.int32]:
        """(n,) int32, rank of each image."""
        if by is Sorting.TAKEN:
            return self.details.taken_rank
        files = self.files
        return (
            files.name_rank
            if by is Sorting.NAME
            else files.folder_rank
            if by is Sorting.FOLDER
            else files.size_rank
        )


def _ranks(order: Ids) -> NDArray[np.int32]:
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def read_columns(project: Project) -> ImageColumns:
    """Read what a project knows of all its images."""
    files = read_files(project)
    details = with_details(no_details(files.ids), project.details.each())
    sources = SourceColumns(("",), np.zeros(len(files.ids), dtype=np.int32))
    columns = ImageColumns(
        files, details, NoteColumns(files.ids, project.notes.by_image()), sources
    )
    return with_sources(columns, project.labels.sources())


def read_files(project: Project) -> FileColumns:
    """Read what a project knows of the files."""
    table = project.images.table()
    parts = [path.rpartition("/") for path in table.paths]
    folders = in_order({folder for folder, _, _ in parts}, str)
    codes = {folder: code for code, folder in enumerate(folders)}
    return FileColumns(
        np.array(table.ids, dtype=np.int64),
        [name for _, _, name in parts],
        tuple(folders),
        np.array([codes[folder] for folder, _, _ in parts], dtype=np.int32),
        np.array(table.sizes_bytes, dtype=np.int64),
    )


def with_sources(columns: ImageColumns, sources: Iterable[tuple[int, str]]) -> ImageColumns:
    """The columns with newer sources of the labels of some images; "" where there is no label."""
    found = dict(sources)
    places = places_of(columns.ids, np.array(list(found), dtype=np.int64))
    if len(places) == 0:
        return columns
    codes = {source: code for code, source in enumerate(columns.labels.sources)}
    code = columns.labels.code.copy()
    code[places] = [
        codes.setdefault(found[image_id], len(codes)) for image_id in columns.ids[places].tolist()
    ]
    return replace(columns, labels=SourceColumns(tuple(codes), code))


def with_notes(columns: ImageColumns, by_image: Mapping[int, Note]) -> ImageColumns:
    """The columns with these notes in place of the others."""
    return replace(columns, notes=NoteColumns(columns.ids, by_image))
