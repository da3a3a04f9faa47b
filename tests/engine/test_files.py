"""Files as the engine represents them."""

import pytest

from engine.files import shown, size_text


@pytest.mark.parametrize(
    ("size_bytes", "expected"),
    [
        (49_000, "49.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (999_949_999, "999.9 MB"),
        (2_580_000_000, "2.6 GB"),
    ],
)
def test_what_is_less_than_a_megabyte_is_shown_in_kilobytes(size_bytes: int, expected: str) -> None:
    """No file has size 0, and none 1,000.0 kB."""
    assert size_text(size_bytes) == expected


def test_names_that_are_no_unicode_can_be_shown() -> None:
    """Undecodable bytes are escaped; other names are unchanged."""
    assert shown("m\udcf6we 海鸥 🦅.jpg") == "m\\xf6we 海鸥 🦅.jpg"
    assert shown("\ud800.jpg") == "\\ud800.jpg"
