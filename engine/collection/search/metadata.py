"""Metadata of all images of an open project: notes, fields, and columns to search and sort by."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Integers, Ranks
from engine.collection.details import as_stored
from engine.collection.hidden_images import HIDDEN_SETTING, hidden_images
from engine.collection.search.columns import (
    ImageColumns,
    NoteColumns,
    columns_of_images,
    details_of_images,
    read_columns,
    read_files,
    read_sources,
    with_details,
    with_sources,
)
from engine.collection.search.match import Searched, matching, why_nothing
from engine.collection.search.query import parse_query
from engine.collection.state import CollectionState, Sorting
from engine.graph.category_graph import CategoryGraph
from engine.image_fields import ImageField
from engine.images.details_messages import FileDetails
from engine.project import Change, Project
from engine.project.camera_clocks import CLOCKS_SETTING
from engine.project.field_rows import FIELDS_SETTING
from engine.project.records import BoxOrigin, Note
from engine.texts import Message


@dataclass(frozen=True)
class FilterChoices:
    """Values to filter by with their numbers of images, the most frequent first."""

    cameras: Mapping[str, int]
    folders: Mapping[str, int]
    sources: Mapping[str, int]


MOST_CHOICES = 200  # of each. Chosen: longer lists are not read.


@final
class ImageMetadata:
    """Metadata of the images of a project, kept up to date; columns are read when first needed.

    Use it from the thread of the project. Mappings are replaced, never changed in place.

    Attributes:
        notes: by image id.
        detections: origin of boxes, by image id.
        hidden: ids of images that are not shown.
        fields: the project's own.
        field_values: by image id and name of the field.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._columns: ImageColumns | None = None
        self._sortings: frozenset[Sorting] = frozenset()
        self.notes: Mapping[int, Note] = {}
        self.detections: Mapping[int, BoxOrigin] = {}
        self.hidden: frozenset[int] = frozenset()
        self.fields: Sequence[ImageField] = ()
        self.field_values: Mapping[int, Mapping[str, str]] = {}

    def read(self) -> None:
        """Read notes and fields; drop the columns."""
        self._columns = None
        self.notes = self._project.notes.by_image()
        self._read_detections()
        self._read_fields()

    def _read_detections(self) -> None:
        self.detections = self._project.images.detections()
        self.hidden = hidden_images(self._project) if self.detections else frozenset()

    def _read_fields(self) -> None:
        """Read fields and their values; values of replaced pictures do not count."""
        self.fields, self.field_values = self._project.fields.defined, self._project.fields.values()

    def sort_by(self, sortings: Iterable[Sorting]) -> None:
        """Choose the sortings that `ranks` returns."""
        self._sortings = frozenset(sortings)

    def update(self, change: Change) -> None:
        """Apply an action, undo or redo."""
        has_other_images = bool(change.images_removed or change.images_added)
        if has_other_images or change.noted:
            self.notes = self._project.notes.by_image()
        if has_other_images or HIDDEN_SETTING in change.settings:
            self._read_detections()
        if has_other_images or change.field_values or FIELDS_SETTING in change.settings:
            self._read_fields()
        if CLOCKS_SETTING in change.settings:
            self._columns = None
        if self._columns is None:
            return
        columns = self._columns
        if has_other_images or change.images_moved:
            columns = self._with_files(columns, change)
        if change.labelled:
            sources = self._project.labels.sources(change.labelled)
            columns = replace(columns, labels=with_sources(columns.labels, sources))
        if columns.notes.by_image is not self.notes:
            columns = replace(columns, notes=NoteColumns(columns.ids, self.notes))
        self._columns = columns

    def _with_files(self, columns: ImageColumns, change: Change) -> ImageColumns:
        files = read_files(self._project)
        details = details_of_images(columns.details, files.ids)
        if change.images_added:  # restored images may have been read before
            added = self._project.details.of_many(change.images_added)
            details = with_details(details, added.values())
        notes = NoteColumns(files.ids, self.notes)
        return ImageColumns(files, details, notes, read_sources(self._project, files.ids))

    def store_details(self, files: Iterable[FileDetails], *, has_replaced: bool = False) -> None:
        """Store metadata that was read from files, and update the columns.

        Args:
            files: metadata of each.
            has_replaced: whether some images became another picture, or are restored.
        """
        if has_replaced:
            self._read_fields()
        details = as_stored(files)
        if self._project.is_writable:
            self._project.details.store(details)
        if self._columns is not None:
            corrected = self._project.details.corrected(details)
            self._columns = replace(
                self._columns, details=with_details(self._columns.details, corrected)
            )

    def add_details(self, files: Iterable[FileDetails]) -> bool:
        """Call `store_details`; return whether `ranks` may have changed."""
        self.store_details(files)
        return Sorting.TAKEN in self._sortings

    def columns(self, ids: Integers) -> ImageColumns:
        """Columns of the images (n,) of a state."""
        if self._columns is None or not np.array_equal(self._columns.ids, ids):
            self._columns = read_columns(self._project)
        # Another program may have changed a project that is read-only here.
        if not np.array_equal(self._columns.ids, ids):
            self._columns = columns_of_images(self._columns, ids)
        return self._columns

    def ranks(self, ids: Integers) -> Mapping[str, Ranks]:
        """Ranks of the images (n,) of a state by the sortings in use."""
        if not self._sortings:
            return {}
        columns = self.columns(ids)
        return {sorting.value: columns.ranks(sorting) for sorting in self._sortings}

    def choices(self, ids: Integers) -> FilterChoices:
        """Values that the images (n,) of a state can be filtered by."""
        columns = self.columns(ids)
        return FilterChoices(
            _counts(columns.details.cameras, columns.details.camera_code),
            _counts(columns.files.folders, columns.files.folder_code),
            _counts(columns.labels.sources, columns.labels.code),
        )

    def search(self, text: str, state: CollectionState, graph: CategoryGraph) -> Integers:
        """Ids (k,) of the images of a state that match a query, ascending.

        Raises:
            QueryError: syntax error, or an unknown class.
        """
        terms = parse_query(text, state.fields)
        if not terms:
            return state.image_ids
        searched = Searched(state, self.columns(state.image_ids), graph)
        return state.image_ids[matching(terms, searched)]

    def why_nothing(
        self, text: str, state: CollectionState, graph: CategoryGraph
    ) -> Message | None:
        """Why no image matches a query; None if any does.

        Raises:
            QueryError: syntax error, or an unknown class.
        """
        terms = parse_query(text, state.fields)
        return why_nothing(text, terms, Searched(state, self.columns(state.image_ids), graph))


def _counts(values: Sequence[str], codes: NDArray[np.int32]) -> Mapping[str, int]:
    counts = np.bincount(codes, minlength=len(values)).tolist()
    counted = [pair for pair in zip(counts, values, strict=True) if all(pair)]
    counted.sort(reverse=True)
    return {value: count for count, value in counted[:MOST_CHOICES]}
