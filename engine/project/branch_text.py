"""Branches of the category graph as clipboard text, within a project or between projects.

The text is JSON with a marker. Labels and images are not copied.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import InputError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ATTRIBUTE, ATTRIBUTES, NO_ATTRIBUTES, ClassAttributes
from engine.graph.group_edits import check_some
from engine.graph.names import clean_name
from engine.graph.traversal import reachable
from engine.project.records import ClassId

# key by which a copied text is known as ours; its value names the kind of content
MARKER = "protoleaf"

LONGEST_TEXT = 100_000_000
"""Longest copied text, in characters: WordNet's 82,115 classes with notes have some 20 million."""

_KIND = "classes"
_BEGINNING = re.compile(rf'\s*{{\s*"{MARKER}"\s*:\s*"{_KIND}"')
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class CopiedClass:
    """A class as it was copied."""

    name: str
    # places in the list of copied classes, all before this one; none for a chosen class
    parents: tuple[int, ...]
    attributes: ClassAttributes


def copied_branches(graph: CategoryGraph, class_ids: Sequence[ClassId]) -> str:
    """Copy classes with their descendants, names, edges and attributes, for `read_branches`.

    A chosen class below another chosen one is copied once, there.

    Raises:
        GraphError: there are none.
        UnknownClassError: there is no such class.
    """
    check_some(class_ids)
    copied = reachable(graph.children, *class_ids).union(class_ids)
    ordered = sorted(copied, key=lambda each: (graph.level(each), each))
    place = {class_id: index for index, class_id in enumerate(ordered)}
    rows = [
        _row(
            graph,
            class_id,
            [place[parent] for parent in graph.parents(class_id) if parent in copied],
        )
        for class_id in ordered
    ]
    return json.dumps({MARKER: _KIND, "classes": rows}, ensure_ascii=False, indent=1)


def is_copied_text(text: str) -> bool:
    """Whether a text looks like copied classes, as quickly as a menu must know."""
    return _BEGINNING.match(text) is not None


def read_branches(text: str) -> tuple[CopiedClass, ...]:
    """Read copied classes back, parents before children; the text may come from anywhere.

    Raises:
        InputError: it is another text, damaged, or not a valid graph.
    """
    if len(text) > LONGEST_TEXT:
        raise InputError(
            "the copied text is too long",
            expected="at most {limit:,} characters",
            found=f"{len(text):,}",
            limit=LONGEST_TEXT,
        )
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _foreign(text) from error
    if not (
        isinstance(content, dict)
        and content.get(MARKER) == _KIND
        and isinstance(content.get("classes"), list)
    ):
        raise _foreign(text)
    if not content["classes"]:
        raise InputError("there is no class to paste", remedy="copy at least one")
    return tuple(_copied(row, place) for place, row in enumerate(content["classes"]))


def _row(graph: CategoryGraph, class_id: ClassId, parents: Sequence[int]) -> Mapping[str, Any]:
    """A class as JSON, without empty attributes."""
    above = {"parents": parents} if parents else {}
    return {
        "name": graph.name(class_id),
        **above,
        **NO_ATTRIBUTES.differences(graph.attributes(class_id)),
    }


def _copied(row: Any, place: int) -> CopiedClass:
    if not isinstance(row, dict):
        raise _broken(place, "no name")
    name, parents = row.get("name", ""), row.get("parents", [])
    if not isinstance(name, str):
        raise _broken(place, "a name that is not text")
    if not (
        isinstance(parents, list)
        and all(type(parent) is int and 0 <= parent < place for parent in parents)
    ):
        raise _broken(place, "a parent that is not listed before it")
    given = {each.name: row[each.name] for each in ATTRIBUTES if each.name in row}
    for key, value in given.items():
        if not ATTRIBUTE[key].accepts(value):
            raise _broken(place, f"an invalid value of {ATTRIBUTE[key].title}")
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in given.items()
    }
    cleaned = clean_name(name)
    return CopiedClass(
        cleaned, tuple(dict.fromkeys(parents)), ClassAttributes(**values).cleaned(cleaned)
    )


def _broken(place: int, found: str) -> InputError:
    return InputError(
        "the copied classes are damaged",
        found="class {place} has {value}",
        remedy="copy them again",
        place=place + 1,
        value=found,
    )


def _foreign(text: str) -> InputError:
    return InputError(
        "there are no copied classes to paste",
        expected="classes that were copied in this program",
        found=repr(text[:_SHOWN]) if text.strip() else "nothing",
        remedy="copy classes first",
    )
