"""Images of a project that match a search, with their metadata."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from engine.collection.live import LiveCollection
from engine.collection.search.query import Field, parse_query
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus
from engine.config import CacheFolders
from engine.project import Project
from engine.project.records import ImageDetails, Note

_OF_PREDICTIONS = frozenset({Field.CLASS, Field.SCORE})
_AT_ONCE = 5_000


@dataclass(frozen=True)
class FoundImage:
    """An image that matches."""

    image_id: int
    path: str  # as stored
    size_bytes: int
    class_id: int | None  # the label, else the most probable class
    score: float | None  # of a prediction
    is_labelled: bool
    is_of_none: bool  # labelled as none of the classes
    details: ImageDetails | None  # image metadata (EXIF); None before the file was read
    note: Note | None
    values: Mapping[str, str] = field(default_factory=dict)  # by name of the field


def images_found(project: Project, caches: CacheFolders, query: str) -> Iterator[FoundImage]:
    """Find images in ascending id order; fit the model only if the query needs predictions.

    Raises:
        QueryError: syntax error, or an unknown class.
    """
    terms = parse_query(query, project.fields.defined)
    live = LiveCollection(project, caches)
    try:
        needs_fit = any(term.field in _OF_PREDICTIONS or term.text == "unknown" for term in terms)
        state = live.load(fits=needs_fit)
        ids = live.metadata.search(query, state, project.classes.graph).tolist()
        yield from _found(project, state, ids)
    finally:
        live.embedded.close()


def _found(project: Project, state: CollectionState, ids: list[int]) -> Iterator[FoundImage]:
    notes, values = project.notes.by_image(), state.field_values
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        details, table = project.details.of_many(some), project.images.table(some)
        for image_id, path, size_bytes in zip(
            table.ids, table.paths, table.sizes_bytes, strict=True
        ):
            place = state.position(image_id)
            label, best = int(state.label_class[place]), int(state.best_class[place])
            is_guess = (
                label == NO_CLASS and best != NO_CLASS and state.status[place] == ImageStatus.READY
            )
            class_id = label if label >= 0 else best if is_guess else None
            yield FoundImage(
                image_id,
                path,
                size_bytes,
                class_id,
                float(state.best_score[place]) if is_guess else None,
                label != NO_CLASS,
                label != NO_CLASS and label < 0,
                details.get(image_id),
                notes.get(image_id),
                values.get(image_id, {}),
            )
