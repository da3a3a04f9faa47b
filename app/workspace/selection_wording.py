"""What the bar of many selected images says, in the person's language."""

from app.texts import plural, tr
from app.wording import number


def selected_text(count: int) -> str:
    return tr("%1 selected", number(count))


def accept_text(count: int) -> str:
    """`Accept 170`: what stands behind the button's threshold."""
    return tr("Accept %1", number(count))


def unknown_text(count: int) -> str:
    """`Include 12 unknown`: images above the threshold that perhaps show none of the classes."""
    return tr("Include %1 unknown", number(count))


def errors_text(expected: float) -> str:
    """`about 5 errors`; a promise of none at all would not be honest."""
    count = round(expected)
    if expected < 1:
        return tr("fewer than 1 error")
    return plural(count, "about 1 error", "about %n errors")
