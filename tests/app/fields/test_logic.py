"""Choices in the palette of fields, and which clocks can be corrected."""

from datetime import datetime

import pytest

from app.fields.logic import ClockFacts, offers, renamed_choices, targets, value_offers
from app.fields.wording import offer_title, preview_text, target_title
from engine.collection.clock_preview import ClockPreview
from engine.image_fields import CAMERA_TRAP, COUNT, FieldKind, ImageField
from engine.project.clock_corrections import ClockCorrection, ClockCorrections, ClockSource

SEX, STAGE, BEHAVIOUR = CAMERA_TRAP
DISTANCE = ImageField("distance", FieldKind.NUMBER)
ANTLERS = ImageField("antlers", FieldKind.YES_NO)
FIELDS = (*CAMERA_TRAP, DISTANCE, ANTLERS)
NOON = datetime.fromisoformat("2024-05-01T12:00:00")


def titles(text: str) -> list[str]:
    return [offer_title(each) for each in offers(FIELDS, text, {})]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", ["Count: 12"]),
        ("0", []),
        ("fem", ["Sex: female"]),
        ("sex", ["Sex …"]),
        ("SEX F", ["Sex: female"]),
        ("l", ["Life stage …"]),
        ("life stage j", ["Life stage: juvenile"]),
        ("dist 5", ["Distance: 5"]),
        ("antlers y", ["Antlers: Yes"]),
        ("mo", ["Behaviour: moving"]),
        ("sex 2", ["Sex: male"]),
        ("zebra", []),
        ("!", []),
    ],
)
def test_what_a_text_may_mean(text: str, expected: list[str]) -> None:
    assert titles(text) == expected


def test_before_anything_is_typed() -> None:
    assert titles(" ")[:2] == ["Count …", "Sex …"]
    assert titles("")[-1] == "Fields of the project…"


@pytest.mark.parametrize(
    ("field", "text", "values"),
    [
        (SEX, "", ["female", "male", "unknown"]),
        (SEX, "3", ["unknown"]),
        (SEX, "mal", ["male", "female"]),
        (ANTLERS, "2", ["no"]),
        (COUNT, "7", ["7"]),
        (COUNT, "x", []),
        (COUNT, "", []),
        (DISTANCE, "-2.50", ["-2.5"]),
    ],
)
def test_values_of_a_field(field: ImageField, text: str, values: list[str]) -> None:
    assert [each.value for each in value_offers(field, text)] == values


def test_a_value_that_is_there_can_be_removed() -> None:
    assert [each.value for each in value_offers(COUNT, "", "3")] == [""]
    assert [each.value for each in value_offers(COUNT, "4", "3")] == ["4"]
    assert offer_title(value_offers(SEX, "", "male")[-1]) == "Remove the value"


def test_clocks_that_can_be_corrected() -> None:
    sources = [ClockSource(folder, "Trap", "7", 3, NOON, NOON) for folder in ("a/b", "c")]
    late = ClockCorrection("a", seconds=60)
    facts = ClockFacts(sources, ClockCorrections([late]), "a/b", "Trap", "7", NOON)
    assert [target_title(each) for each in targets(facts)] == [
        "Folder a/b",
        "Camera Trap (7)",
        "Camera Trap",
        "Folder a",
        "All images",
        "Folder c",
    ]
    assert late in targets(facts)
    assert [target_title(each) for each in targets(ClockFacts(sources, ClockCorrections()))] == [
        "Folder a/b",
        "Folder c",
        "Camera Trap",
    ]


def test_what_would_change_in_words() -> None:
    assert preview_text(ClockPreview()) == "No time changes."
    lines = preview_text(ClockPreview(2, (NOON, NOON), (NOON, NOON.replace(hour=13)))).splitlines()
    assert lines[0] == "2 images"
    assert " to " in lines[2]


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ("a b c", "a b c", {}),
        ("a b c", "x b c", {"a": "x"}),
        ("a b c", "x b y", {"a": "x", "c": "y"}),
        ("a b", "x b c d", {"a": "x"}),
        ("a b", "b", {}),
        ("a b", "b a", {}),
        ("a b", "b x", {}),
        ("a b c", "c b", {}),
        ("a b", "x", {}),
        ("male", "Male", {"male": "Male"}),
    ],
)
def test_a_choice_is_renamed_in_its_place(before: str, now: str, expected: dict[str, str]) -> None:
    assert renamed_choices(before.split(), now.split()) == expected
