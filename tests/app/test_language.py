"""Choosing the language, and changing it without a restart."""

import io
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.actions.keys import sequence_of, short_key, shown_key
from app.actions.menu_keys import without_mark
from app.image_grid.held_order import Order
from app.language import (
    ENGLISH,
    SYSTEM,
    fitting_language,
    install_language,
    language_names,
    speak_on_command_line,
)
from app.one_window import OneWindow
from app.preferences.controller import Preferences
from app.settings import Settings
from app.texts import marked, tr
from app.wording import images
from engine.errors import ModelError
from engine.log import Log
from engine.report.document import Document, FigureTable, ReportSection
from engine.report.tables_csv import write_values
from engine.report.words import amount, printable, share, shown_value, span, text_column
from tests.support.collections import Collection, cache_of_test
from tests.support.desk import CONTROL
from tests.support.sessions import LONG_MS


@pytest.fixture
def some_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Translation files of some languages."""
    for code in ("de", "fr", "pt_BR", "zh_CN"):
        (tmp_path / f"protoleaf_{code}.qm").touch()
    monkeypatch.setattr("app.language.TRANSLATIONS", tmp_path)
    language_names.cache_clear()
    yield
    language_names.cache_clear()


@pytest.fixture
def languages(
    qapp: QApplication, compiled_languages: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Compiled translations; English is restored afterwards."""
    monkeypatch.setattr("app.language.TRANSLATIONS", compiled_languages)
    monkeypatch.delenv("PROTOLEAF_LANGUAGE", raising=False)
    language_names.cache_clear()
    before = QLocale()
    yield
    install_language(qapp, ENGLISH)
    QLocale.setDefault(before)
    language_names.cache_clear()


@pytest.mark.usefixtures("some_languages")
@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (["de-AT", "en-US"], "de"),
        (["en-GB", "de-DE"], ENGLISH),
        (["xx", "fr-CA"], "fr"),
        (["pt-BR"], "pt_BR"),
        (["pt-PT"], "pt_BR"),
        (["zh-Hans-SG"], "zh_CN"),
        (["zh-Hant-TW"], ENGLISH),
        (["ja-JP"], ENGLISH),
        ([], ENGLISH),
    ],
)
def test_the_first_of_the_systems_languages_that_is_there(wanted: list[str], code: str) -> None:
    """A language matches in its script; English in first place is respected."""
    assert fitting_language(wanted) == code


@pytest.mark.usefixtures("some_languages")
def test_languages_have_their_names_in_themselves() -> None:
    names = language_names()
    assert (names["de"], names[ENGLISH], names["fr"]) == ("Deutsch", "English", "Français")
    assert names["pt_BR"] == "Português (Brasil)"
    assert names["zh_CN"].startswith("简体中文")


@pytest.mark.slow
@pytest.mark.usefixtures("languages")
def test_a_chosen_language_brings_its_numbers(qapp: QApplication) -> None:
    """Number formats follow the language; English restores its own."""
    install_language(qapp, "de")
    assert QLocale().toString(1234.5, "f", 1) == "1.234,5"
    assert tr("Cancel") == "Abbrechen"
    install_language(qapp, ENGLISH)
    assert tr("Cancel") == "Cancel"


@pytest.mark.slow
@pytest.mark.usefixtures("languages")
def test_a_language_brings_the_direction_that_it_is_written_in(
    qapp: QApplication, pseudo_translations: Path
) -> None:
    """Qt's own texts are translated, too; the next language has its own direction."""
    for chosen, direction in (
        (
            str(pseudo_translations.with_name("protoleaf_pseudo_rtl.qm")),
            Qt.LayoutDirection.RightToLeft,
        ),
        ("de", Qt.LayoutDirection.LeftToRight),
        (
            str(pseudo_translations.with_name("protoleaf_pseudo_rtl.qm")),
            Qt.LayoutDirection.RightToLeft,
        ),
        (str(pseudo_translations), Qt.LayoutDirection.LeftToRight),
    ):
        install_language(qapp, chosen)
        assert qapp.layoutDirection() == direction
        is_hebrew = direction == Qt.LayoutDirection.RightToLeft
        assert (QCoreApplication.translate("QPlatformTheme", "Cancel") == "ביטול") == is_hebrew


