"""Match images against a parsed query; 100,000 images in a few milliseconds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Flags, Integers
from engine.collection.search.columns import (
    NO_CAMERA,
    NO_TIME,
    TEXTS,
    WILDCARD,
    ImageColumns,
    TextColumn,
)
from engine.collection.search.query import FACTS, HAS, OR, Field, QueryError, Term, quoted
from engine.collection.state import BOXED, EMPTY, NO_CLASS, CollectionState, shown_classes
from engine.graph.category_graph import CategoryGraph
from engine.image_fields import COUNT, FieldKind
from engine.search_folding import folded
from engine.texts import Message

_DIGITS = 6  # of a score: more would be an artefact of float32
MOST_CLASSES = 1_000  # that a part of a name may stand for. Chosen.
CLOSE = 0.8  # similarity of a misspelled word to a suggestion. Chosen: one or two slips


@dataclass(frozen=True)
class Searched:
    """Data to search: a state with the columns of its images, and the classes."""

    state: CollectionState
    columns: ImageColumns
    graph: CategoryGraph

    def nothing(self) -> Flags:
        return np.zeros(len(self.columns.ids), dtype=bool)


def matching(terms: Sequence[Term], searched: Searched) -> Flags:
    """(n,) whether each image matches all terms.

    Raises:
        QueryError: no class has a name that is searched for.
    """
    fits = np.ones(len(searched.state.image_ids), dtype=bool)
    for alternatives in _groups(terms):
        fits &= np.logical_or.reduce([_matching_term(term, searched) for term in alternatives])
    return fits


def _groups(terms: Sequence[Term]) -> list[list[Term]]:
    """Group terms that are joined by OR."""
    groups: list[list[Term]] = []
    for term in terms:
        if term.is_alternative:
            groups[-1].append(term)
        else:
            groups.append([term])
    return groups


def _matching_term(term: Term, searched: Searched) -> Flags:
    if term.field in _TEXTS:
        found = _TEXTS[term.field](term.text, searched)
    elif term.field in _NUMBERS:
        found = _in_bounds(term, *_NUMBERS[term.field](searched))
    elif term.field is Field.CLASS:
        found = _of_class(term, searched)
    elif term.field is Field.COUNT:
        found = _with_number(COUNT.search_name, term, searched)
    else:
        found = _with_value(term, searched)
    return ~found if term.is_negated else found


def why_nothing(text: str, terms: Sequence[Term], searched: Searched) -> Message | None:
    """Why no image matches: a term that matches none, with a suggestion; None if any matches.

    Args:
        text: the query, as typed.
        terms: the query, parsed.
        searched: data to search.

    Raises:
        QueryError: no class has a name that is searched for.
    """
    if matching(terms, searched).any():
        return None
    for group in _groups(terms):
        if matching(group, searched).any():
            continue
        typed = text[group[0].start : group[-1].end]
        meant = _suggestion(group[0], searched) if len(group) == 1 else ""
        if meant:
            return Message(
                "Nothing matches “{term}”. Did you mean {meant}?",
                {"term": typed, "meant": meant},
            )
        return Message("Nothing matches “{term}”.", {"term": typed})
    return Message("Each part matches images, but no image matches all of them.")


def _suggestion(term: Term, searched: Searched) -> str:
    """OR, a class or a fact that a word may stand for; "" for none."""
    if term.field is not Field.WORDS or term.is_negated:
        return ""
    if term.text.upper() == OR:
        return OR
    if classes_named(term.text, searched.graph):
        return f"class:{quoted(term.text)}"
    known = (*FACTS, *(f"has:{each}" for each in HAS))
    return next(iter(get_close_matches(term.text.casefold(), known, 1, CLOSE)), "")


def _in_words(text: str, searched: Searched) -> Flags:
    found = searched.columns.files.name_column.containing(text)
    for column in searched.columns.details.text_columns.values():
        found |= column.containing(text)
    return found | _in_folder(text, searched) | _in_comment(text, searched)


def _in_folder(text: str, searched: Searched) -> Flags:
    files = searched.columns.files
    return files.folder_column.containing(text)[files.folder_code]


def _in_camera(text: str, searched: Searched) -> Flags:
    details = searched.columns.details
    return TextColumn(details.cameras).containing(text)[details.camera_code]


def _in_keywords(text: str, searched: Searched) -> Flags:
    keywords = searched.columns.details.text_columns.get("keywords")
    return searched.nothing() if keywords is None else keywords.containing(text)


def _in_comment(text: str, searched: Searched) -> Flags:
    notes, found = searched.columns.notes, searched.nothing()
    places = np.flatnonzero(notes.has_comment)
    comments = [notes.by_image[image_id].comment for image_id in notes.ids[places].tolist()]
    found[places] = TextColumn(comments).containing(text)
    return found


def _from_source(text: str, searched: Searched) -> Flags:
    labels, wanted = searched.columns.labels, folded(text)
    fits = [bool(source) and folded(source).startswith(wanted) for source in labels.sources]
    return np.array(fits)[labels.code]


def _of_class(term: Term, searched: Searched) -> Flags:
    wanted = classes_named(term.text, searched.graph)
    if not wanted:
        raise QueryError(
            'there is no class "{name}", at character {place}',
            remedy="the part before the colon looks for a class",
            name=term.text,
            place=term.start + 1,
        )
    state = searched.state
    shown = shown_classes(state.label_class, state.best_class, state.is_unknown)
    return np.isin(shown, np.fromiter(wanted, dtype=np.int64))


def classes_named(text: str, graph: CategoryGraph) -> frozenset[int]:
    """Classes with a name or path, or a part of one, and their descendants."""
    if WILDCARD in text:
        ids = np.array(sorted(graph.classes()), dtype=np.int64)
        names = TextColumn(
            " / ".join((graph.name(each), *graph.attributes(each).names)) for each in ids.tolist()
        )
        named = ids[names.containing(text)].tolist()
    else:
        named = graph.fitting(text) or _best_named(text, graph)
    return frozenset(named).union(*map(graph.descendants, named))


def _best_named(text: str, graph: CategoryGraph) -> list[int]:
    """Classes of exactly this name, else of this synonym, else those with a part of it."""
    found, wanted = graph.search(text, MOST_CLASSES), folded(text)
    if same := [each for each in found if folded(graph.name(each)) == wanted]:
        return same
    synonyms = [each for each in found if wanted in map(folded, graph.attributes(each).names)]
    return synonyms or found


def _in_bounds(term: Term, values: NDArray[Any], is_known: Flags | bool = True) -> Flags:
    return (values >= term.low) & (values <= term.high) & is_known


def _scores(searched: Searched) -> tuple[NDArray[Any], Flags]:
    state = searched.state
    scores = np.round(state.best_score.astype(np.float64), _DIGITS)
    return scores, state.best_class != NO_CLASS


def _dates(searched: Searched) -> tuple[NDArray[Any], Flags]:
    taken = searched.columns.details.taken
    return taken, taken != NO_TIME


def _sizes(pixels: NDArray[np.int32]) -> tuple[NDArray[Any], Flags]:
    return pixels, pixels > 0


def _field_values(search_name: str, searched: Searched) -> tuple[Integers, list[str]]:
    """Positions (k,) of the images that have a value of a field, and the values."""
    state = searched.state
    names = {each.name for each in (COUNT, *state.fields) if each.search_name == search_name}
    found = [
        (image_id, value)
        for image_id, values in state.field_values.items()
        for name, value in values.items()
        if name in names
    ]
    ids = np.array([image_id for image_id, _ in found], dtype=np.int64)
    return np.searchsorted(searched.columns.ids, ids), [value for _, value in found]


def _with_number(search_name: str, term: Term, searched: Searched) -> Flags:
    places, values = _field_values(search_name, searched)
    found = searched.nothing()
    found[places] = _in_bounds(term, np.array(values, dtype=np.float64))
    return found


def _with_value(term: Term, searched: Searched) -> Flags:
    own = next(each for each in searched.state.fields if each.search_name == term.name)
    if own.kind is FieldKind.NUMBER:
        return _with_number(term.name, term, searched)
    places, values = _field_values(term.name, searched)
    found, wanted = searched.nothing(), folded(term.text)
    if own.kind is FieldKind.TEXT:
        found[places] = TextColumn(values).containing(term.text)
    else:
        found[places] = [folded(value).startswith(wanted) for value in values]
    return found


def _has(text: str, searched: Searched) -> Flags:
    if text in _HAS:
        return _HAS[text](searched)
    found = searched.nothing()
    if text not in TEXTS:
        found[_field_values(text, searched)[0]] = True
    elif text in searched.columns.details.text_columns:
        found = searched.columns.details.text_columns[text].is_filled
    return found


_HAS: Mapping[str, Callable[[Searched], Flags]] = {
    "place": lambda searched: ~np.isnan(searched.columns.details.latitude),
    "date": lambda searched: searched.columns.details.taken != NO_TIME,
    "camera": lambda searched: searched.columns.details.camera_code != NO_CAMERA,
    "comment": lambda searched: searched.columns.notes.has_comment,
    "stars": lambda searched: searched.columns.notes.stars > 0,
    "label": lambda searched: searched.state.is_labelled,
    "box": lambda searched: searched.state.is_box,
    "boxes": lambda searched: searched.state.label_class == BOXED,
}
_FACTS: Mapping[str, Callable[[Searched], Flags]] = {
    "unlabelled": lambda searched: searched.state.is_unlabelled,
    "labelled": lambda searched: searched.state.is_labelled,
    "empty": lambda searched: searched.state.label_class == EMPTY,
    "unknown": lambda searched: searched.state.is_shown_unknown,
    "flagged": lambda searched: searched.columns.notes.is_flagged,
    "unreadable": lambda searched: searched.state.has_failed,
    "replaced": lambda searched: searched.state.is_replaced,
}
_TEXTS: Mapping[Field, Callable[[str, Searched], Flags]] = {
    Field.WORDS: _in_words,
    Field.FACT: lambda text, searched: _FACTS[text](searched),
    Field.NAME: lambda text, searched: searched.columns.files.name_column.containing(text),
    Field.FOLDER: _in_folder,
    Field.CAMERA: _in_camera,
    Field.KEYWORD: _in_keywords,
    Field.COMMENT: _in_comment,
    Field.SOURCE: _from_source,
    Field.HAS: _has,
}
_NUMBERS: Mapping[Field, Callable[[Searched], tuple[NDArray[Any], Flags | bool]]] = {
    Field.DATE: _dates,
    Field.STARS: lambda searched: (searched.columns.notes.stars, True),
    Field.SIZE: lambda searched: (searched.columns.files.size_bytes, True),
    Field.WIDTH: lambda searched: _sizes(searched.columns.details.width),
    Field.HEIGHT: lambda searched: _sizes(searched.columns.details.height),
    Field.SCORE: _scores,
}
