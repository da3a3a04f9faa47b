"""Find classes by text: the one of a name, path, source id or synonym, and all while typing."""

import difflib
import heapq
import re
import unicodedata
from collections.abc import Collection, Iterable
from enum import IntEnum
from functools import partial
from itertools import chain, islice
from typing import final

from engine.errors import AmbiguousClassError, UnknownClassError
from engine.graph.names import SEPARATOR, join_path, split_path
from engine.graph.structure import TOP, ClassId, GraphStructure
from engine.search_folding import folded as searchable
from engine.texts import Message, either, enumerated, marked

LISTED_PATHS = 5
CLOSE_MATCHES = 3
LENGTH_TOLERANCE = 3
RANK = "rank:"  # before a rank, of which all classes are wanted
_WORD_BREAK = r"[\W_]"

_Fit = tuple[ClassId, str]  # a class and its folded name or alias


def path_text(structure: GraphStructure, class_id: ClassId) -> str:
    """First path to a class, such as "Animal/Bird/Gull"."""
    names = [structure.names[class_id]]
    while above := structure.parents(class_id):
        class_id = above[0]
        names.append(structure.names[class_id])
    return join_path(reversed(names))


def find_class(structure: GraphStructure, text: str) -> ClassId:
    """The one class of a name, a path, the end of a path, a source id or a synonym.

    Raises:
        UnknownClassError: no class fits; close names are offered.
        AmbiguousClassError: several fit; their paths are listed.
    """
    fitting = fitting_classes(structure, text)
    if not fitting:
        raise UnknownClassError(
            'there is no class "{text}"',
            remedy=_remedy(structure, split_path(text)),
            text=text.strip(),
        )
    if len(fitting) > 1:
        raise _ambiguous(structure, text, fitting)
    return fitting[0]


def fitting_classes(structure: GraphStructure, text: str) -> list[ClassId]:
    """All classes that a text may mean, oldest first.

    The class at a whole path alone, so that every class can be named by its path; else names and
    ends of paths; and only where no class has that name, source ids and synonyms.
    """
    names = split_path(text)
    at_path = _class_at(structure, names)
    if at_path is not None:
        return [at_path]
    literal_name = unicodedata.normalize("NFC", text).strip()
    named = {*_ending_in(structure, names), *structure.namesakes.of(literal_name)}
    return sorted(named) if named else structure.attributes.known_as(literal_name)


def _class_at(structure: GraphStructure, names: Iterable[str]) -> ClassId | None:
    current: ClassId | None = TOP
    for name in names:
        found = structure.children_named(current, name)
        if not found:
            return None
        current = found[0]
    return current


def _ending_in(structure: GraphStructure, names: tuple[str, ...]) -> list[ClassId]:
    if not names:
        return []
    return [
        each
        for each in structure.namesakes.of(names[-1])
        if _fits_above(structure, each, names[:-1])
    ]


def _fits_above(structure: GraphStructure, class_id: ClassId, names: tuple[str, ...]) -> bool:
    above = {class_id}
    for name in reversed(names):
        parents = {parent for each in above for parent in structure.parents(each)}
        above = {parent for parent in parents if structure.names[parent] == name}
    return bool(above)


def _ambiguous(structure: GraphStructure, text: str, fitting: list[ClassId]) -> AmbiguousClassError:
    listed: list[str] = [f'"{path_text(structure, each)}"' for each in fitting[:LISTED_PATHS]]
    if len(fitting) > LISTED_PATHS:
        listed.append(Message("and {count:,} more", {"count": len(fitting) - LISTED_PATHS}))
    return AmbiguousClassError(
        '"{text}" fits {fitting} classes',
        expected="one",
        found=enumerated(listed),
        remedy="write the whole path",
        text=text.strip(),
        fitting=len(fitting),
    )


def _remedy(structure: GraphStructure, wanted: tuple[str, ...]) -> str:
    close = nearest_classes(structure, wanted[-1], CLOSE_MATCHES) if wanted else {}
    if not close:
        return marked("write a class's name, or its path with / between the names")
    return Message(
        "did you mean {names}?", {"names": either(f'"{name}"' for name in close.values())}
    )


def nearest_classes(structure: GraphStructure, name: str, limit: int) -> dict[ClassId, str]:
    """Classes with similar names to one that no class has, each with its nearest name.

    Search results come first, then names with a typing error, of about the same length and
    beginning.
    """
    found = search_classes(structure, join_path([name]), limit)
    nearest = {class_id: _name_with(structure, class_id, name) for class_id in found}
    if len(nearest) < limit:
        for class_id, spelled in _with_slips(structure, name).items():
            nearest.setdefault(class_id, spelled)
    return dict(islice(nearest.items(), limit))


