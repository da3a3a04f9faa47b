"""Image fields of a project, such as count, sex or behaviour: their kinds and allowed values.

Those with a term in Camtrap DP (https://camtrap-dp.tdwg.org) and Darwin Core
(https://dwc.tdwg.org/terms) are in one table; both call them the same.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from engine.errors import InputError
from engine.search_folding import folded
from engine.texts import Message, enumerated, marked


class FieldKind(StrEnum):
    """What the values of a field are; stored by this name."""

    CHOICE = "choice"
    NUMBER = "number"
    YES_NO = "yes_no"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ImageField:
    """A field; its values are stored as text.

    Attributes:
        choices: of a choice, in the order in which they are offered; else ().
        former_names: that it had before it was renamed, the latest last.
        former_choices: what choices were called before, each with its present name.
    """

    name: str
    kind: FieldKind
    choices: tuple[str, ...] = ()
    former_names: tuple[str, ...] = ()
    former_choices: tuple[tuple[str, str], ...] = ()

    @property
    def search_name(self) -> str:
        """What is typed before the colon to search for its values: "lifestage" for "Life stage"."""
        return search_name_of(self.name)

    @property
    def search_names(self) -> tuple[str, ...]:
        """Its search name, then those that it had before, the latest first."""
        return (self.search_name, *map(search_name_of, reversed(self.former_names)))


YES = "yes"
NO = "no"
UNKNOWN = "unknown"
MOST_FIELDS = 30
MOST_CHOICES = 200
LONGEST_FIELD_NAME = 60  # characters
LONGEST_CHOICE = 100
LONGEST_VALUE = 10_000
LARGEST_COUNT = 100_000
LARGEST_NUMBER = 1e12
_DECIMALS = 6

COUNT = ImageField("count", FieldKind.NUMBER)
"""The field that every project has: how many individuals are in the image."""

CAMERA_TRAP = (
    ImageField("sex", FieldKind.CHOICE, ("female", "male", UNKNOWN)),
    ImageField("life stage", FieldKind.CHOICE, ("adult", "subadult", "juvenile", UNKNOWN)),
    ImageField(
        "behaviour",
        FieldKind.CHOICE,
        (
            "moving",
            "foraging",
            "resting",
            "vigilance",
            "grooming",
            "social",
            "marking",
            "inspecting camera",
        ),
    ),
)
PRESETS: Mapping[str, tuple[ImageField, ...]] = {"camera-trap": CAMERA_TRAP}

_TERMS: Mapping[str, str] = {
    "sex": "sex",
    "lifestage": "lifeStage",
    "behaviour": "behavior",
    "behavior": "behavior",
}
"""By search name; count has a place of its own there."""
STANDARD_VALUES: Mapping[str, frozenset[str]] = {
    "lifeStage": frozenset({"adult", "subadult", "juvenile"}),
    "sex": frozenset({"female", "male"}),
}
"""By term, where Camtrap DP takes no other values."""
RESERVED = frozenset(
    {
        *(
            "is",
            "name",
            "folder",
            "path",
            "date",
            "camera",
            "class",
            "keyword",
            "keywords",
            "comment",
            "star",
            "stars",
        ),
        *("size", "width", "height", "score", "source", "has", "count"),
        *("place", "label", "title", "description"),
    }
)
"""Search names that mean something else in a search."""
_WORD = re.compile(r"[^\W\d_]\w*")
_NUMBER = re.compile(r"-?\d{1,13}(?:\.\d{1,6})?")
_WHOLE = re.compile(r"\d{1,6}")
_FLAGS: Mapping[str, str] = {
    **dict.fromkeys((YES, "y", "true", "1"), YES),
    **dict.fromkeys((NO, "n", "false", "0"), NO),
}
_EXPECTED: Mapping[FieldKind, str] = {
    FieldKind.NUMBER: marked("a number such as 12 or 0.5"),
    FieldKind.YES_NO: marked("yes or no"),
    FieldKind.TEXT: marked("at most {limit} characters"),
}


def search_name_of(name: str) -> str:
    """Letters and digits of a name alone, in lower case."""
    return "".join(filter(str.isalnum, name.casefold()))


def standard_term(field_name: str) -> str:
    """The term of Camtrap DP and Darwin Core for a field of this name; "" for none."""
    return _TERMS.get(search_name_of(field_name), "")


def term_of(field: ImageField) -> str:
    """The standard term of a field, which it keeps when it is renamed; "" for none."""
    return next(filter(None, map(standard_term, field.search_names)), "")


def standard_facts(fields: Sequence[ImageField], values: Mapping[str, str]) -> dict[str, str]:
    """Values of an image that the standards have a term for, by term.

    A renamed choice has its former name where the standard takes no other.
    """
    present = [field for field in fields if field.name in values]
    # of two with one term the one that has its name
    present.sort(key=lambda field: bool(standard_term(field.name)))
    return {
        term: _standard_value(field, term, values[field.name])
        for field in present
        if (term := term_of(field))
    }


def _standard_value(field: ImageField, term: str, value: str) -> str:
    allowed = STANDARD_VALUES.get(term, frozenset())
    names = (value, *(was for was, now in reversed(field.former_choices) if now == value))
    return next((name for name in names if name.casefold() in allowed), value)


def checked_value(field: ImageField, value: str) -> str:
    """Normalise a value for storage: stripped, a choice spelled as in the field, "12" for "12.0".

    Raises:
        InputError: it is not a value of the field.
    """
    text = " ".join(value.split()) if field.kind is not FieldKind.TEXT else value.strip()
    stored = _stored_value(field, text)
    if stored is None or not stored or "\0" in stored:
        raise InputError(
            'this is not a value of the field "{name}"',
            expected=expected_of(field),
            found=f'"{text[:LONGEST_CHOICE]}"',
            name=field.name,
        )
    return stored


def expected_of(field: ImageField) -> Message:
    """What values a field takes, in words."""
    if field == COUNT:
        return Message("a whole number from 1 to {limit:,}", {"limit": LARGEST_COUNT})
    if field.kind is FieldKind.CHOICE:
        return Message("one of {choices}", {"choices": enumerated(field.choices)})
    return Message(_EXPECTED[field.kind], {"limit": LONGEST_VALUE})


def _stored_value(field: ImageField, text: str) -> str | None:
    if field == COUNT:
        is_count = _WHOLE.fullmatch(text) and 1 <= int(text) <= LARGEST_COUNT
        return str(int(text)) if is_count else None
    match field.kind:
        case FieldKind.CHOICE:
            return next((each for each in field.choices if folded(each) == folded(text)), None)
        case FieldKind.NUMBER:
            return _stored_number(text)
        case FieldKind.YES_NO:
            return _FLAGS.get(text.casefold())
    return text if len(text) <= LONGEST_VALUE else None


def _stored_number(text: str) -> str | None:
    if (
        not _NUMBER.fullmatch(text)
        or not math.isfinite(float(text))
        or abs(float(text)) > LARGEST_NUMBER
    ):
        return None
    return f"{float(text) + 0:.{_DECIMALS}f}".rstrip("0").rstrip(".")


def checked_fields(fields: Sequence[ImageField]) -> tuple[ImageField, ...]:
    """Fields as a project may have them.

    Raises:
        InputError: there are too many; a name or choice is invalid, or given twice.
    """
    if len(fields) > MOST_FIELDS:
        raise InputError(
            "too many fields", expected="at most {limit}", found=str(len(fields)), limit=MOST_FIELDS
        )
    checked = tuple(map(_checked_field, fields))
    names = [field.search_name for field in checked]
    for place, field in enumerate(checked):
        if field.search_name in names[:place]:
            raise InputError(
                'the field "{name}" occurs twice',
                expected="names that differ in letters or digits",
                name=field.name,
            )
    return checked


def _checked_field(field: ImageField) -> ImageField:
    name = " ".join(field.name.split())
    if (
        not 1 <= len(name) <= LONGEST_FIELD_NAME
        or not _WORD.fullmatch(search_name_of(name))
        or not name.isprintable()
    ):
        raise InputError(
            "this cannot be the name of a field",
            expected="1 to {limit} characters that begin with a letter",
            found=f'"{name[:LONGEST_FIELD_NAME]}"',
            limit=LONGEST_FIELD_NAME,
        )
    if search_name_of(name) in RESERVED:
        raise InputError(
            'a field cannot be called "{name}"',
            expected="a name that has no other meaning in a search",
            name=name,
        )
    choices = _checked_choices(name, field)
    former = tuple(
        pair for pair in field.former_choices if pair[0] not in choices and pair[1] in choices
    )
    return replace(field, name=name, choices=choices, former_choices=former)


def _checked_choices(name: str, field: ImageField) -> tuple[str, ...]:
    choices = tuple(" ".join(each.split()) for each in field.choices)
    if field.kind is not FieldKind.CHOICE:
        if choices:
            raise InputError(
                'the field "{name}" has choices',
                expected="choices only for a field with choices",
                name=name,
            )
        return ()
    are_different = len(set(map(folded, choices))) == len(choices)
    fit = all(each.isprintable() and 1 <= len(each) <= LONGEST_CHOICE for each in choices)
    if not (1 <= len(choices) <= MOST_CHOICES and are_different and fit):
        raise InputError(
            'the choices of the field "{name}" are not clear',
            expected="1 to {most} different ones of 1 to {longest} characters",
            found=", ".join(choices)[:LONGEST_CHOICE],
            name=name,
            most=MOST_CHOICES,
            longest=LONGEST_CHOICE,
        )
    return choices


def as_plain(fields: Sequence[ImageField]) -> list[dict[str, Any]]:
    """Fields as plain values, for a file."""
    return list(map(_plain_field, fields))


def _plain_field(field: ImageField) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "name": field.name,
        "kind": field.kind.value,
        "choices": list(field.choices),
    }
    if field.former_names:
        plain["former_names"] = list(field.former_names)
    if field.former_choices:
        plain["former_choices"] = list(map(list, field.former_choices))
    return plain


def from_plain(values: object) -> tuple[ImageField, ...]:
    """The fields that `as_plain` wrote.

    Raises:
        InputError: the values are not valid settings.
    """
    try:
        return checked_fields(list(map(_field_from, values)))  # type: ignore[call-overload]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(
            "the fields cannot be read", expected="a list of names, kinds and choices"
        ) from error


def _field_from(plain: Mapping[str, Any]) -> ImageField:
    return ImageField(
        str(plain["name"]),
        FieldKind(plain["kind"]),
        tuple(plain["choices"]),
        tuple(map(str, plain.get("former_names", ()))),
        tuple((str(was), str(now)) for was, now in plain.get("former_choices", ())),
    )


def are_fields(values: object) -> bool:
    """Whether plain values are fields."""
    try:
        from_plain(values)
    except InputError:
        return False
    return True


def read_definition(text: str) -> ImageField:
    """Parse a field definition, such as `antlers: yes_no` or `behaviour: moving, resting`.

    Raises:
        InputError: it names none.
    """
    name, colon, described = text.partition(":")
    described = described.strip()
    if not colon or not name.strip() or not described:
        raise InputError(
            "this does not define a field",
            expected='such as "sex: female, male", "distance: number", "antlers: yes_no" '
            'or "remark: text"',
            found=text[:LONGEST_CHOICE],
        )
    kind = next((each for each in FieldKind if each.value == described.replace("/", "_")), None)
    if kind is not None and kind is not FieldKind.CHOICE:
        return checked_fields([ImageField(name, kind)])[0]
    choices = tuple(each for each in described.split(",") if each.strip())
    return checked_fields([ImageField(name, FieldKind.CHOICE, choices)])[0]


def written_definition(field: ImageField) -> str:
    """A field as `read_definition` reads it."""
    described = ", ".join(field.choices) if field.kind is FieldKind.CHOICE else field.kind.value
    return f"{field.name}: {described}"
