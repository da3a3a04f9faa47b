"""Texts about fields and clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.texts import breakable, tr
from app.wording import enumeration, images, moment_text, titled_field
from engine.image_fields import NO, YES, FieldKind, ImageField

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from app.fields.logic import FieldOffer
    from engine.collection.clock_preview import ClockPreview
    from engine.field_renaming import Renaming
    from engine.project.clock_corrections import ClockCorrection


_FIRM_SPACE = "\N{NO-BREAK SPACE}"


def offer_title(offer: FieldOffer) -> str:
    """`Count: 12`, `Sex: female`, `Sex …`, `Remove the value`, `Fields of the project…`."""
    if offer.field is None:
        return tr("Fields of the project…")
    if offer.value is None:
        return tr("{1} …", titled_field(offer.field.name))
    if not offer.value:
        return tr("Remove the value")
    return tr("{1}: {2}", titled_field(offer.field.name), value_text(offer.field, offer.value))


def now_text(value: str | None) -> str:
    """`now female`; None if images have different values."""
    if value is None:
        return tr("now mixed")
    return tr("now {1}", value) if value else ""


def value_text(field: ImageField, value: str) -> str:
    """Localized value of a field."""
    if field.kind is FieldKind.YES_NO:
        return {YES: tr("Yes"), NO: tr("No")}.get(value, value)
    return value


def kind_title(kind: FieldKind) -> str:
    """Name of a kind of field."""
    titles = {
        FieldKind.CHOICE: tr("Choice"),
        FieldKind.NUMBER: tr("Number"),
        FieldKind.YES_NO: tr("Yes or no"),
        FieldKind.TEXT: tr("Text"),
    }
    return titles[kind]


def renamed_text(renamings: Sequence[Renaming]) -> str:
    """`Renamed with their values: sex → gender, female → hen`."""
    names = (tr("{1} → {2}", each.choice or each.field, each.name) for each in renamings)
    return tr(
        "Renamed with their values: {1}",
        breakable(enumeration(each.replace(" ", _FIRM_SPACE) for each in names)),
    )


def target_title(correction: ClockCorrection) -> str:
    """`Folder site3`, `Camera Reconyx HyperFire (H123)`."""
    if correction.folder is None:
        return tr("Camera {1}", correction.source_text)
    return tr("Folder {1}", correction.folder) if correction.folder else tr("All images")


def preview_text(preview: ClockPreview) -> str:
    """`12 images`, and their times before and after the correction."""
    if preview.before is None or preview.after is None:
        return tr("No time changes.")
    lines = (
        images(preview.images),
        tr("Now: {1}", span_text(*preview.before)),
        tr("Then: {1}", span_text(*preview.after)),
    )
    return "\n".join(lines)


def span_text(first: datetime, last: datetime) -> str:
    """`01.05.24 12:00 to 03.05.24 09:00`, by the camera's clock."""
    begin, end = (moment_text(each.replace(tzinfo=None)) for each in (first, last))
    return begin if begin == end else tr("{1} to {2}", begin, end)


def refusal_text(message: str) -> str:
    """An error as a line of the card."""
    return breakable(message[:1].upper() + message[1:])
