"""Which images fit what a person searches for; 100,000 in a few milliseconds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.detail_columns import NO_CAMERA, NO_TIME, TEXTS
from engine.collection.image_columns import ImageColumns
from engine.collection.query_edits import quoted
from engine.collection.search_query import FACTS, HAS, OR, Field, QueryError, Term
from engine.collection.state import (
    BOXED,
    EMPTY,
    NO_CLASS,
    UNKNOWN,
    CollectionState,
    ImageStatus,
    shown_classes,
)
from engine.collection.text_column import WILDCARD, TextColumn
from engine.graph.category_graph import CategoryGraph
from engine.image_fields import COUNT, FieldKind
from engine.search_folding import folded
from engine.texts import Message

Mask = NDArray[np.bool_]
_DIGITS: Final = 6  # of a score: more would be those of its type, float32
MOST_CLASSES: Final = 1_000  # that a part of a name may mean. Chosen.
CLOSE: Final = 0.8  # share of letters that a word has in common with what may be meant. Chosen: one or two slips.


@dataclass(frozen=True)
class Searched:
    """What is searched: aligned columns, and the classes."""

    state: CollectionState
    columns: ImageColumns  # of the same images
    graph: CategoryGraph


def matching(terms: Sequence[Term], searched: Searched) -> Mask:
    """(n,) which images fit all terms; all fit none.

    Raises:
        QueryError: there is no class of a name that a term has.
    """
    fits = np.ones(len(searched.state.image_ids), dtype=bool)
    for alternatives in _groups(terms):
        fits &= np.logical_or.reduce([_fitting_one(term, searched) for term in alternatives])
    return fits


def _groups(terms: Sequence[Term]) -> list[list[Term]]:
    """Terms with OR between them together; of each group one must fit."""
    groups: list[list[Term]] = []
    for term in terms:
        if term.is_alternative:
            groups[-1].append(term)
        else:
            groups.append([term])
    return groups


def _fitting_one(term: Term, searched: Searched) -> Mask:
    found = _READERS[term.field](term, searched)
    return ~found if term.is_negated else found


def why_nothing(text: str, terms: Sequence[Term], searched: Searched) -> Message | None:
    """Why no image fits: a part that fits none by itself, with what may be meant; None where images fit.

    Args:
        text: the query, as typed.

    Raises:
        QueryError: there is no class of a name that a term has.
    """
    if matching(terms, searched).any():
        return None
    for group in _groups(terms):
        if not matching(group, searched).any():
            typed = text[group[0].start : group[-1].end]
            meant = _meant_instead(group[0], searched) if len(group) == 1 else ""
            if meant:
                return Message(
                    "Nothing matches “{term}”. Did you mean {meant}?",
                    {"term": typed, "meant": meant},
                )
            return Message("Nothing matches “{term}”.", {"term": typed})
    return Message("Each part matches images, but no image matches all of them.")


def _meant_instead(term: Term, searched: Searched) -> str:
    """OR, a class or a fact that a word without a field may mean; "" for none."""
    if term.field is not Field.WORDS or term.is_negated:
        return ""
    if term.text.upper() == OR:
        return OR
    if classes_meant(term.text, searched.graph):
        return f"class:{quoted(term.text)}"
    close = get_close_matches(
        term.text.casefold(), (*FACTS, *(f"has:{each}" for each in HAS)), 1, CLOSE
    )
    return close[0] if close else ""


def _words(term: Term, searched: Searched) -> Mask:
    columns = searched.columns
    found = columns.files.name_column.containing(term.text)
    found |= _in_folder(term, searched)
    for column in columns.details.text_columns.values():
        found |= column.containing(term.text)
    return found | _in_comment(term, searched)


def _none(searched: Searched) -> Mask:
    return np.zeros(len(searched.columns.ids), dtype=bool)


def _in_name(term: Term, searched: Searched) -> Mask:
    return searched.columns.files.name_column.containing(term.text)


def _in_folder(term: Term, searched: Searched) -> Mask:
    files = searched.columns.files
    return files.folder_column.containing(term.text)[files.folder_code]


def _in_camera(term: Term, searched: Searched) -> Mask:
    details = searched.columns.details
    return TextColumn(details.cameras).containing(term.text)[details.camera_code]


def _in_keywords(term: Term, searched: Searched) -> Mask:
    keywords = searched.columns.details.text_columns.get("keywords")
    return _none(searched) if keywords is None else keywords.containing(term.text)


def _in_comment(term: Term, searched: Searched) -> Mask:
    notes = searched.columns.notes
    places = np.flatnonzero(notes.has_comment)
    found = _none(searched)
    comments = TextColumn(
        notes.by_image[image_id].comment for image_id in notes.ids[places].tolist()
    )
    found[places] = comments.containing(term.text)
    return found


def _of_class(term: Term, searched: Searched) -> Mask:
    wanted = classes_meant(term.text, searched.graph)
    if not wanted:
        raise QueryError(
            'there is no class "{name}", at character {place}',
            remedy="the part before the colon says that a class is meant",
            name=term.text,
            place=term.start + 1,
        )
    state = searched.state
    shown = shown_classes(state.label_class, state.best_class, state.is_unknown)
    return np.isin(shown, np.fromiter(wanted, dtype=np.int64))


def classes_meant(text: str, graph: CategoryGraph) -> frozenset[int]:
    """Classes of a name or path, or of a part of one, with all below them."""
    if WILDCARD in text:
        ids = sorted(graph.classes())
        fits = TextColumn(
            " / ".join((graph.name(each), *graph.attributes(each).names)) for each in ids
        )
        found = [
            each
            for each, is_meant in zip(ids, fits.containing(text).tolist(), strict=True)
            if is_meant
        ]
        return frozenset(found).union(*map(graph.descendants, found))
    meant = graph.fitting(text)
    if not meant:
        found = graph.search(text, MOST_CLASSES)
        wanted = folded(text)
        meant = [each for each in found if folded(graph.name(each)) == wanted]
        meant = (
            meant
            or [each for each in found if wanted in map(folded, graph.attributes(each).names)]
            or found
        )
    return frozenset(meant).union(*map(graph.descendants, meant))


def _by_source(term: Term, searched: Searched) -> Mask:
    labels, wanted = searched.columns.labels, folded(term.text)
    fits = np.array(
        [bool(source) and folded(source).startswith(wanted) for source in labels.sources]
    )
    return fits[labels.code]


def _within(values: NDArray[Any], term: Term) -> Mask:
    return (values >= term.low) & (values <= term.high)


def _taken(term: Term, searched: Searched) -> Mask:
    taken = searched.columns.details.taken
    return _within(taken, term) & (taken != NO_TIME)


def _size(term: Term, searched: Searched) -> Mask:
    return _within(searched.columns.files.size_bytes, term)


def _stars(term: Term, searched: Searched) -> Mask:
    return _within(searched.columns.notes.stars, term)


def _width(term: Term, searched: Searched) -> Mask:
    return _within(searched.columns.details.width, term) & (searched.columns.details.width > 0)


def _height(term: Term, searched: Searched) -> Mask:
    return _within(searched.columns.details.height, term) & (searched.columns.details.height > 0)


def _score(term: Term, searched: Searched) -> Mask:
    state = searched.state
    score = np.round(state.best_score.astype(np.float64), _DIGITS)
    return _within(score, term) & (state.best_class != NO_CLASS)


def _fact(term: Term, searched: Searched) -> Mask:
    state = searched.state
    is_unlabelled = state.label_class == NO_CLASS
    facts: Mapping[str, Callable[[], Mask]] = {
        "unlabelled": lambda: is_unlabelled,
        "labelled": lambda: state.is_labelled,
        "empty": lambda: state.label_class == EMPTY,
        "unknown": lambda: (is_unlabelled & state.is_unknown) | (state.label_class == UNKNOWN),
        "flagged": lambda: searched.columns.notes.is_flagged,
        "unreadable": lambda: state.status == ImageStatus.FAILED,
        "replaced": lambda: state.is_replaced,
    }
    return facts[term.text]()


def _values_of(search_name: str, searched: Searched) -> tuple[NDArray[np.int64], list[str]]:
    """Places (k,) of the images that have a value of a field, and the values."""
    state = searched.state
    names = {each.name for each in (COUNT, *state.fields) if each.search_name == search_name}
    ids = searched.columns.ids
    found = [
        (image_id, value)
        for image_id, values in state.field_values.items()
        for name, value in values.items()
        if name in names
    ]
    places = np.searchsorted(ids, np.array([image_id for image_id, _ in found], dtype=np.int64))
    return places, [value for _, value in found]


def _count(term: Term, searched: Searched) -> Mask:
    return _number_of(COUNT.search_name, term, searched)


def _number_of(search_name: str, term: Term, searched: Searched) -> Mask:
    places, values = _values_of(search_name, searched)
    found = _none(searched)
    found[places] = _within(np.array(values, dtype=np.float64), term)
    return found


def _value(term: Term, searched: Searched) -> Mask:
    own = next(each for each in searched.state.fields if each.search_name == term.name)
    if own.kind is FieldKind.NUMBER:
        return _number_of(term.name, term, searched)
    places, values = _values_of(term.name, searched)
    found, wanted = _none(searched), folded(term.text)
    if own.kind is FieldKind.TEXT:
        found[places] = TextColumn(values).containing(term.text)
    else:
        found[places] = [folded(value).startswith(wanted) for value in values]
    return found


def _has(term: Term, searched: Searched) -> Mask:
    details, notes = searched.columns.details, searched.columns.notes
    known: Mapping[str, Callable[[], Mask]] = {
        "place": lambda: ~np.isnan(details.latitude),
        "date": lambda: details.taken != NO_TIME,
        "camera": lambda: details.camera_code != NO_CAMERA,
        "comment": lambda: notes.has_comment,
        "stars": lambda: notes.stars > 0,
        "label": lambda: searched.state.is_labelled,
        "box": lambda: searched.state.is_box,
        "boxes": lambda: searched.state.label_class == BOXED,
    }
    if term.text in known:
        return known[term.text]()
    texts = details.text_columns.get(term.text)
    if texts is not None or term.text in TEXTS:
        return _none(searched) if texts is None else texts.is_filled
    found = _none(searched)
    found[_values_of(term.text, searched)[0]] = True
    return found


_READERS: Final[Mapping[Field, Callable[[Term, Searched], Mask]]] = {
    Field.WORDS: _words,
    Field.FACT: _fact,
    Field.NAME: _in_name,
    Field.FOLDER: _in_folder,
    Field.DATE: _taken,
    Field.CAMERA: _in_camera,
    Field.CLASS: _of_class,
    Field.KEYWORD: _in_keywords,
    Field.COMMENT: _in_comment,
    Field.STARS: _stars,
    Field.SIZE: _size,
    Field.WIDTH: _width,
    Field.HEIGHT: _height,
    Field.SCORE: _score,
    Field.SOURCE: _by_source,
    Field.COUNT: _count,
    Field.VALUE: _value,
    Field.HAS: _has,
}
