"""Texts outside of widgets."""

from app.texts import breakable, fill


def test_values_take_their_places() -> None:
    """In any order; what looks like a place in a value is left alone."""
    assert fill("%2 of %1", "%2", "b") == "b of %2"


def test_a_path_can_break_into_lines() -> None:
    """The words stay the same."""
    text = "found /a/long_path"
    assert breakable(text).replace("\u200b", "") == text
    assert breakable(text) != text
