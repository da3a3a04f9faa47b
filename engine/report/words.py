"""Texts of a report: translated templates, numbers, shares and classes."""

import math
from collections.abc import Iterable
from typing import Final

from engine.graph.codes import UNKNOWN
from engine.report.branch_tree import BranchTree
from engine.report.document import ClassName
from engine.texts import Message, enumerated, marked, number_text, translated

MOST_COLUMNS: Final = 60  # columns of a chart; more would be threads
DASH: Final = "\u2013"
NOTHING: Final = DASH  # where there is no figure
_NONE_OF_THE_CLASSES: Final = marked("None of the classes")
_REMOVED: Final = marked("(removed)")
_SETTINGS: Final = {
    "ppn+": "PPN+", "ppn": "PPN", "prototypes": marked("prototypes"), "regression": marked("logistic regression"),
}  # fmt: skip


def phrase(template: str, **fields: object) -> str:
    """A template with its values, in the person's language."""
    return Message(template, fields).translated()


def message_text(message: str) -> str:
    """A message of the engine, in the person's language."""
    return translated(message)


def summary_of(values: Iterable[tuple[str, str]]) -> str:
    """`Labelled: 12, Unknown: 3`, for who cannot see a chart."""
    return translated(
        enumerated(
            Message("{title}: {value}", {"title": title, "value": value}) for title, value in values
        )
    )


def amount(count: float) -> str:
    """`1,234`."""
    return number_text(count, ",.0f")


def share(value: float) -> str:
    """`97.3%`; never `100%` below certainty, never `0%` above zero."""
    if math.isnan(value):
        return NOTHING
    if value in (0.0, 1.0):
        return number_text(value, ".0%")
    return number_text(min(max(value, 0.001), 0.999), ".1%")


def span(interval: tuple[float, float]) -> str:
    """`91.2% to 96.0%`, with a dash."""
    return f"{number_text(100 * interval[0], '.1f')}{DASH}{number_text(interval[1], '.1%')}"


def class_of(tree: BranchTree, class_id: int) -> ClassName:
    """A class of a report, or "none of the classes"."""
    if class_id == UNKNOWN:
        name = translated(_NONE_OF_THE_CLASSES)
        return ClassName(name, name, UNKNOWN)
    name = tree.names.get(class_id) or translated(_REMOVED)
    return ClassName(name, tree.paths.get(class_id, name), class_id)


def level_name(level: int) -> str:
    """`Top level`, `Level 2` ...: of the graph, 0 the coarsest."""
    return phrase("Level {level}", level=level + 1) if level else phrase("Top level")


def setting_name(name: str) -> str:
    """A setting for people; names of model versions stay as they are."""
    return translated(_SETTINGS[name]) if name in _SETTINGS else name
