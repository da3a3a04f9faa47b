"""Finds classes by text: the one that is meant by name, path, source id or synonym, and all that fit while typing."""

import difflib
import heapq
import re
import unicodedata
from collections.abc import Iterable
from itertools import chain
from typing import Final

from engine.errors import AmbiguousClassError, UnknownClassError
from engine.graph.names import join_path, split_path
from engine.graph.structure import TOP, ClassId, GraphStructure
from engine.search_folding import folded as searchable
from engine.texts import Message, either, enumerated, marked

LISTED_PATHS: Final = 5
CLOSE_MATCHES: Final = 3
LENGTH_TOLERANCE: Final = 3
RANK: Final = "rank:"  # before a rank, of which all classes are wanted
_WORD_BREAK: Final = r"[\W_]"

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
            'there is no class "{text}"', remedy=_remedy(structure, split_path(text)), text=text.strip()
        )
    if len(fitting) > 1:
        raise _ambiguous(structure, text, fitting)
    return fitting[0]


def fitting_classes(structure: GraphStructure, text: str) -> list[ClassId]:
    """All classes that a text may mean, oldest first.

    The class at a whole path alone, so that every class can be named by its path; else names and ends of paths; and
    only where no class has that name, source ids and synonyms.
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
    return [each for each in structure.namesakes.of(names[-1]) if _fits_above(structure, each, names[:-1])]


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
    close = _close_names(structure, wanted[-1]) if wanted else []
    if not close:
        return marked("write a class's name, or its path with / between the names")
    return Message("did you mean {names}?", {"names": either(f'"{name}"' for name in close)})


def _close_names(structure: GraphStructure, name: str) -> list[str]:
    """Names alike but for a slip. Only names of about the same length and beginning are compared: 82,000 are many."""
    wanted = searchable(name)
    pool: dict[str, str] = {}
    others = ((ids[0], folded) for folded, ids in structure.attributes.by_folded().items())
    for class_id, folded in chain(structure.folded.items(), others):
        if abs(len(folded) - len(wanted)) <= LENGTH_TOLERANCE and folded[:1] == wanted[:1]:
            spelled = (structure.names[class_id], *structure.attributes.of(class_id).names)
            pool.setdefault(folded, next(each for each in spelled if searchable(each) == folded))
    return [pool[folded] for folded in difflib.get_close_matches(wanted, pool, CLOSE_MATCHES, cutoff=0.7)]


def search_classes(structure: GraphStructure, text: str, limit: int) -> list[ClassId]:
    """Find classes by a part of their name, source id or a synonym, or by their rank.

    Args:
        text: what was typed so far; in "bird/gu" each earlier part must be found in an ancestor's name. After "rank:"
            only ranks are compared, from their beginning.
        limit: at most so many classes.

    Returns:
        Best fits first: exact names, exact ids and synonyms, parts of names, parts of ids and synonyms, ranks; among
        equals short names first, then alphabetically.
    """
    parts = [searchable(part) for part in split_path(text)]
    if not parts or limit <= 0:
        return []
    wanted = parts[-1]
    if wanted.startswith(RANK):
        beginning = wanted.removeprefix(RANK).strip()
        ranks = [rank for rank in structure.attributes.by_rank() if rank.startswith(beginning)]
        return _best(_within(structure, _of_ranks(structure, ranks), parts), "", limit)
    named = _within(structure, [(each, folded) for each, folded in structure.folded.items() if wanted in folded], parts)
    best = _best(named, wanted, limit)
    by_alias = structure.attributes.by_folded()
    also_called = _within(structure, [(each, wanted) for each in by_alias.get(wanted, ())], parts)
    exact = [each for each in best if structure.folded[each] == wanted]
    best = list(dict.fromkeys([*exact, *(each for each, _ in also_called), *best]))[:limit]
    if len(best) < limit:
        taken = set(best)
        pairs = ((each, folded) for folded, ids in by_alias.items() if wanted in folded for each in ids)
        others = _each_once([pair for pair in pairs if pair[0] not in taken], wanted)
        best += _best(_within(structure, others, parts), wanted, limit - len(best))
    if len(best) < limit:
        taken = set(best)
        ranked = [pair for pair in _of_ranks(structure, [wanted]) if pair[0] not in taken]
        best += _best(_within(structure, ranked, parts), "", limit - len(best))
    return best


def _of_ranks(structure: GraphStructure, ranks: Iterable[str]) -> list[_Fit]:
    """Classes of some folded ranks, with their folded names."""
    by_rank = structure.attributes.by_rank()
    return [(class_id, structure.folded[class_id]) for rank in ranks for class_id in by_rank.get(rank, ())]


def _each_once(fitting: list[_Fit], wanted: str) -> list[_Fit]:
    """Each class with the alias that fits best."""
    fitting.sort(key=lambda pair: (not pair[1].startswith(wanted), len(pair[1])), reverse=True)
    return list(dict(fitting).items())


def _best(fitting: list[_Fit], wanted: str, limit: int) -> list[ClassId]:
    starts_word = re.compile(_WORD_BREAK + re.escape(wanted))
    best: list[ClassId] = []
    # Tier by tier, and no further than needed: one letter fits most of 82,000 names.
    for belongs in (lambda folded: folded.startswith(wanted), starts_word.search, lambda _folded: True):
        tier = [pair for pair in fitting if belongs(pair[1])]
        best += [each for each, _ in heapq.nsmallest(limit - len(best), tier, key=_short_first)]
        if len(best) >= limit:
            break
        taken = set(best)
        fitting = [pair for pair in fitting if pair[0] not in taken]
    return best


def _short_first(fit: _Fit) -> tuple[int, str, ClassId]:
    class_id, folded = fit
    return len(folded), folded, class_id


def _within(structure: GraphStructure, fitting: list[_Fit], parts: list[str]) -> list[_Fit]:
    """Those of the classes that lie below what the earlier parts name."""
    for part in parts[:-1]:
        known: dict[ClassId, bool] = {}
        fitting = [pair for pair in fitting if _is_below(structure, pair[0], part, known)]
    return fitting


def _is_below(structure: GraphStructure, class_id: ClassId, part: str, known: dict[ClassId, bool]) -> bool:
    """Whether a class above has this in its name; `known` caches the answers."""
    waiting = [class_id]
    while waiting:
        parents = structure.edges.parents(waiting[-1])
        if any(part in structure.folded[each] for each in parents):
            known[waiting.pop()] = True
        elif unknown := [each for each in parents if each not in known]:
            waiting += unknown
        else:
            known[waiting.pop()] = any(known[each] for each in parents)
    return known[class_id]
