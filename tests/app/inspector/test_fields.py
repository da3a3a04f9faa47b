"""The fields of an image in the inspector: shown, and edited by keys and mouse."""

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QComboBox
from pytestqt.qtbot import QtBot

from app.inspector.fields import CountBox, FieldSection, ValueLine
from app.inspector.page import PageRequests
from engine.image_fields import CAMERA_TRAP, COUNT, FieldKind, ImageField
from tests.support.sessions import LONG_MS, recorded

FIELDS = (
    COUNT,
    CAMERA_TRAP[0],
    ImageField("antlers", FieldKind.YES_NO),
    ImageField("remark", FieldKind.TEXT),
)
Key = Qt.Key


@pytest.fixture
def section(qtbot: QtBot) -> FieldSection:
    owner = QObject()
    shown = FieldSection(PageRequests(owner))
    owner.setParent(shown)
    qtbot.addWidget(shown)
    shown.show_values(
        7, FIELDS, {"count": "12", "sex": "male", "remark": "torn ear"}, is_writable=True
    )
    shown.show()
    shown.activateWindow()
    qtbot.waitUntil(shown.isActiveWindow, timeout=LONG_MS)
    return shown


@pytest.fixture
def asked(section: FieldSection) -> list[tuple[object, ...]]:
    return recorded(section._requests.field_set)  # noqa: SLF001 (the emitted requests)


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


def test_a_count_is_typed(
    section: FieldSection, asked: list[tuple[object, ...]], qtbot: QtBot
) -> None:
    left = recorded(section._requests.left)  # noqa: SLF001 (the emitted requests)
    box = count_of(section)
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


def test_a_choice_is_chosen(
    section: FieldSection, asked: list[tuple[object, ...]], qtbot: QtBot
) -> None:
    sex = section.editor("sex")
    sex.setFocus()
    qtbot.keyClick(sex, Key.Key_Up)
    qtbot.keyClick(sex, Key.Key_Up)
    assert asked == [(7, "sex", "female"), (7, "sex", "")]


MIXED = {"count": None, "sex": None, "antlers": None, "remark": None}


@pytest.fixture
def mixed(section: FieldSection) -> FieldSection:
    """Several images with different values in every field."""
    section.show_values(7, FIELDS, MIXED, is_writable=True)
    return section


def box_of(section: FieldSection, name: str) -> QComboBox:
    box = section.editor(name)
    assert isinstance(box, QComboBox)
    return box


def shown_in(section: FieldSection) -> list[str]:
    boxes = [box_of(section, name) for name in ("sex", "antlers")]
    texts = [box.currentText() or box.placeholderText() for box in boxes]
    line = line_of(section)
    return [count_of(section).text(), *texts, line.text() or line.placeholderText()]


def test_values_that_differ_are_mixed_and_left_alone(
    mixed: FieldSection, asked: list[tuple[object, ...]], qtbot: QtBot
) -> None:
    """Walking through all fields, with Enter and Esc in text fields, changes nothing."""
    assert shown_in(mixed) == ["Mixed"] * 4
    count_of(mixed).setFocus(Qt.FocusReason.TabFocusReason)
    for _ in FIELDS:
        qtbot.keyClick(QApplication.focusWidget(), Key.Key_Tab)
    for editor in (count_of(mixed), line_of(mixed)):
        editor.setFocus()
        qtbot.keyClick(editor, Key.Key_Return)
        qtbot.keyClick(editor, Key.Key_Escape)
    assert (shown_in(mixed), asked) == (["Mixed"] * 4, [])
    mixed.show_values(7, FIELDS, {"count": "3", "antlers": "no"}, is_writable=True)
    assert shown_in(mixed) == ["3", "–", "No", "–"]  # noqa: RUF001 (an en dash)


@pytest.mark.parametrize("reason", [Qt.FocusReason.TabFocusReason, Qt.FocusReason.MouseFocusReason])
def test_a_count_is_typed_over_mixed_ones(
    mixed: FieldSection, asked: list[tuple[object, ...]], qtbot: QtBot, reason: Qt.FocusReason
) -> None:
    box = count_of(mixed)
    if reason == Qt.FocusReason.MouseFocusReason:
        qtbot.mouseClick(box.lineEdit(), Qt.MouseButton.LeftButton)
    else:
        box.setFocus(reason)
    qtbot.keyClicks(box, "12")
    qtbot.keyClick(box, Key.Key_Return)
    assert asked == [(7, "count", "12")]


def test_a_count_is_typed_after_a_click_where_there_is_none(
    section: FieldSection, asked: list[tuple[object, ...]], qtbot: QtBot
) -> None:
    section.show_values(7, FIELDS, {}, is_writable=True)
    box = count_of(section)
    qtbot.mouseClick(box.lineEdit(), Qt.MouseButton.LeftButton)
    qtbot.keyClicks(box, "4")
    qtbot.keyClick(box, Key.Key_Return)
    assert asked == [(7, "count", "4")]


@pytest.mark.parametrize(("typed", "value"), [("0", ""), ("7", "7")])
def test_mixed_counts_become_one_or_none(
    mixed: FieldSection, asked: list[tuple[object, ...]], qtbot: QtBot, typed: str, value: str
) -> None:
    box = count_of(mixed)
    box.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClicks(box, typed)
    qtbot.keyClick(box, Key.Key_Return)
    assert asked == [(7, "count", value)]


def test_the_first_step_from_mixed_counts_is_one(
    mixed: FieldSection, asked: list[tuple[object, ...]], qtbot: QtBot
) -> None:
    qtbot.keyClick(count_of(mixed), Key.Key_Down)
    assert asked == []
    qtbot.keyClick(count_of(mixed), Key.Key_Up)
    assert asked == [(7, "count", "1")]


def test_a_choice_and_a_text_replace_mixed_ones(
    mixed: FieldSection, asked: list[tuple[object, ...]], qtbot: QtBot
) -> None:
    sex = box_of(mixed, "sex")
    sex.setFocus()
    qtbot.keyClicks(sex, "m")
    antlers = box_of(mixed, "antlers")
    qtbot.mouseClick(antlers, Qt.MouseButton.LeftButton)
    qtbot.keyClick(antlers.view(), Key.Key_End)
    qtbot.keyClick(antlers.view(), Key.Key_Return)
    line = line_of(mixed)
    line.setFocus()
    qtbot.keyClicks(line, "scar")
    qtbot.keyClick(line, Key.Key_Return)
    assert asked == [(7, "sex", "male"), (7, "antlers", "no"), (7, "remark", "scar")]
