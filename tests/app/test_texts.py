"""Texts outside of widgets."""

from app.texts import breakable, fill, for_menu, with_breaks


def test_values_take_their_places() -> None:
    """Arguments may be in any order; a placeholder within an argument is not substituted."""
    assert fill("{2} of {1}", "{2}", "b") == "b of {2}"
    assert fill("将 {1} 移到 {2}", "雏菊", "花") == "将雏菊移到花"
    assert fill("将 {1} 移到 {2}", "Bellis", "Tinca 属") == "将 Bellis 移到 Tinca 属"


def test_a_path_can_break_into_lines() -> None:
    """The text is unchanged."""
    text = "found /a/long_path"
    assert breakable(text).replace("\u200b", "") == text
    assert breakable(text) != text


def test_names_of_any_length_in_a_menu() -> None:
    """Ampersands are escaped, and long texts are elided in the middle."""
    assert for_menu("Labelled 1 image as Salt & pepper") == "Labelled 1 image as Salt && pepper"
    short = for_menu(f"Renamed class {'very ' * 40}long to Gull")
    assert len(short) <= 60
    assert short.startswith("Renamed class very")
    assert short.endswith("long to Gull")


def test_long_words_can_break_into_lines() -> None:
    """Words of usual length are not broken; no letter is lost."""
    text = f"Nothing left to review in {'x' * 100}"
    assert with_breaks(text).replace("\u200b", "") == text
    assert with_breaks("Nothing left") == "Nothing left"
    assert max(map(len, with_breaks(text).replace("\u200b", " ").split(" "))) == 12
