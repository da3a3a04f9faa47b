"""Search while typing: by the beginning of a name, of a word in it, by any part of it, by other names and ranks."""

import heapq
import re
from collections.abc import Callable
from typing import Final

from engine.graph.names import split_path
from engine.graph.structure import ClassId, GraphStructure

RANK: Final = "rank:"
"""Before a rank, of which all classes are wanted."""
_WORD_BREAK: Final = r"[\W_]"
_Fit = tuple[ClassId, str]  # a class and its case-folded name or alias


def search_classes(structure: GraphStructure, text: str, limit: int) -> list[ClassId]:
    """Find classes by a part of their name, source id or a synonym, or by their rank.

    Args:
        structure: the graph.
        text: what was typed so far; in "bird/gu" each earlier part must be found in an ancestor's name.
        limit: at most so many classes.

    Returns:
        Best fits first; among equals short names first, then alphabetically. A class whose id or synonym this is comes
        right after those of that name; one that has it as a part of its id or synonyms comes later, one of that rank
        last. After "rank:" only ranks are looked at, from their beginning.
    """
    parts = [part.casefold() for part in split_path(text)]
    if not parts or limit <= 0:
        return []
    wanted = parts[-1]
    if wanted.startswith(RANK):
        beginning = wanted.removeprefix(RANK).strip()
        return _best(_within(structure, _of_rank(structure, lambda rank: rank.startswith(beginning)), parts), "", limit)
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
        ranked = [pair for pair in _of_rank(structure, lambda rank: rank == wanted) if pair[0] not in taken]
        best += _best(_within(structure, ranked, parts), "", limit - len(best))
    return best


def _of_rank(structure: GraphStructure, is_wanted: Callable[[str], bool]) -> list[_Fit]:
    """Classes with the case-folded names that they have; those without a rank are never wanted."""
    return [
        (class_id, structure.folded[class_id])
        for class_id, attributes in structure.attributes.items()
        if attributes.rank and is_wanted(attributes.rank.casefold())
    ]


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
    """Whether a class above has this in its name; `known` keeps what was found out on the way, for the next class."""
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
