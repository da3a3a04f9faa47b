"""Words that the panels share, in the person's language and number format."""

from typing import Final

from PySide6.QtCore import QLocale

from app.texts import fill, translate

_ZERO_WIDTH_SPACE: Final = "\u200b"


def share(value: float) -> str:
    """`57.1 %`."""
    return fill(translate("side_panel", "%1 %"), QLocale().toString(100 * value, "f", 1))


def breakable(text: str) -> str:
    """The same text, which may also break into lines inside of a path."""
    for separator in "/\\_":
        text = text.replace(separator, separator + _ZERO_WIDTH_SPACE)
    return text
