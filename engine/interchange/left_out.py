"""What of another program's class list cannot be taken over, and leaves itself out: counted and named, no failure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from engine.texts import marked

NAMED: Final = 5  # of each kind, where they are shown


class LeftOutReason(StrEnum):
    """Why something is left out; its value is a sentence for people."""

    NO_NAME = marked("rows without a name")
    BAD_NAME = marked("names that no class can have")
    NO_PARENT = marked("classes whose parent is not in the list lie at the top")
    NO_ACCEPTED = marked("synonyms of a class that is not in the list")
    REPEATED = marked("rows with the id or place of an earlier one")
    SYNONYM = marked("synonyms that are too long or too many")
    ATTRIBUTE = marked("ids, ranks or notes that a class cannot have")
    DEPRECATED = marked("concepts that were withdrawn or have no name")
    NO_FILE = marked("tables of the archive that are not there")


@dataclass(frozen=True, slots=True)
class LeftOutItem:
    """One of them."""

    reason: LeftOutReason
    name: str  # of a class or synonym, or a place such as "line 3 of birds.csv"


@dataclass(frozen=True)
class LeftOutGroup:
    """All of one reason."""

    reason: LeftOutReason
    count: int
    names: tuple[str, ...]  # the first of them


def grouped(left_out: Iterable[LeftOutItem]) -> Sequence[LeftOutGroup]:
    """By reason, in the order of the reasons."""
    each_one = list(left_out)
    counts = Counter(each.reason for each in each_one)
    return [
        LeftOutGroup(
            reason,
            counts[reason],
            tuple(each.name for each in each_one if each.reason is reason)[:NAMED],
        )
        for reason in LeftOutReason
        if reason in counts
    ]


def left_out_plain(groups: Iterable[LeftOutGroup]) -> list[dict[str, Any]]:
    """The same for a JSON file."""
    return [
        {"reason": each.reason.value, "count": each.count, "names": list(each.names)}
        for each in groups
    ]