def _name_with(structure: GraphStructure, class_id: ClassId, text: str) -> str:
    wanted = searchable(text)
    spelled = (structure.names[class_id], *structure.attributes.of(class_id).names)
    return next((each for each in spelled if wanted in searchable(each)), spelled[0])


def _with_slips(structure: GraphStructure, name: str) -> dict[ClassId, str]:
    """Only names of about the same length and beginning are compared: 82,000 are many."""
    wanted = searchable(name)
    pool: dict[str, ClassId] = {}
    others = ((ids[0], folded) for folded, ids in structure.attributes.by_folded().items())
    for class_id, folded in chain(structure.folded.items(), others):
        if abs(len(folded) - len(wanted)) <= LENGTH_TOLERANCE and folded[:1] == wanted[:1]:
            pool.setdefault(folded, class_id)
    close = difflib.get_close_matches(wanted, pool, CLOSE_MATCHES, cutoff=0.7)
    return {pool[folded]: _name_with(structure, pool[folded], folded) for folded in close}


class NameFit(IntEnum):
    """How well a class matches a typed text: the sort order of every list of classes, best first.

    Within each: classes that are offered first, then those that fit by their name, then by a
    synonym; among these short names, then the alphabet. A source id fits as a whole, or else after
    all names.
    """

    WHOLE = 0  # it is called so
    WORDS = 1  # these are whole words of what it is called: "elephant" of African elephant
    BEGINNING = 2  # it begins so: "elephant" of Elephantidae
    WORD_BEGINNING = 3  # a word of it begins so
    PART = 4  # it has this somewhere
    NONE = 5


SHORTEST_WORD = 2
"""Shortest word that is matched as a whole. Chosen: a single letter is the beginning of one."""


