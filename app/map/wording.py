"""Texts of the map."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from app.map.colouring import ColourBy
from app.texts import day_text, marked, plural, tr
from app.wording import images, number, percent

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.map.colouring import LegendEntry

_KINDS = {
    "labelled": marked("Labelled"),
    "predicted": marked("Predicted"),
    "unknown": marked("Unknown", about="images"),
    "labelled_or_none": marked("Labelled, or without a score"),
    "undated": marked("Without a date"),
}
_WITHOUT = marked("Without a class")
_EPOCH = date(1970, 1, 1)  # day 0


def colour_by_texts() -> dict[ColourBy, str]:
    """Texts of the "Colour by" box."""
    return {
        ColourBy.CLASS: tr("Class"),
        ColourBy.LABEL: tr("Labels only"),
        ColourBy.STATUS: tr("Labelled or predicted"),
        ColourBy.SCORE: tr("Score"),
        ColourBy.DATE: tr("Date"),
    }


def level_text(level: int | None) -> str:
    if level is None:
        return tr("Finest classes")
    return tr("Top level") if level == 0 else tr("Level {1}", number(level + 1))


def entry_text(entry: LegendEntry, name_of: Callable[[int], str]) -> str:
    """Text of a legend entry."""
    if entry.class_id is not None:
        return name_of(entry.class_id)
    low, high = entry.range or (0.0, 0.0)
    if entry.kind == "other":
        return plural(round(low), "1 other class", "{n} other classes")
    if entry.kind == "score":
        return tr("{1} to {2}", percent(low), percent(high))
    if entry.kind == "date":
        return _days(low) if high - low <= 1 else tr("{1} to {2}", _days(low), _days(high))
    return tr(_KINDS.get(entry.kind, _WITHOUT))


def _days(days: float) -> str:
    return day_text(_EPOCH + timedelta(days=int(days)))


def placed_line(count: int) -> str:
    return plural(
        count,
        "1 new image was added to the map. Update the map to rearrange all images.",
        "{n} new images were added to the map. Update the map to rearrange all images.",
    )


def set_title(count: int) -> str:
    """Title of a grid with the selected images."""
    return tr("Selected on the map: {1}", images(count))
