"""Keeps what is known of a project's images up to date: notes at once, columns to search and sort by once wanted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from engine.collection.detail_columns import with_details, with_images
from engine.collection.details import as_stored
from engine.collection.hidden_images import HIDDEN_SETTING, hidden_images
from engine.collection.image_columns import (
    ImageColumns,
    NoteColumns,
    SourceColumns,
    read_columns,
    read_files,
    with_notes,
    with_sources,
)
from engine.collection.search import Searched, matching, why_nothing
from engine.collection.search_query import parse_query
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
    """What can be filtered by, each with its number of images, the most frequent first."""

    cameras: Mapping[str, int]
    folders: Mapping[str, int]
    sources: Mapping[str, int]


MOST_CHOICES: Final = 200  # of each. Chosen: a list of more is not read.


@final
class ImageKnowledge:
    """Of one project; used from the thread that the project lives on."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._columns: ImageColumns | None = None
        self._wanted: frozenset[Sorting] = frozenset()
        self.notes: Mapping[int, Note] = {}  # by image id; replaced, never changed
        self.detections: Mapping[int, BoxOrigin] = {}  # by image id; replaced, never changed
        self.hidden: frozenset[int] = frozenset()  # images that are not shown
        self.fields: Sequence[ImageField] = ()  # the project's own
        self.field_values: Mapping[
            int, Mapping[str, str]
        ] = {}  # by image id; replaced, never changed

    def read(self) -> None:
        """Read notes and fields again, and columns when they are wanted the next time."""
        self._columns = None
        self.notes = self._project.notes.by_image()
        self._read_detections()
        self._read_fields()

    def _read_detections(self) -> None:
        self.detections = self._project.images.detections()
        self.hidden = hidden_images(self._project) if self.detections else frozenset()

    def _read_fields(self) -> None:
        """Read the project's fields and their values: those of replaced pictures do not count any more."""
        self.fields, self.field_values = self._project.fields.defined, self._project.fields.values()

    def want(self, sortings: Iterable[Sorting]) -> None:
        """Have states carry these ranks from now on, and no others."""
        self._wanted = frozenset(sortings)

    def follow(self, change: Change) -> None:
        """Take an action, undo or redo into account."""
        if change.noted or change.images_removed or change.images_added:
            self.notes = self._project.notes.by_image()
        has_other_images = bool(change.images_removed or change.images_added)
        if has_other_images or HIDDEN_SETTING in change.settings:
            self._read_detections()
        if has_other_images or change.field_values or FIELDS_SETTING in change.settings:
            self._read_fields()
        if CLOCKS_SETTING in change.settings:
            self._columns = None
        if self._columns is None:
            return
        columns = self._columns
        if change.images_added or change.images_removed or change.images_moved:
            columns = self._with_files(columns, change)
        if change.labelled:
            columns = with_sources(columns, self._project.labels.sources(change.labelled))
        self._columns = (
            with_notes(columns, self.notes) if columns.notes.by_image is not self.notes else columns
        )

    def _with_files(self, columns: ImageColumns, change: Change) -> ImageColumns:
        files = read_files(self._project)
        details = with_images(columns.details, files.ids)
        if change.images_added:  # those that come back may have been read earlier
            details = with_details(
                details, self._project.details.of_many(change.images_added).values()
            )
        code = np.zeros(len(files.ids), dtype=np.int32)
        unlabelled = SourceColumns(columns.labels.sources, code)
        moved = replace(
            columns,
            files=files,
            details=details,
            labels=unlabelled,
            notes=NoteColumns(files.ids, self.notes),
        )
        return with_sources(moved, self._project.labels.sources())

    def store_details(self, files: Iterable[FileDetails], *, has_replaced: bool = False) -> None:
        """Store what files said of themselves, and know it from now on.

        Args:
            has_replaced: whether some hold another picture now, or the one of before again.
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

    def take_details(self, files: Iterable[FileDetails]) -> bool:
        """As `store_details`; whether wanted ranks may be others now."""
        self.store_details(files)
        return Sorting.TAKEN in self._wanted

    def columns(self, ids: NDArray[np.int64]) -> ImageColumns:
        """The columns of images (n,) in ascending id order, as a state lists them."""
        if self._columns is None or not np.array_equal(self._columns.ids, ids):
            self._columns = read_columns(self._project)
        if not np.array_equal(
            self._columns.ids, ids
        ):  # another program changed a project that is only read here
            self._columns = of_images(self._columns, ids)
        return self._columns

    def ranks(self, ids: NDArray[np.int64]) -> Mapping[str, NDArray[np.int32]]:
        """The wanted ranks of images (n,) in ascending id order."""
        if not self._wanted:
            return {}
        columns = self.columns(ids)
        return {sorting.value: columns.ranks(sorting) for sorting in self._wanted}

    def choices(self, ids: NDArray[np.int64]) -> FilterChoices:
        """What images (n,) in ascending id order can be filtered by."""
        columns = self.columns(ids)
        return FilterChoices(
            _counts(columns.details.cameras, columns.details.camera_code),
            _counts(columns.files.folders, columns.files.folder_code),
            _counts(columns.labels.sources, columns.labels.code),
        )

    def search(self, text: str, state: CollectionState, graph: CategoryGraph) -> NDArray[np.int64]:
        """Ids (k,) of the images of a state that fit a query, ascending.

        Raises:
            QueryError: it is not understood.
        """
        terms = parse_query(text, state.fields)
        if not terms:
            return state.image_ids
        return state.image_ids[
            matching(terms, Searched(state, self.columns(state.image_ids), graph))
        ]

    def why_nothing(
        self, text: str, state: CollectionState, graph: CategoryGraph
    ) -> Message | None:
        """Why no image fits a query; None where images fit.

        Raises:
            QueryError: it is not understood.
        """
        terms = parse_query(text, state.fields)
        return why_nothing(text, terms, Searched(state, self.columns(state.image_ids), graph))


def _counts(values: Sequence[str], codes: NDArray[np.int32]) -> Mapping[str, int]:
    counts = np.bincount(codes, minlength=len(values)).tolist()
    frequent = sorted(
        ((count, value) for value, count in zip(values, counts, strict=True) if value and count),
        reverse=True,
    )
    return {value: count for count, value in frequent[:MOST_CHOICES]}


def of_images(columns: ImageColumns, ids: NDArray[np.int64]) -> ImageColumns:
    """The columns of these images alone; nothing is known of others."""
    known = {image_id: place for place, image_id in enumerate(columns.ids.tolist())}
    places = [known.get(image_id, -1) for image_id in ids.tolist()]
    files = columns.files
    at, is_known = np.array(places, dtype=np.int64), np.array(places, dtype=np.int64) >= 0

    def moved(column: NDArray[Any]) -> NDArray[Any]:
        return (
            np.where(is_known, column[at], 0).astype(column.dtype)
            if len(column)
            else np.zeros(len(ids), column.dtype)
        )

    return ImageColumns(
        replace(
            files, ids=ids, names=[files.names[place] if place >= 0 else "" for place in places],
            folders=files.folders or ("",), folder_code=moved(files.folder_code), size_bytes=moved(files.size_bytes),
        ),
        with_images(columns.details, ids),
        NoteColumns(ids, columns.notes.by_image),
        SourceColumns(columns.labels.sources, moved(columns.labels.code)),
    )  # fmt: skip
