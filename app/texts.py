"""Every text of the window passes through here: `tr("text")` gives it in the person's language.

As in gettext, the English text itself is the key, and a plural has both of its English forms where it stands.
"""

from collections.abc import Iterable
from typing import Final

from PySide6.QtCore import QLocale, QTranslator
from PySide6.QtGui import Qt

from engine.texts import translate_with

CONTEXT: Final = "Protoleaf"
_ZERO_WIDTH_SPACE: Final = "\u200b"
_LONGEST_PATH: Final = 160
_MOST_COUNTED: Final = 2**31 - 1  # Qt's
_translators: Final[list[QTranslator]] = []


def speak(translator: QTranslator | None) -> None:
    """Say everything, the engine's messages included, in the language of `translator`; None for English."""
    _translators[:] = [translator] if translator else []
    translate_with(_translation if translator else None)


def _translation(text: str, count: int | None = None) -> str:
    """Empty where there is none."""
    number = -1 if count is None else min(count, _MOST_COUNTED)
    return _translators[0].translate(CONTEXT, text, None, number) or "" if _translators and text else ""


def tr(text: str, *values: str) -> str:
    """A text in the person's language, with values in the places `%1`, `%2`."""
    return fill(_translation(text) or text, *values)


def plural(count: int, one: str, many: str, *values: str) -> str:
    """The text for so many, with the count in the place `%n`; a language may have more forms than English."""
    template = _translation(many, count) or (one if count == 1 else many)
    if "%n" in template:  # a count beyond Qt's numbers comes among the values, shortened
        template = template.replace("%n", QLocale().toString(count))
    return fill(template, *values)


def marked(text: str) -> str:
    """Mark a text for translation where it is defined; `tr` translates it where it is shown."""
    return text


def fill(template: str, *values: str) -> str:
    """Put values in the places `%1`, `%2`; translators may change their order."""
    for place in range(len(values), 0, -1):
        template = template.replace(f"%{place}", f"\0{place}\0")
    for place, value in enumerate(values, start=1):
        template = template.replace(f"\0{place}\0", value)
    return template


def breakable(text: str) -> str:
    """The same text, which may also break into lines inside of a path."""
    for separator in "/\\_":
        text = text.replace(separator, separator + _ZERO_WIDTH_SPACE)
    return text


def plain_tip(text: str) -> str:
    """A tool tip as it is: names of classes, people and files never become rich text, which could load files.

    Qt shows a tip as rich text where it looks like it; such a text is escaped.
    """
    return Qt.convertFromPlainText(text) if Qt.mightBeRichText(text) else text


def plain_button(text: str) -> str:
    """The text of a button with names in it: `&` is itself, not the mark of a key."""
    return text.replace("&", "&&")


def shortened(text: str, longest: int = 60) -> str:
    """A text with names in it, of which the middle is left out where they are very long."""
    half = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def short_path(names: Iterable[str]) -> str:
    """Names from the top down, `Animal / Bird`; of a very long path the middle is left out."""
    return shortened(" / ".join(names), _LONGEST_PATH)


def for_menu(text: str, longest: int = 60) -> str:
    """A text as a menu shows it: not too long, and `&` as itself."""
    return plain_button(shortened(text, longest))


def with_breaks(text: str, run: int = 12) -> str:
    """The same text, of which words much longer than `run` letters may also break into lines inside."""
    parts = (
        _ZERO_WIDTH_SPACE.join(word[start : start + run] for start in range(0, len(word), run))
        if len(word) > 2 * run
        else word
        for word in text.split(" ")
    )
    return " ".join(parts)