@pytest.mark.usefixtures("languages")
@pytest.mark.parametrize(
    ("code", "names", "short"),
    [
        (ENGLISH, ["Enter", "Enter", "Shift+Enter", "Ctrl+Backspace", "Del", "Space"], "⇧↵"),
        ("de", ["Enter", "Enter", "Umschalt+Enter", "Strg+Rücktaste", "Entf", "Leertaste"], "⇧↵"),
        ("fr", ["Entrée", "Entrée", "Maj+Entrée", "Ctrl+Retour arrière", "Suppr", "Espace"], "⇧↵"),
        ("es", ["Intro", "Intro", "Mayús+Intro", "Ctrl+Retroceso", "Supr", "Espacio"], "⇧↵"),
        ("zh_CN", ["Enter", "Enter", "Shift+Enter", "Ctrl+Backspace", "Del", "空格键"], "⇧↵"),
    ],
)
def test_a_key_has_one_name_in_a_language(
    qapp: QApplication, code: str, names: list[str], short: str
) -> None:
    """Hints, Qt's menus and sentences use one name; the short form uses symbols."""
    install_language(qapp, code)
    keys = "Return", "Enter", "Shift+Return", "Ctrl+Backspace", "Del", "Space"
    assert [shown_key(key) for key in keys] == names
    action = QAction()
    action.setShortcuts([sequence_of(keys[1]), sequence_of(keys[0])])
    assert action.shortcut() == QKeySequence(Qt.Key.Key_Enter), (
        "not read as the other Enter, which is called the same"
    )
    assert action.shortcut().toString(QKeySequence.SequenceFormat.NativeText) == names[1]
    assert short_key("Shift+Return") == short


@pytest.mark.usefixtures("languages")
def test_one_english_text_may_be_two_elsewhere(qapp: QApplication) -> None:
    """Contexts are translated separately; without one the general translation is used."""
    row = marked("Unknown", about="images")
    assert (row, tr(row), tr("None", about="class")) == ("Unknown", "Unknown", "None")
    install_language(qapp, "fr")
    assert (tr(row), tr("Unknown")) == ("Inconnues", "Classe inconnue")
    assert (tr("None", about="class"), tr("None")) == ("Aucune", "Aucun")
    assert tr("Cancel", about="nothing that is known") == tr("Cancel")


@pytest.mark.usefixtures("languages")
def test_the_command_line_speaks_it_where_it_is_requested() -> None:
    """Errors are translated, by locale names; English where there is no translation."""
    error = ModelError("the model file is empty", found="/data/x.onnx")
    for wanted in ("de", "de_AT.UTF-8"):
        speak_on_command_line(wanted)
        assert error.translated() != str(error)
        assert "/data/x.onnx" in error.translated()
    for wanted in ("C", "C.UTF-8", "POSIX", "ja_JP.UTF-8", "en_US"):
        speak_on_command_line(wanted)
        assert error.translated() == str(error)


