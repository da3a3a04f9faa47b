"""A name on the lines of a card, without a font at hand: widths are estimated, rather too wide than too narrow."""

import unicodedata
from typing import Final

# Shares of the font size, as sans-serif faces such as DejaVu Sans (a wide one) draw them.
NARROW: Final = 0.42
USUAL: Final = 0.66
CAPITAL: Final = 0.80
BROAD: Final = 1.0

_NARROW_LETTERS: Final = frozenset("iljtfrI|!.,:;'`()[]{} -/\\")
_BROAD_LETTERS: Final = frozenset("mwMW@%&—")
ELLIPSIS: Final = "…"


def lines_of(name: str, width: float, font_size: float, most: int) -> list[str]:
    """Break a name into lines.

    Args:
        name: a class's name.
        width: of a line, in the unit of the font's size.
        font_size: height of the letters' square.
        most: lines, at most; what does not fit ends in an ellipsis.

    Returns:
        At least one line; broken between words where words fit.
    """
    lines: list[str] = []
    rest = name.split(" ")
    while rest:
        line = rest.pop(0)
        while rest and text_width(f"{line} {rest[0]}", font_size) <= width:
            line = f"{line} {rest.pop(0)}"
        if len(lines) + 1 == most and rest:
            return [*lines, _shortened(" ".join([line, *rest]), width, font_size)]
        lines.append(_shortened(line, width, font_size))
    return lines


def text_width(text: str, font_size: float) -> float:
    """How wide a text is drawn, at most, in the unit of the font's size."""
    return sum(map(_share, text)) * font_size


def _shortened(text: str, width: float, font_size: float) -> str:
    if text_width(text, font_size) <= width:
        return text
    room = width - text_width(ELLIPSIS, font_size)
    kept = 0
    for letter in text:
        room -= _share(letter) * font_size
        if room < 0:
            break
        kept += 1
    # Marks belong to the letter before them: none stands without it.
    while 0 < kept < len(text) and unicodedata.combining(text[kept]):
        kept -= 1
    return text[: max(kept, 1)].rstrip() + ELLIPSIS


def _share(letter: str) -> float:
    if letter in _NARROW_LETTERS:
        return NARROW
    if letter in _BROAD_LETTERS or unicodedata.east_asian_width(letter) in "WF":
        return BROAD
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    return CAPITAL if letter.isupper() else USUAL
