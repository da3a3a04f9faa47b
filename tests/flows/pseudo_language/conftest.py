"""Tests in the pseudo-language, 40 % longer than English: English text in it is untranslated."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from app.language import ENGLISH, LANGUAGE_VARIABLE, install_language, language_names
from tests.support.desk import Desk
from tests.support.pseudo_reader import Reader
from tests.support.screen_texts import PaintedTexts

SIZE = (1440, 900)


@pytest.fixture
def spoken(pseudo_translations: Path) -> str:
    """The language of the window: a code, or a compiled file."""
    return str(pseudo_translations)


@pytest.fixture
def languages_there(compiled_languages: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Translations compiled for the tests, by language code."""
    monkeypatch.setattr("app.language.TRANSLATIONS", compiled_languages)
    language_names.cache_clear()
    yield
    language_names.cache_clear()


@pytest.fixture(autouse=True)
def in_its_language(
    qapp: QApplication, spoken: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Set the language of the window during a test."""
    monkeypatch.setenv(LANGUAGE_VARIABLE, spoken)
    before = QLocale()
    install_language(qapp)
    yield
    monkeypatch.delenv(LANGUAGE_VARIABLE)
    install_language(qapp, ENGLISH)
    QLocale.setDefault(before)


@pytest.fixture
def reader(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """A reader of all texts at a usual window size; system dialogs are cancelled and read."""
    desk.window.resize(*SIZE)
    reader = Reader(desk, PaintedTexts(monkeypatch))

    def cancelled(answer: object) -> Callable[..., object]:
        def dialog(
            _parent: QWidget | None,
            title: str,
            _start: str = "",
            kinds: str = "",
            *_more: object,
            **_options: object,
        ) -> object:
            for text in (title, *kinds.split(";;")):
                reader.read_text("dialog", text.split(" (*")[0])
            return answer

        return dialog

    for name, answer in DIALOGS.items():
        monkeypatch.setattr(QFileDialog, name, cancelled(answer))
    yield reader
    assert not reader.wrong, "\n".join(reader.wrong)


DIALOGS = {
    "getOpenFileName": ("", ""),
    "getOpenFileNames": ([], ""),
    "getSaveFileName": ("", ""),
    "getExistingDirectory": "",
}
