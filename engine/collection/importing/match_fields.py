"""Convert counts and other facts of foreign labels to values of the project's fields."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import final

from engine.errors import InputError
from engine.image_fields import (
    CAMERA_TRAP,
    COUNT,
    FieldKind,
    ImageField,
    checked_value,
    standard_term,
)
from engine.interchange.labelled_images.foreign_labels import ForeignLabel
from engine.project.records import FieldValue, ImageId


@final
class FieldMatcher:
    """Collects values from labels; the first one of an image and field counts."""

    def __init__(self, whose: str) -> None:
        self._whose = whose
        self._values: dict[tuple[ImageId, str], FieldValue] = {}

    def take(self, image_id: ImageId, label: ForeignLabel) -> None:
        """Collect the valid values of a label."""
        given = [] if label.count is None else [(COUNT, str(label.count))]
        given += [(_field_of(name, value), value) for name, value in label.fields]
        signed = label.who or self._whose, label.when or datetime.now(UTC)
        for field, text in given:
            try:
                value = checked_value(field, text)
            except InputError:
                continue
            self._values.setdefault(
                (image_id, field.name), FieldValue(image_id, field.name, value, *signed)
            )

    @property
    def values(self) -> tuple[FieldValue, ...]:
        return tuple(self._values.values())


def fields_of(values: Iterable[FieldValue]) -> tuple[ImageField, ...]:
    """Fields of values, except count, with all choices among them."""
    fields: dict[str, ImageField] = {}
    for each in values:
        if each.field == COUNT.name:
            continue
        field = fields.get(each.field) or _field_of(each.field, each.value)
        has_choice = field.kind is not FieldKind.CHOICE or each.value in field.choices
        fields[each.field] = (
            field if has_choice else replace(field, choices=(*field.choices, each.value))
        )
    return tuple(fields.values())


def _field_of(name: str, value: str) -> ImageField:
    """The camera trap field of this name or term, with the value as a choice; else a text field."""
    term = standard_term(name)
    usual = next((each for each in CAMERA_TRAP if term and standard_term(each.name) == term), None)
    if usual is None:
        return ImageField(name, FieldKind.TEXT)
    is_known = value.casefold() in {choice.casefold() for choice in usual.choices}
    return usual if is_known or not value else replace(usual, choices=(*usual.choices, value))
