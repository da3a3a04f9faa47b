"""Colours that other programs give to classes."""

import re
from typing import Final

_LONG: Final = re.compile(r"#[0-9a-f]{6}")
_SHORT: Final = re.compile(r"#[0-9a-f]{3}")


def hex_colour(text: str) -> str:
    """A colour as "#rrggbb"; "" where it is written in another way, since a colour is no reason to refuse a file."""
    colour = text.strip().casefold()
    if _SHORT.fullmatch(colour):
        return "#" + "".join(2 * digit for digit in colour[1:])
    return colour if _LONG.fullmatch(colour) else ""
