"""Branches of the category graph as text, for the clipboard: from one project into another, or into the same again.

The text is JSON that names itself. Labels and images stay where they are.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.errors import InputError
from engine.graph.aliases import Aliases, clean_aliases
from engine.graph.category_graph import CategoryGraph
from engine.graph.group_edits import check_some
from engine.graph.names import clean_name
from engine.graph.traversal import reachable
from engine.project.detail_rows import clean_details
from engine.project.records import ClassDetails, ClassId, ClassPolicy

MARKER: Final = "protoleaf"
"""Key by which a copied text is known as ours; its value says what is in it."""

LONGEST_TEXT: Final = 100_000_000
"""Characters of a copied text: WordNet's 82,115 classes with their notes are some twenty million."""

_KIND: Final = "classes"
_BEGINNING: Final = re.compile(rf'\s*{{\s*"{MARKER}"\s*:\s*"{_KIND}"')
_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class CopiedClass:
    """A class as it was copied.

    Attributes:
        parents: places, in the list of copied classes, of its parents; all come before it; none for a chosen one.
    """

    name: str
    parents: tuple[int, ...]
    aliases: Aliases
    details: ClassDetails
    policy: ClassPolicy


def copied_branches(
    graph: CategoryGraph,
    class_ids: Sequence[ClassId],
    details: Mapping[ClassId, ClassDetails],
    policies: Mapping[ClassId, ClassPolicy],
) -> str:
    """Copy classes with all that is below them: names, edges, aliases, notes, colours and bars.

    Args:
        graph: where they are.
        class_ids: the chosen classes; one that lies below another of them is copied there alone.
        details, policies: of the classes that have any.

    Returns:
        The text that `read_branches` reads.

    Raises:
        GraphError: there are none.
        UnknownClassError: there is no such class.
    """
    check_some(class_ids)
    copied = _with_all_below(graph, class_ids)
    ordered = sorted(copied, key=lambda each: (graph.level(each), each))
    place = {class_id: index for index, class_id in enumerate(ordered)}
    rows = [
        _row(
            CopiedClass(
                graph.name(class_id),
                tuple(place[parent] for parent in graph.parents(class_id) if parent in copied),
                graph.aliases(class_id),
                details.get(class_id, ClassDetails()),
                policies.get(class_id, ClassPolicy()),
            )
        )
        for class_id in ordered
    ]
    return json.dumps({MARKER: _KIND, "classes": rows}, ensure_ascii=False, indent=1)


def is_copied_text(text: str) -> bool:
    """Whether a text looks like copied classes, as quickly as a menu must know."""
    return _BEGINNING.match(text) is not None


def read_branches(text: str) -> tuple[CopiedClass, ...]:
    """Read copied classes back, parents before children.

    Args:
        text: as `copied_branches` made it; may come from anywhere.

    Raises:
        InputError: it is something else, broken, or asks for what no graph can be.
    """
    if len(text) > LONGEST_TEXT:
        raise InputError(
            "that is too much to paste", expected=f"at most {LONGEST_TEXT:,} characters", found=f"{len(text):,}"
        )
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _foreign(text) from error
    if not (isinstance(content, dict) and content.get(MARKER) == _KIND and isinstance(content.get("classes"), list)):
        raise _foreign(text)
    if not content["classes"]:
        raise InputError("there is no class to paste", remedy="copy at least one")
    return tuple(_copied(row, place) for place, row in enumerate(content["classes"]))


def _with_all_below(graph: CategoryGraph, class_ids: Iterable[ClassId]) -> set[ClassId]:
    return reachable(graph.children, *class_ids).union(class_ids)


def _row(copied: CopiedClass) -> Mapping[str, Any]:
    """A class as JSON; what is not said is left out."""
    row = {
        "name": copied.name,
        "parents": copied.parents,
        "source_id": copied.aliases.source_id,
        "synonyms": copied.aliases.synonyms,
        "note": copied.details.note,
        "colour": copied.details.colour,
        "is_deepest": copied.policy.is_deepest,
    }
    row_of_class = {key: value for key, value in row.items() if value}
    return row_of_class if copied.policy.bar is None else {**row_of_class, "bar": copied.policy.bar}


def _copied(row: Any, place: int) -> CopiedClass:
    if not isinstance(row, dict):
        raise _broken(place, "no name")
    name = clean_name(_text(row, "name", place))
    parents, synonyms = _list(row, "parents", int, place), _list(row, "synonyms", str, place)
    if not all(0 <= parent < place for parent in parents):
        raise _broken(place, "a parent that does not stand before it")
    bar, is_deepest = row.get("bar"), row.get("is_deepest", False)
    if not (bar is None or (type(bar) in (int, float) and 0 <= bar <= 1)) or type(is_deepest) is not bool:
        raise _broken(place, "a bar that is no probability")
    return CopiedClass(
        name,
        tuple(dict.fromkeys(parents)),
        clean_aliases(Aliases(_text(row, "source_id", place), tuple(synonyms)), name),
        clean_details(ClassDetails(_text(row, "note", place), _text(row, "colour", place))),
        ClassPolicy(bar, is_deepest),
    )


def _text(row: Mapping[str, Any], key: str, place: int) -> str:
    value = row.get(key, "")
    if not isinstance(value, str):
        raise _broken(place, f'"{key}" that is no text')
    return value


def _list(row: Mapping[str, Any], key: str, kind: type, place: int) -> list[Any]:
    values = row.get(key, [])
    if not (isinstance(values, list) and all(type(value) is kind for value in values)):
        raise _broken(place, f'"{key}" that is no list of these')
    return values


def _broken(place: int, found: str) -> InputError:
    return InputError("the copied classes are broken", found=f"class {place + 1} has {found}", remedy="copy them again")


def _foreign(text: str) -> InputError:
    return InputError(
        "there are no copied classes to paste",
        expected="classes that were copied in this program",
        found=repr(text[:_SHOWN]) if text.strip() else "nothing",
        remedy="copy classes first",
    )
