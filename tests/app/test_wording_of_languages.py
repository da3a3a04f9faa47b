"""Dates, lists, units and ends of sentences as each language writes them."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

from app.language import ENGLISH, install_language, language_names
from app.texts import speak
from app.wording import day_text, moment_text

Speak = Callable[[str], None]
LANGUAGES = ("de", "fr", "es", "pt_BR", "zh_CN")


@pytest.fixture
def speak_in(compiled_languages: Path, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Speak]:
    """Chooses a language with its formats; the window's own again afterwards."""
    monkeypatch.setattr("app.language.TRANSLATIONS", compiled_languages)
    monkeypatch.delenv("PROTOLEAF_LANGUAGE", raising=False)
    language_names.cache_clear()
    before = QLocale()
    yield lambda code: install_language(qapp, code)
    install_language(qapp, ENGLISH)
    speak(None)
    QLocale.setDefault(before)
    language_names.cache_clear()


@pytest.mark.parametrize(
    ("locale", "shown"),
    [
        ("en_US", "Nov 7, 2026"), ("en_GB", "7 Nov 2026"), ("de_AT", "7. Nov. 2026"), ("fr_FR", "7 nov. 2026"),
        ("es_ES", "7 de nov de 2026"), ("pt_BR", "7 de nov. de 2026"), ("zh_CN", "2026年11月7日"),
        ("zh_TW", "2026年11月7日"), ("C", "7 Nov 2026"),
    ],
)  # fmt: skip
def test_days_are_written_as_the_language_writes_them(locale: str, shown: str) -> None:
    """With the month's name, without the day of the week, and on one line."""
    before = QLocale()
    try:
        QLocale.setDefault(QLocale(locale))
        assert day_text(date(2026, 11, 7)) == shown.replace(" ", "\u00a0")
    finally:
        QLocale.setDefault(before)


def test_a_moment_without_a_zone_is_that_of_the_camera() -> None:
    """Others are in local time."""
    at = datetime(2026, 5, 3, 12, 2, tzinfo=UTC)
    assert moment_text(at) == moment_text(at.astimezone().replace(tzinfo=None))
