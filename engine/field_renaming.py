"""Renaming of image fields and their choices, and matching of renamed fields of two projects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.image_fields import FieldKind, ImageField, search_name_of
from engine.search_folding import folded

FieldPairs = Mapping[str, tuple[ImageField, ImageField]]
"""Pairs of our field and that of another project, by its search name there."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """A new name of a field, or of one of its choices."""

    field: str  # its name until now
    name: str
    choice: str = ""  # its name until now; "" where the field itself is renamed


def renamed_fields(
    fields: Sequence[ImageField], renamings: Sequence[Renaming]
) -> tuple[ImageField, ...]:
    """Fields under their new names; they remember those they had."""
    return tuple(
        _renamed(field, [each for each in renamings if each.field == field.name])
        for field in fields
    )


def _renamed(field: ImageField, renamings: Sequence[Renaming]) -> ImageField:
    name = next((each.name for each in renamings if not each.choice), field.name)
    choices = {each.choice: each.name for each in renamings if each.choice}
    former_names = field.former_names
    if search_name_of(name) != field.search_name:
        former_names = (*former_names, field.name)
    return replace(
        field,
        name=name,
        choices=tuple(choices.get(each, each) for each in field.choices),
        former_names=tuple(
            each for each in former_names if search_name_of(each) != search_name_of(name)
        ),
        former_choices=(
            *((was, choices.get(now, now)) for was, now in field.former_choices),
            *choices.items(),
        ),
    )


def paired_fields(ours: Sequence[ImageField], theirs: Sequence[ImageField]) -> FieldPairs:
    """Match their fields with ours: by name, else by a former name of either."""
    by_name = {each.search_name: each for each in ours}
    pairs = {
        each.search_name: (by_name.pop(each.search_name), each)
        for each in theirs
        if each.search_name in by_name
    }
    for each in theirs:
        known = (
            field
            for field in by_name.values()
            if not set(field.search_names).isdisjoint(each.search_names)
        )
        if each.search_name not in pairs and (own := next(known, None)) is not None:
            pairs[each.search_name] = by_name.pop(own.search_name), each
    return pairs


def choice_of_ours(ours: ImageField, theirs: ImageField, value: str) -> str:
    """Translate a value of their field to ours; other values are unchanged."""
    if ours.kind is not FieldKind.CHOICE:
        return value
    names = {folded(value), *(folded(was) for was, now in theirs.former_choices if now == value)}
    known = ((choice, choice) for choice in ours.choices)
    return next((now for was, now in (*known, *ours.former_choices) if folded(was) in names), value)
