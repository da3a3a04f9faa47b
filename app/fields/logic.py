"""Suggestions of the palette of fields, and clocks that can be corrected. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import InputError
from engine.image_fields import COUNT, NO, YES, FieldKind, ImageField, checked_value, search_name_of
from engine.search_folding import folded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from engine.collection.live import LiveCollection
    from engine.project.clock_corrections import ClockCorrection, ClockCorrections, ClockSource

MOST_OFFERS = 40  # rows of the palette. Chosen: typing more is faster than scrolling.
MOST_TARGETS = 200
"""Maximum number of folders and cameras in the list. Chosen."""


@dataclass(frozen=True)
class FieldOffer:
    """A row of the palette.

    Attributes:
        field: None to define the project's fields.
        value: to set; None to ask for one, "" to remove the current one.
    """

    field: ImageField | None
    value: str | None = None
    digit: int = 0  # shortcut; 0 for none


def offers(
    fields: Sequence[ImageField], text: str, values: Mapping[str, str | None]
) -> list[FieldOffer]:
    """Interpret a text as a count, a field, a value, or a field and its value (`sex fem`)."""
    wanted = text.strip()
    if not wanted:
        return [*map(FieldOffer, (COUNT, *fields)), FieldOffer(None)]
    number = (
        [FieldOffer(COUNT, value)] if (value := _value_or_none(COUNT, wanted)) is not None else []
    )
    named = [
        each
        for each in (COUNT, *fields)
        if search_name_of(each.name).startswith(search_name_of(wanted) or "\0")
    ]
    of_choices = [
        FieldOffer(field, choice)
        for field in fields
        for choice in choices_of(field)
        if folded(choice).startswith(folded(wanted)) and field.kind is FieldKind.CHOICE
    ]
    both = [offer for field in (COUNT, *fields) for offer in _with_value(field, wanted, values)]
    return [*number, *map(FieldOffer, named), *of_choices, *both][:MOST_OFFERS]


def value_offers(field: ImageField, text: str, now: str | None = "") -> list[FieldOffer]:
    """Values of a field that match a text; a digit selects by position.

    Args:
        now: current value; "" for none, None if images have different ones.
    """
    wanted, choices = text.strip(), choices_of(field)
    if not choices:
        value = _value_or_none(field, wanted) if wanted else None
        typed = [] if value is None else [FieldOffer(field, value)]
    else:
        numbered = [
            FieldOffer(field, choice, digit) for digit, choice in enumerate(choices, start=1)
        ]
        begins = [each for each in numbered if folded(str(each.value)).startswith(folded(wanted))]
        within = [
            each
            for each in numbered
            if folded(wanted) in folded(str(each.value)) and each not in begins
        ]
        by_place = [each for each in numbered if str(each.digit) == wanted]
        typed = by_place or [*begins, *within]
    return [*typed[:MOST_OFFERS], *([FieldOffer(field, "")] if now != "" and not wanted else [])]


def choices_of(field: ImageField) -> tuple[str, ...]:
    """Values to choose from; () for free input."""
    return (YES, NO) if field.kind is FieldKind.YES_NO else field.choices


def _with_value(field: ImageField, text: str, values: Mapping[str, str | None]) -> list[FieldOffer]:
    """Suggestions for a text of a field's name or its first letters, a space, and a value."""
    words = text.split()
    for count in range(len(words) - 1, 0, -1):
        begun = search_name_of("".join(words[:count]))
        if begun and field.search_name.startswith(begun):
            return value_offers(field, " ".join(words[count:]), values.get(field.name, ""))
    return []


def _value_or_none(field: ImageField, text: str) -> str | None:
    try:
        return checked_value(field, text)
    except InputError:
        return None


def renamed_choices(before: Sequence[str], now: Sequence[str]) -> dict[str, str]:
    """Renamed choices, old name to new: another name at the same position of the list."""
    from difflib import SequenceMatcher

    changes = SequenceMatcher(None, before, now, autojunk=False).get_opcodes()
    pairs = [
        pair
        for kind, start, end, start_now, end_now in changes
        if kind == "replace" and end - start == end_now - start_now
        for pair in zip(before[start:end], now[start_now:end_now], strict=True)
    ]
    return {was: name for was, name in pairs if was not in now and name not in before}


@dataclass(frozen=True)
class ClockFacts:
    """Clocks of a project.

    Attributes:
        folder, camera, serial: of the current photo; "" if unknown.
        taken_at: its time by the camera's clock; None if unknown.
    """

    sources: Sequence[ClockSource]
    corrections: ClockCorrections
    folder: str = ""
    camera: str = ""
    serial: str = ""
    taken_at: datetime | None = None


def ask_clocks(live: LiveCollection, image_id: int | None) -> ClockFacts:
    """Clock facts for an image; called on the project thread."""
    project = live.project
    facts = ClockFacts(project.details.clock_sources(), project.clocks.corrections())
    table = project.images.table([] if image_id is None else [image_id])
    details = None if image_id is None else project.details.as_read(image_id)
    if not len(table.ids):
        return facts
    folder = table.paths[0].rpartition("/")[0]
    if details is None:
        return ClockFacts(facts.sources, facts.corrections, folder)
    serial = details.fields.get("serial", "")
    return ClockFacts(
        facts.sources, facts.corrections, folder, details.camera, serial, details.taken_at
    )


def targets(facts: ClockFacts) -> list[ClockCorrection]:
    """Corrections, possibly empty, of folders and cameras; those of the photo first."""
    from engine.project.clock_corrections import ClockCorrection

    places = list[tuple[str | None, str, str]]()
    if facts.taken_at is not None:
        places.append((facts.folder, "", ""))
        places += [
            (None, facts.camera, each) for each in dict.fromkeys((facts.serial, "")) if facts.camera
        ]
        above = facts.folder
        while above:
            above = above.rpartition("/")[0]
            places.append((above, "", ""))
    places += [each.source for each in facts.corrections.all]
    places += [(each.folder, "", "") for each in facts.sources]
    places += [(None, each.camera, "") for each in facts.sources if each.camera]
    by_source = {each.source: each for each in facts.corrections.all}
    chosen = list(dict.fromkeys(places))[:MOST_TARGETS]
    return [by_source.get(place, ClockCorrection(*place)) for place in chosen]
