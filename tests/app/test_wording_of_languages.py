"""Dates, lists, units and sentence ends in each language."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

from app.group_review.wording import done_text
from app.key_choice.logic import conflict_text
from app.language import ENGLISH, install_language, language_names
from app.texts import day_text, speak
from app.wording import (
    SEPARATOR,
    clauses,
    enumeration,
    file_size,
    hours,
    in_sentences,
    moment_text,
    progress_facts,
    sentence,
    time_left,
    titled,
    transfer_rate,
)
from engine.backbones.published.catalogue import publisher_called
from engine.collection.training.settings import BackboneSettings, with_chosen
from engine.errors import ProtoleafError, UsageError, found_at
from engine.events import Progress
from engine.texts import paragraph, translated

Speak = Callable[[str], None]
LANGUAGES = ("de", "fr", "es", "pt_BR", "zh_CN")


@pytest.fixture
def speak_in(
    compiled_languages: Path, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Speak]:
    """A function that chooses a language with its formats; restored afterwards."""
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
        ("en_US", "Nov 7, 2026"),
        ("en_GB", "7 Nov 2026"),
        ("de_AT", "7. Nov. 2026"),
        ("fr_FR", "7 nov. 2026"),
        ("es_ES", "7 de nov de 2026"),
        ("pt_BR", "7 de nov. de 2026"),
        ("zh_CN", "2026年11月7日"),
        ("zh_TW", "2026年11月7日"),
        ("C", "7 Nov 2026"),
    ],
)
def test_days_are_written_as_the_language_writes_them(locale: str, shown: str) -> None:
    """A date has the month's name and no weekday, in one line."""
    before = QLocale()
    try:
        QLocale.setDefault(QLocale(locale))
        assert day_text(date(2026, 11, 7)) == shown.replace(" ", "\u00a0")
    finally:
        QLocale.setDefault(before)


def test_a_moment_without_a_zone_is_that_of_the_camera() -> None:
    """Others are converted to local time."""
    at = datetime(2026, 5, 3, 12, 2, tzinfo=UTC)
    assert moment_text(at) == moment_text(at.astimezone().replace(tzinfo=None))


@pytest.mark.parametrize(
    ("language", "ended", "whole", "open_end"),
    [
        (ENGLISH, "The GPU failed.", "The GPU failed. Why?", "a. b. c"),
        ("de", "The GPU failed.", "The GPU failed. Why?", "a. b. c"),
        ("zh_CN", "The GPU failed。", "The GPU failed。Why?", "a。b。c"),
    ],
)
def test_sentences_end_as_the_language_ends_them(
    speak_in: Speak, language: str, ended: str, whole: str, open_end: str
) -> None:
    """Chinese uses a full-width stop without a space after it."""
    speak_in(language)
    assert sentence("the GPU failed") == ended
    assert paragraph(ended, "", "Why?") == whole
    assert in_sentences("a", "b", "", "c") == open_end
    assert sentence("图像已损坏。") == "图像已损坏。"


@pytest.mark.parametrize(
    ("language", "named", "facts", "title"),
    [
        (ENGLISH, "Fox, Dog, Wolf", "Fox, 3", "Fox: 3"),
        ("fr", "Fox, Dog, Wolf", "Fox, 3", "Fox\u00a0: 3"),
        ("zh_CN", "Fox、Dog、Wolf", "Fox\uff0c3", "Fox\uff1a3"),
    ],
)
def test_lists_and_titles_have_the_marks_of_the_language(
    speak_in: Speak, language: str, named: str, facts: str, title: str
) -> None:
    """Names in a list, clauses, and what follows a title."""
    speak_in(language)
    assert enumeration(["Fox", "Dog", "Wolf"]) == named
    assert (enumeration(["Fox"]), enumeration([])) == ("Fox", "")
    assert (clauses("Fox", "", "3"), titled("Fox", "3")) == (facts, title)


def test_texts_on_the_screen_use_them(speak_in: Speak) -> None:
    """A class in the language's quotation marks, with a list."""
    speak_in("fr")
    assert conflict_text(["Annuler", "Refaire"], "Ctrl+Z").endswith(
        "«\u00a0Annuler\u00a0», «\u00a0Refaire\u00a0»."
    )
    speak_in("zh_CN")
    assert done_text(12, 310) == "12 次回答\uff0c310 个标签"


def test_a_name_alone_is_no_text_of_the_program(speak_in: Speak) -> None:
    """A person's class may have the name of a translated text."""
    speak_in("de")
    assert enumeration(["Unknown"]) == "Unknown"
    assert enumeration(["Unknown", "Fox"]) == "Unknown, Fox"


def test_lists_in_errors_have_the_marks_of_the_language(speak_in: Speak) -> None:
    """Lists and file names in errors use the language's punctuation."""
    speak_in("zh_CN")
    with pytest.raises(ProtoleafError) as raised:
        publisher_called("nobody")
    assert "torchvision 或 timm" in raised.value.translated()
    assert translated(found_at("birds.csv", OSError(13, "Permission denied"))).startswith(
        "birds.csv\uff1a"
    )
    assert "Permission denied" not in translated(
        found_at("birds.csv", OSError(13, "Permission denied"))
    )


def test_kinds_of_values_in_errors_are_translated(speak_in: Speak) -> None:
    """The expected type of a setting is translated."""
    speak_in("de")
    with pytest.raises(UsageError) as raised:
        with_chosen(BackboneSettings(), {"side": "wide"})
    assert "eine ganze Zahl oder keine" in raised.value.translated()


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        (ENGLISH, ("53.1_MB", "12_min left", "1.5_hours", "355_images/s", "1.6_MB/s")),
        ("de", ("53,1_MB", "noch 12_min", "1,5_Stunden", "355_Bilder/s", "1,6_MB/s")),
        ("zh_CN", ("53.1_MB", "剩余 12_分钟", "1.5_小时", "每秒 355_张图像", "每秒 1.6_MB")),
    ],
)
def test_a_number_and_its_unit_stay_on_one_line(
    speak_in: Speak, language: str, shown: tuple[str, ...]
) -> None:
    """Sizes, durations and rates, each a translatable text."""
    speak_in(language)
    rate = progress_facts(Progress(0, 0, "images", 355.0)).partition(SEPARATOR)[2]
    found = file_size(53_100_000), time_left(720), hours(1.5), rate, transfer_rate(1_600_000)
    assert found == tuple(each.replace("_", "\u00a0") for each in shown)
