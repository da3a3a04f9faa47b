"""Translation of all texts of the window: `tr("text")` returns it in the user's language.

As in gettext, the English text is the key; `plural` takes both English forms.
"""

import re
from collections.abc import Iterable
from datetime import date

from PySide6.QtCore import QDate, QLocale, QTranslator
from PySide6.QtGui import Qt

from app.mirroring import isolated, left_to_right
from engine.texts import filled, translate_with

CONTEXT = "Protoleaf"
_ZERO_WIDTH_SPACE = "\u200b"
_GAP = "\u202f"
_GAP_BEFORE_PERCENT = frozenset(
    {QLocale.Language.German, QLocale.Language.French, QLocale.Language.Spanish}
)
_WEEKDAY = re.compile(r"(?<!d)d{3,4}(?!d)")
# At an end of a date: `dddd, d MMMM yyyy`.
_AROUND_WEEKDAY = re.compile(r"^\0[^dMy]*|[,\s]*\0$")
_FIRM_SPACE = "\N{NO-BREAK SPACE}"
_LONGEST_PATH = 160
_MOST_COUNTED = 2**31 - 1  # Qt's largest count
_translators: list[QTranslator] = []


def speak(translator: QTranslator | None) -> None:
    """Set the translator of all texts, including the engine's; None for English."""
    _translators[:] = [translator] if translator else []
    translate_with(
        *(_translation, number_in, isolated, day_text) if translator else (None, None, None, None)
    )


class _AboutText(str):  # noqa: SLOT000 (a `str` with a fact)
    """English text with a context, for languages that need two translations of it."""

    about: str


def _translation(text: str, count: int | None = None, about: str = "") -> str:
    """The translation; empty where there is none."""
    number = -1 if count is None else min(count, _MOST_COUNTED)
    return (
        _translators[0].translate(CONTEXT, text, about or None, number) or ""
        if _translators and text
        else ""
    )


def number_in(value: float, form: str) -> str:
    """Format a number by a Python format, with the separators of the language."""
    locale = QLocale()
    shown = format(value, form).translate(
        {ord(","): locale.groupSeparator(), ord("."): locale.decimalPoint()}
    )
    return with_percent(shown.removesuffix("%")) if form.endswith("%") else shown


def with_percent(shown: str) -> str:
    """A number as percent, by Unicode's CLDR: with a narrow no-break space, or none."""
    return f"{shown}{_GAP if QLocale().language() in _GAP_BEFORE_PERCENT else ''}%"


def day_text(day: date) -> str:
    """A date in the language's long format with a short month and no weekday: `May 3, 2026`."""
    pattern = _AROUND_WEEKDAY.sub(
        "", _WEEKDAY.sub("\0", QLocale().dateFormat(QLocale.FormatType.LongFormat))
    )
    shown = QLocale().toString(QDate(day.year, day.month, day.day), pattern.replace("MMMM", "MMM"))
    return shown.replace(" ", _FIRM_SPACE)


def tr(text: str, *values: str, about: str = "") -> str:
    """Translate a text and fill in its placeholders `{1}`, `{2}`.

    Args:
        about: context that tells equal English texts apart, such as "None" of classes.
    """
    about = about or getattr(text, "about", "")
    return fill(_translation(text, about=about) or str(text), *values)


def plural(count: int, one: str, many: str, *values: str) -> str:
    """Translate a text with a count in the placeholder `{n}`.

    A language may have more plural forms than English.
    """
    template = _translation(many, count) or (one if count == 1 else many)
    # A count too large for Qt is given among the values, capped.
    counted = {"n": QLocale().toString(count)} if "{n}" in template else {}
    return filled(template, counted | _numbered(values))


def marked(text: str, *, about: str = "") -> str:
    """Mark a text for translation where it is defined; `tr` translates it where it is shown."""
    if not about:
        return text
    made = _AboutText(text)
    made.about = about
    return made


def fill(template: str, *values: str) -> str:
    """Fill in the placeholders `{1}`, `{2}`, which translators may reorder."""
    return filled(template, _numbered(values))


def _numbered(values: Iterable[str]) -> dict[str, str]:
    return {str(place): isolated(value) for place, value in enumerate(values, start=1)}


def breakable(text: str) -> str:
    """Allow line breaks within paths."""
    for separator in "/\\_":
        text = text.replace(separator, separator + _ZERO_WIDTH_SPACE)
    return left_to_right(text)


def plain_tip(text: str) -> str:
    """Escape a tooltip that Qt would show as rich text.

    Names come from users and files, and rich text can load files.
    """
    return Qt.convertFromPlainText(text) if Qt.mightBeRichText(text) else text


def plain_button(text: str) -> str:
    """Escape `&`, which marks a mnemonic, and isolate the text's direction."""
    return isolated(text.replace("&", "&&"))


def shortened(text: str, longest: int = 60) -> str:
    """A text with its middle elided where it is very long."""
    half = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def short_path(names: Iterable[str]) -> str:
    """Names from the top down, `Animal / Bird`, with the middle of a very long path elided."""
    return shortened(" / ".join(names), _LONGEST_PATH)


def for_menu(text: str, longest: int = 60) -> str:
    """A text for a menu: shortened, with `&` escaped."""
    return plain_button(shortened(text, longest))


def with_breaks(text: str, run: int = 12) -> str:
    """Allow line breaks within words much longer than `run` letters."""
    parts = (
        _ZERO_WIDTH_SPACE.join(word[start : start + run] for start in range(0, len(word), run))
        if len(word) > 2 * run
        else word
        for word in text.split(" ")
    )
    return " ".join(parts)
