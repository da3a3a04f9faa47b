"""Which class does a person mean? By name, by path or its end, by source id or by synonym."""

import difflib
import unicodedata
from collections.abc import Iterable
from itertools import chain
from typing import Final

from engine.errors import AmbiguousClassError, UnknownClassError
from engine.graph.names import join_path, split_path
from engine.graph.structure import TOP, ClassId, GraphStructure

LISTED_PATHS: Final = 5
CLOSE_MATCHES: Final = 3
LENGTH_TOLERANCE: Final = 3


def path_text(structure: GraphStructure, class_id: ClassId) -> str:
    """Write the first path to a class, such as "Animal/Bird/Gull": up from parent to first parent."""
    names = [structure.names[class_id]]
    while above := structure.parents(class_id):
        class_id = above[0]
        names.append(structure.names[class_id])
    return join_path(reversed(names))


def find_class(structure: GraphStructure, text: str) -> ClassId:
    """Find the one class that a text means.

    Args:
        structure: the graph.
        text: a name, a path, the end of a path, a source id or a synonym.

    Returns:
        The class.

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

    A whole path from a root comes first, so that every class can be named by its path; then names and ends of paths;
    and only where no class has that name, source ids and synonyms.
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
    listed = [f'"{path_text(structure, each)}"' for each in fitting[:LISTED_PATHS]]
    more = [f"and {len(fitting) - LISTED_PATHS} more"] if len(fitting) > LISTED_PATHS else []
    return AmbiguousClassError(
        '"{text}" fits {fitting} classes',
        expected="one",
        found=", ".join(listed + more),
        remedy="write the whole path",
        text=text.strip(),
        fitting=len(fitting),
    )


def _remedy(structure: GraphStructure, names: tuple[str, ...]) -> str:
    close = _close_names(structure, names[-1]) if names else []
    if not close:
        return "write a class's name, or its path with / between the names"
    return "did you mean " + " or ".join(f'"{name}"' for name in close) + "?"


def _close_names(structure: GraphStructure, name: str) -> list[str]:
    """Names alike but for a slip. Only names of about the same length and beginning are compared: 82,000 are many."""
    wanted = name.casefold()
    pool: dict[str, str] = {}
    others = ((ids[0], folded) for folded, ids in structure.attributes.by_folded().items())
    for class_id, folded in chain(structure.folded.items(), others):
        if abs(len(folded) - len(wanted)) <= LENGTH_TOLERANCE and folded[:1] == wanted[:1]:
            spelled = (structure.names[class_id], *structure.attributes.of(class_id).names)
            pool.setdefault(folded, next(each for each in spelled if each.casefold() == folded))
    return [pool[folded] for folded in difflib.get_close_matches(wanted, pool, CLOSE_MATCHES, cutoff=0.7)]
