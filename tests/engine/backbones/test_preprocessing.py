"""Preprocessing as people write it."""

import pytest

from engine.backbones.preprocessing import numbers_text, three_numbers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.485, 0.456, 0.406", (0.485, 0.456, 0.406)),
        ("[0.5 0.5 0.5]", (0.5, 0.5, 0.5)),
        ("(123.68; 116.779; 103.939)", (123.68, 116.779, 103.939)),
        ("0.5", (0.5, 0.5, 0.5)),
    ],
)
def test_three_numbers_as_people_paste_them(text: str, values: tuple[float, float, float]) -> None:
    """And back again, as the same numbers."""
    assert three_numbers(text) == values
    assert three_numbers(numbers_text(values)) == values


@pytest.mark.parametrize("text", ["", "1, 2", "1, 2, 3, 4", "a, b, c", "1, nan, 2"])
def test_what_are_no_three_numbers(text: str) -> None:
    """Refused."""
    with pytest.raises(ValueError, match=r"number|float"):
        three_numbers(text)


def test_long_numbers_survive_the_field() -> None:
    """CLIP's constants have more digits than a short form shows."""
    values = (0.48145466, 0.4578275, 0.40821073)
    assert three_numbers(numbers_text(values)) == values
