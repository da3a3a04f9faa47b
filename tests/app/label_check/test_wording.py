"""Texts of the label check: labels that were not checked are counted, not called right."""

import pytest

from app.label_check.wording import emptiness_of, judged_text
from engine.review.label_check import LabelCheck

FEW = "18 of 24 labels could be judged. 2 classes have too few labels: class 3, class 5"
MANY = "3 of 24 labels could be judged. 8 classes have too few labels: " + ", ".join(
    f"class {each}" for each in range(6)
)


def name_of(class_id: int) -> str:
    return f"class {class_id}"


@pytest.mark.parametrize(
    ("judged", "too_few", "text"),
    [
        (24, (), ""),
        (23, (), "23 of 24 labels could be judged"),
        (18, (3, 5), FEW),
        (23, (3,), "23 of 24 labels could be judged. 1 class has too few labels: class 3"),
        (3, tuple(range(8)), f"{MANY} +2"),
    ],
)
def test_what_could_be_judged(judged: int, too_few: tuple[int, ...], text: str) -> None:
    """The text names classes with too few labels, as many as fit."""
    assert judged_text(LabelCheck((), 24, 6, judged=judged, too_few=too_few), name_of) == text


def test_nothing_is_called_right_that_was_not_judged() -> None:
    """The tick is shown only if all labels were checked."""
    whole = emptiness_of(LabelCheck((), 24, 6, judged=24), 0, name_of)
    assert (whole.title, whole.text, whole.is_good) == (
        "No label looks wrong",
        "24 labels were checked.",
        True,
    )
    partly = emptiness_of(LabelCheck((), 24, 6, judged=18, too_few=(3, 5)), 2, name_of)
    assert (partly.title, partly.text, partly.is_good) == (
        "No label that could be judged looks wrong",
        FEW,
        False,
    )
    assert (
        emptiness_of(LabelCheck((), 24, 6, too_few=(3, 5)), 0, name_of).title
        == "No label could be judged"
    )
