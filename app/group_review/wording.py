"""Texts of group review."""

from app.texts import plural, tr
from app.wording import clauses, number


def heading(count: int, class_name: str, *, is_branch: bool = False) -> str:
    """`37 images: Peacock`, or `24 look-alikes: which class?`."""
    if class_name:
        return plural(count, "1 image: {1}", "{n} images: {1}", class_name)
    if is_branch:
        return plural(count, "1 image: which finer class?", "{n} images: which finer class?")
    return plural(count, "1 image: which class?", "{n} look-alikes: which class?")


def errors_text(expected: float) -> str:
    """`2 errors expected`, never zero."""
    if expected < 0.5:  # noqa: PLR2004 (rounds to zero)
        return tr("fewer than 1 error expected")
    return plural(round(expected), "1 error expected", "{n} errors expected")


def place_text(position: int, count: int) -> str:
    return tr("Group {1} of {2}", number(position), number(count))


def done_text(decisions: int, labels: int) -> str:
    """`12 answers, 310 labels`."""
    first = plural(decisions, "1 answer", "{n} answers")
    return clauses(first, plural(labels, "1 label", "{n} labels"))


def left_out_text(count: int) -> str:
    return plural(count, "1 left out", "{n} left out")
