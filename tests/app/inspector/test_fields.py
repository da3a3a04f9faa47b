"""The fields of an image at the right: shown, and changed by keys and mouse."""

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from app.inspector.fields import CountBox, FieldSection, ValueLine
from app.inspector.page import PageRequests
from engine.image_fields import CAMERA_TRAP, COUNT, FieldKind, ImageField
from tests.support.sessions import LONG_MS, recorded

FIELDS = (COUNT, CAMERA_TRAP[0], ImageField("antlers", FieldKind.YES_NO), ImageField("remark", FieldKind.TEXT))
Key = Qt.Key


@pytest.fixture
def section(qtbot: QtBot) -> FieldSection:
    owner = QObject()
    shown = FieldSection(PageRequests(owner))
    owner.setParent(shown)
    qtbot.addWidget(shown)
    shown.show_values(7, FIELDS, {"count": "12", "sex": "male", "remark": "torn ear"}, is_writable=True)
    shown.show()
    shown.activateWindow()
    qtbot.waitUntil(shown.isActiveWindow, timeout=LONG_MS)
    return shown


@pytest.fixture
def asked(section: FieldSection) -> list[tuple[object, ...]]:
    return recorded(section._requests.field_set)  # noqa: SLF001 (what it asks for)


def count_of(section: FieldSection) -> CountBox:
    box = section.editor("count")
    assert isinstance(box, CountBox)
    return box


def line_of(section: FieldSection) -> ValueLine:
    line = section.editor("remark")
    assert isinstance(line, ValueLine)
    return line


def test_values_are_shown(section: FieldSection, asked: list[tuple[object, ...]]) -> None:
    sex, antlers = section.editor("sex"), section.editor("antlers")
    assert isinstance(sex, QComboBox)
    assert isinstance(antlers, QComboBox)
    assert (count_of(section).value(), sex.currentText(), antlers.currentData()) == (12, "male", "")
    section.show_values(8, FIELDS, {"antlers": "yes"}, is_writable=False)
    assert (count_of(section).value(), sex.currentData(), antlers.currentText()) == (0, "", "Yes")
    assert not sex.isEnabled()
    section.show_values(8, (), {}, is_writable=True)
    assert section.isHidden()
    assert asked == []


def test_a_count_is_typed(section: FieldSection, asked: list[tuple[object, ...]], qtbot: QtBot) -> None:
    left, box = recorded(section.left), count_of(section)
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, "30")
    assert asked == []
    section.show_values(7, FIELDS, {"count": "12"}, is_writable=True)
    qtbot.keyClick(box, Key.Key_Return)
    assert (asked, left) == ([(7, "count", "30")], [()])
    qtbot.keyClick(box, Key.Key_Up)
    assert asked[-1] == (7, "count", "31")


def test_a_text_is_typed_or_left_as_it_was(
    section: FieldSection, asked: list[tuple[object, ...]], qtbot: QtBot
) -> None:
    line = line_of(section)
    line.setFocus()
    qtbot.keyClicks(line, "!")
    qtbot.keyClick(line, Key.Key_Escape)
    assert (line.text(), asked) == ("torn ear", [])
    line.selectAll()
    qtbot.keyClick(line, Key.Key_Delete)
    qtbot.keyClick(line, Key.Key_Return)
    assert asked == [(7, "remark", "")]


def test_what_was_typed_belongs_to_its_image(
    section: FieldSection, asked: list[tuple[object, ...]], qtbot: QtBot
) -> None:
    line = line_of(section)
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, "scar")
    section.show_values(8, FIELDS, {}, is_writable=True)
    assert asked == [(7, "remark", "scar")]
    assert line.text() == ""


def test_a_choice_is_chosen(section: FieldSection, asked: list[tuple[object, ...]], qtbot: QtBot) -> None:
    sex = section.editor("sex")
    sex.setFocus()
    qtbot.keyClick(sex, Key.Key_Up)
    qtbot.keyClick(sex, Key.Key_Up)
    assert asked == [(7, "sex", "female"), (7, "sex", "")]
