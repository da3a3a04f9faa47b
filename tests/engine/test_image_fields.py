"""Fields of images: valid values, and invalid definitions."""

from dataclasses import replace

import pytest

from engine.errors import InputError
from engine.field_renaming import Renaming, renamed_fields
from engine.image_fields import (
    CAMERA_TRAP,
    COUNT,
    FieldKind,
    ImageField,
    are_fields,
    as_plain,
    checked_fields,
    checked_value,
    from_plain,
    read_definition,
    standard_facts,
    standard_term,
    term_of,
    written_definition,
)

SEX, STAGE, _BEHAVIOUR = CAMERA_TRAP
DISTANCE = ImageField("distance", FieldKind.NUMBER)
ANTLERS = ImageField("antlers", FieldKind.YES_NO)
REMARK = ImageField("remark", FieldKind.TEXT)


@pytest.mark.parametrize(
    ("field", "typed", "stored"),
    [
        (COUNT, " 012 ", "12"),
        (COUNT, "100000", "100000"),
        (SEX, "FEMALE", "female"),
        (STAGE, "Subadult ", "subadult"),
        (DISTANCE, "-0.50", "-0.5"),
        (DISTANCE, "12.0", "12"),
        (DISTANCE, "-0", "0"),
        (ANTLERS, "Y", "yes"),
        (ANTLERS, "False", "no"),
        (REMARK, " two\nlines ", "two\nlines"),
    ],
)
def test_values_are_stored_in_one_form(field: ImageField, typed: str, stored: str) -> None:
    assert checked_value(field, typed) == stored
    assert checked_value(field, stored) == stored


@pytest.mark.parametrize(
    ("field", "typed", "expected"),
    [
        (COUNT, "0", "from 1 to 100,000"),
        (COUNT, "100001", "whole number"),
        (COUNT, "2.5", "whole"),
        (COUNT, "x", ""),
        (SEX, "mal", "one of female, male, unknown"),
        (DISTANCE, "1e99", "a number"),
        (DISTANCE, "nan", "a number"),
        (DISTANCE, "9999999999999", "a number"),
        (ANTLERS, "maybe", "yes or no"),
        (REMARK, "", ""),
        (REMARK, "x" * 10_001, "at most 10000 characters"),
        (REMARK, "a\0b", ""),
    ],
)
def test_other_values_are_refused_with_what_is_expected(
    field: ImageField, typed: str, expected: str
) -> None:
    with pytest.raises(InputError) as caught:
        checked_value(field, typed)
    assert field.name in str(caught.value)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    "fields",
    [
        [ImageField("", FieldKind.TEXT)],
        [ImageField("7", FieldKind.TEXT)],
        [ImageField("x" * 61, FieldKind.TEXT)],
        [ImageField("Count", FieldKind.NUMBER)],
        [ImageField("date", FieldKind.TEXT)],
        [ImageField("a\x07", FieldKind.TEXT)],
        [ImageField("Life stage", FieldKind.TEXT), ImageField("lifeStage", FieldKind.NUMBER)],
        [ImageField("sex", FieldKind.CHOICE)],
        [ImageField("sex", FieldKind.CHOICE, ("male", "Male"))],
        [ImageField("sex", FieldKind.CHOICE, ("", "male"))],
        [ImageField("sex", FieldKind.TEXT, ("male",))],
        [ImageField(f"f{place}", FieldKind.TEXT) for place in range(31)],
        [ImageField("sex", FieldKind.CHOICE, tuple(map(str, range(201))))],
    ],
)
def test_definitions_that_are_not_clear_are_refused(fields: list[ImageField]) -> None:
    with pytest.raises(InputError):
        checked_fields(fields)
    assert not are_fields(as_plain(fields))


@pytest.mark.parametrize(
    "values",
    [None, 7, {"name": "x"}, [1], [{"name": "x"}], [{"name": "x", "kind": "mask", "choices": []}]],
)
def test_plain_values_that_are_no_fields(values: object) -> None:
    assert not are_fields(values)


def test_definitions_come_back() -> None:
    fields = (*CAMERA_TRAP, DISTANCE, ANTLERS, REMARK)
    assert from_plain(as_plain(fields)) == fields
    renamed = renamed_fields(
        fields, [Renaming("sex", "Geschlecht"), Renaming("sex", "weiblich", "female")]
    )
    assert from_plain(as_plain(renamed)) == renamed
    assert tuple(read_definition(written_definition(each)) for each in fields) == fields
    assert read_definition(" Antlers :  yes/no ") == ImageField("Antlers", FieldKind.YES_NO)


@pytest.mark.parametrize("text", ["sex", "sex:", ": male", "count: number", "sex: a, A"])
def test_typed_definitions_that_are_none(text: str) -> None:
    with pytest.raises(InputError):
        read_definition(text)


def test_terms_of_the_standards() -> None:
    terms = [
        standard_term(name) for name in ("Sex", "life stage", "lifeStage", "behaviour", "antlers")
    ]
    assert terms == ["sex", "lifeStage", "lifeStage", "behavior", ""]


def test_a_renamed_field_keeps_its_term() -> None:
    """Also its choices.

    Another field of that name has the term.
    """
    new_names = Renaming("sex", "Geschlecht"), Renaming("sex", "weiblich", "female")
    (gender,) = renamed_fields([SEX], new_names)
    assert term_of(gender) == "sex"
    assert standard_facts([gender], {"Geschlecht": "weiblich", "count": "2"}) == {"sex": "female"}
    assert standard_facts([gender], {"Geschlecht": "unknown"}) == {"sex": "unknown"}
    values = {"Geschlecht": "weiblich", "sex": "male"}
    assert (
        standard_facts([SEX, gender], values)
        == standard_facts([gender, SEX], values)
        == {"sex": "male"}
    )


def test_a_choice_that_got_its_name_back_has_no_former_one() -> None:
    hen = renamed_fields([SEX], [Renaming("sex", "hen", "female")])
    (back,) = checked_fields(renamed_fields(hen, [Renaming("sex", "female", "hen")]))
    assert back == replace(SEX, former_choices=(("hen", "female"),))
