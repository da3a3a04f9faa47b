"""Encoding of steps in the journal."""

import pytest

from engine.project.step import RowChange, decoded, encoded

ROWS: list[RowChange] = [
    ("image", None, (1, "photos/é 鸟.jpg", 2**62, 0)),
    ("image", (2, b"caf\xe9.jpg", 1, 1), None),
    ("class_detail", None, (3, "two\nlines", "#00ff7f")),
    ("class_policy", (3, None, 0), (3, 0.1, 1)),
]


@pytest.mark.parametrize("repeats", [0, 1, 500])
def test_rows_come_back(repeats: int) -> None:
    """Text, bytes, None, integers and floats, compressed or not."""
    assert decoded(encoded(ROWS * repeats)) == ROWS * repeats


def test_many_rows_are_small() -> None:
    """A thousand similar rows take a tenth of their text."""
    rows: list[RowChange] = [
        ("image", None, (each, f"photos/IMG_{each}.jpg", 5, 6)) for each in range(1000)
    ]
    assert len(encoded(rows)) < len(str(rows)) / 5


@pytest.mark.parametrize(
    "rubbish", ["", "[1]", "{}", '[["nothing",null,[1]]]', "[[1", b"", b"\x00\x01"]
)
def test_rubbish_is_refused(rubbish: str | bytes) -> None:
    """Other data raises ValueError."""
    with pytest.raises(ValueError):  # noqa: PT011 (its type is the contract)
        decoded(rubbish)