@pytest.mark.slow
@pytest.mark.usefixtures("languages")
def test_another_language_without_a_restart(
    qtbot: QtBot, qapp: QApplication, settings: Settings, collection: Collection
) -> None:
    """The window is recreated with the same project and page, and the language is stored."""
    one = OneWindow(qapp, settings, Log(), cache_of_test())
    one.begin(collection.project, with_sample=False)
    first = one.window
    qtbot.waitUntil(lambda: first.session.state is not None, timeout=LONG_MS)
    first.tree.select_class(first.session.graph.find("Blue"))
    first.workspace.choose_order(Order.NAME)
    first.workspace.show_graph(True)
    qtbot.keyClick(first, Qt.Key.Key_Comma, CONTROL)
    card = first.of(Preferences).card
    assert card is not None
    assert card.language.currentData() == SYSTEM
    place = card.language.findData("de")
    card.language.setFocus()
    shown = card.language.view()
    for passing in (Qt.Key.Key_Shift, Qt.Key.Key_D, Qt.Key.Key_PageDown):
        qtbot.keyClick(card.language, passing)
        assert not shown.isVisible()
    qtbot.keyClick(card.language, Qt.Key.Key_Down)
    qtbot.waitUntil(shown.isVisible, timeout=LONG_MS)
    assert settings.language == "", "an arrow key opens the list"
    for _step in range(place):
        qtbot.keyClick(shown, Qt.Key.Key_Down)
    qtbot.keyClick(shown, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: one.window is not first, timeout=LONG_MS)
    second = one.window
    qtbot.waitUntil(lambda: second.session.info is not None, timeout=LONG_MS)
    assert second.session.info is not None
    assert second.session.info.path == collection.project
    assert settings.language == "de"
    qtbot.waitUntil(lambda: second.workspace.is_graph_shown, timeout=LONG_MS)
    assert second.tree.selected_class == second.session.graph.find("Blue")
    assert second.workspace.model.order is Order.NAME
    assert without_mark(second.menuBar().actions()[0].text()) == tr("File") != "File"
    second.close()


@pytest.mark.usefixtures("languages")
def test_a_report_has_the_numbers_of_the_language(qapp: QApplication) -> None:
    """Shares, intervals and counts; values for data tables are not localised."""
    install_language(qapp, "de")
    assert (share(0.9731), span((0.912, 0.96)), amount(1234)) == (
        "97,3\u202f%",
        "91,2\u201396,0\u202f%",
        "1.234",
    )
    assert (share(1.0), share(0.99999)) == ("100\u202f%", "99,9\u202f%")
    assert printable(share(0.9731)) == share(0.9731)
    install_language(qapp, "zh_CN")
    assert (share(0.9731), amount(1234)) == ("97.3%", "1,234")


@pytest.mark.usefixtures("languages")
@pytest.mark.parametrize(
    ("code", "counted"),
    [
        ("de", ["0 Bilder", "1 Bild", "2 Bilder", "1.000 Bilder"]),
        ("fr", ["0 image", "1 image", "2 images", "1\u202f000 images"]),
        ("pt_BR", ["0 imagem", "1 imagem", "2 imagens", "1.000 imagens"]),
        ("es", ["0 imágenes", "1 imagen", "2 imágenes", "1000 imágenes"]),
        ("zh_CN", ["0 张图像", "1 张图像", "2 张图像", "1,000 张图像"]),
    ],
)
def test_plural_forms(qapp: QApplication, code: str, counted: list[str]) -> None:
    """Plural forms of CLDR: zero is singular in French and Portuguese; Chinese has one form."""
    install_language(qapp, code)
    assert [images(count) for count in (0, 1, 2, 1000)] == counted


@pytest.mark.usefixtures("languages")
def test_a_report_has_the_days_of_the_language(qapp: QApplication) -> None:
    """Pages use the language's format, data tables ISO 8601."""
    column, day = text_column("Day", "day"), date(2026, 5, 3)
    assert shown_value(column, day) == "2026-05-03"
    install_language(qapp, "de")
    assert shown_value(column, day) == "3.\u00a0Mai\u00a02026"
    install_language(qapp, "zh_CN")
    assert shown_value(column, day) == "2026年5月3日"
    values = io.BytesIO()
    table = FigureTable("days", "Days", (column,), [(day,)])
    write_values(Document("", "", (ReportSection("overview", "", (table,)),), ""), values)
    assert values.getvalue().decode().splitlines()[1:] == ["days,1,day,2026-05-03"]