@final
class _Typed:
    """A typed text, compared with folded names."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        literal = re.escape(wanted)
        self._begins_word = re.compile(f"{_WORD_BREAK}{literal}").search
        # Quick, since it begins with letters
        self._ends_word = re.compile(f"{literal}(?:$|{_WORD_BREAK})").search
        self._is_word = re.compile(f"(?:^|{_WORD_BREAK}){literal}(?:$|{_WORD_BREAK})").search

    def fitting(self, pairs: list[_Fit], fit: NameFit) -> list[_Fit]:
        """Filter classes, whose names all contain the text, by a match of this kind or better."""
        wanted, ends_word, is_word, begins_word = (
            self.wanted,
            self._ends_word,
            self._is_word,
            self._begins_word,
        )
        match fit:
            case NameFit.WHOLE:
                return [pair for pair in pairs if pair[1] == wanted]
            case NameFit.WORDS if len(wanted) < SHORTEST_WORD:
                return []
            case NameFit.WORDS:
                return [pair for pair in pairs if ends_word(pair[1]) and is_word(pair[1])]
            case NameFit.BEGINNING:
                return [pair for pair in pairs if pair[1].startswith(wanted)]
            case NameFit.WORD_BEGINNING:
                return [pair for pair in pairs if begins_word(pair[1])]
        return pairs

    def fit_of(self, structure: GraphStructure, class_id: ClassId) -> NameFit:
        """The best fit of what a class is called."""
        attributes = structure.attributes.of(class_id)
        called = [structure.folded[class_id], *map(searchable, attributes.other_names)]
        pairs = [(class_id, each) for each in called if self.wanted in each]
        best = next((fit for fit in NameFit if pairs and self.fitting(pairs, fit)), NameFit.NONE)
        by_id = searchable(attributes.source_id)
        if self.wanted not in by_id:
            return best
        return NameFit.WHOLE if by_id == self.wanted else min(best, NameFit.PART)


def search_classes(
    structure: GraphStructure, text: str, limit: int, first: Collection[ClassId] = ()
) -> list[ClassId]:
    """Find classes by a part of their name, source id or a synonym, or by their rank.

    Args:
        text: what was typed so far; in "bird/gu" each earlier part must be found in an ancestor's
            name, and "bird/" has the children of a bird. After "rank:" only ranks are compared,
            from their beginning.
        limit: at most so many classes.
        first: classes that come before others that fit equally well.

    Returns:
        Best fits first, see `NameFit`; those that have this rank last.
    """
    parts = [searchable(part) for part in split_path(text)]
    if not parts or limit <= 0:
        return []
    found = _found(structure, parts, limit, first)
    path = text.rstrip()
    if not path.endswith(SEPARATOR) or path.endswith(f"\\{SEPARATOR}"):
        return found
    return list(
        islice(dict.fromkeys(child for each in found for child in structure.children(each)), limit)
    )


def _found(
    structure: GraphStructure, parts: list[str], limit: int, first: Collection[ClassId]
) -> list[ClassId]:
    wanted = parts[-1]
    if wanted.startswith(RANK):
        beginning = wanted.removeprefix(RANK).strip()
        ranks = [rank for rank in structure.attributes.by_rank() if rank.startswith(beginning)]
        return _short_ones_first(_within(structure, _of_ranks(structure, ranks), parts), limit)
    best = _best(structure, parts, limit, first)
    if len(best) < limit:
        ranked = [pair for pair in _of_ranks(structure, [wanted]) if pair[0] not in best]
        best |= dict.fromkeys(
            _short_ones_first(_within(structure, ranked, parts), limit - len(best))
        )
    return list(best)


def _best(
    structure: GraphStructure, parts: list[str], limit: int, first: Collection[ClassId]
) -> dict[ClassId, None]:
    """NameFit by fit, and no further than needed: one letter fits most of 82,000 names."""
    typed = _Typed(parts[-1])
    named = _within(
        structure, [pair for pair in structure.folded.items() if typed.wanted in pair[1]], parts
    )
    called = _Called(structure, parts)
    known = _within(
        structure, [(each, "") for each in dict.fromkeys(first) if each in structure.folded], parts
    )
    offered = [(each, typed.fit_of(structure, each)) for each, _ in known]
    best: dict[ClassId, None] = {}
    for fit in NameFit:
        best |= dict.fromkeys(each for each, own in offered if own is fit is not NameFit.NONE)
        for tier in (partial(typed.fitting, named, fit), partial(called.fitting, typed, fit)):
            if len(best) >= limit:
                return dict(islice(best.items(), limit))
            fresh = [pair for pair in tier() if pair[0] not in best]
            best |= dict.fromkeys(_short_ones_first(fresh, limit - len(best)))
    return best


@final
class _Called:
    """Classes whose source ids or synonyms contain a text; searched when first needed."""

    def __init__(self, structure: GraphStructure, parts: list[str]) -> None:
        self._structure = structure
        self._parts = parts
        self._pairs: list[_Fit] | None = None

    def fitting(self, typed: _Typed, fit: NameFit) -> list[_Fit]:
        """As `_Typed.fitting`; each class with the shortest of its names that fit."""
        by_alias, of = self._structure.attributes.by_folded(), self._structure.attributes.of
        if fit is NameFit.WHOLE:
            pairs = [(each, typed.wanted) for each in by_alias.get(typed.wanted, ())]
            return _within(self._structure, pairs, self._parts)
        if fit is NameFit.WORDS and len(typed.wanted) < SHORTEST_WORD:
            return []
        if self._pairs is None:
            listed = [
                (each, folded)
                for folded, ids in by_alias.items()
                if typed.wanted in folded
                for each in ids
            ]
            self._pairs = _within(self._structure, listed, self._parts)
        pairs = typed.fitting(self._pairs, fit)
        if fit is not NameFit.PART:
            pairs = [pair for pair in pairs if searchable(of(pair[0]).source_id) != pair[1]]
        return list(dict(sorted(pairs, key=_short_first, reverse=True)).items())


def _of_ranks(structure: GraphStructure, ranks: Iterable[str]) -> list[_Fit]:
    """Classes of some folded ranks, with their folded names."""
    by_rank = structure.attributes.by_rank()
    return [
        (class_id, structure.folded[class_id])
        for rank in ranks
        for class_id in by_rank.get(rank, ())
    ]


def _short_ones_first(fitting: list[_Fit], limit: int) -> list[ClassId]:
    return [each for each, _ in heapq.nsmallest(limit, fitting, key=_short_first)]


def _short_first(fit: _Fit) -> tuple[int, str, ClassId]:
    class_id, folded = fit
    return len(folded), folded, class_id


def _within(structure: GraphStructure, fitting: list[_Fit], parts: list[str]) -> list[_Fit]:
    """Filter classes by ancestors that match the earlier parts."""
    for part in parts[:-1]:
        known: dict[ClassId, bool] = {}
        fitting = [pair for pair in fitting if _is_below(structure, pair[0], part, known)]
    return fitting


def _is_below(
    structure: GraphStructure, class_id: ClassId, part: str, known: dict[ClassId, bool]
) -> bool:
    """Whether a class above has this in its name; `known` caches the answers."""
    waiting = [class_id]
    while waiting:
        parents = structure.edges.parents(waiting[-1])
        if any(
            part in structure.folded[each] or part in searchable(structure.shown_name(each))
            for each in parents
        ):
            known[waiting.pop()] = True
        elif unknown := [each for each in parents if each not in known]:
            waiting += unknown
        else:
            known[waiting.pop()] = any(known[each] for each in parents)
    return known[class_id]
