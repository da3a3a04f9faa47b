"""The bar on its curve: dragged in a hand, it says what it would do, and is set when it is let go."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QSlider
from pytestqt.qtbot import QtBot

from app.inspector.bar_chart import HANDLE_INSET, BarChart
from app.inspector.bar_section import HIGHEST_BAR, LOWEST_BAR
from app.inspector.class_page import ClassPage
from app.inspector.page import Paragraph
from app.inspector.wording import bar_text, curve_text
from tests.support.inspected import curve_of_class, facts_of_class
from tests.support.inspector_pane import Pane
from tests.support.sessions import LONG_MS


@pytest.fixture
def page(pane: Pane) -> ClassPage:
    """A class of which 20 images were held out."""
    return pane.show_class(facts_of_class(curve=curve_of_class()))


def _place(chart: BarChart, percent: int) -> QPoint:
    share = (percent - LOWEST_BAR) / (HIGHEST_BAR - LOWEST_BAR)
    return QPoint(round(HANDLE_INSET + share * (chart.width() - 2 * HANDLE_INSET)), chart.height() // 3)


def test_the_bar_is_dragged_on_the_curve_and_set_when_it_is_let_go(page: ClassPage, qtbot: QtBot) -> None:
    chart, slider = page.findChildren(BarChart)[0], page.findChildren(QSlider)[0]
    asked: list[object] = []
    page.bar_requested.connect(asked.append)
    assert slider.value() == 80
    QTest.mousePress(chart, Qt.MouseButton.LeftButton, pos=_place(chart, 80))
    for percent in (75, 65, 60):
        QTest.mouseMove(chart, _place(chart, percent))
    assert abs(slider.value() - 60) <= 1
    said = f"At {slider.value()}%, "
    assert any(part.text().startswith(said) for part in page.findChildren(Paragraph))
    assert page.is_in_hand
    assert asked == []
    QTest.mouseRelease(chart, Qt.MouseButton.LeftButton, pos=_place(chart, 60))
    qtbot.waitUntil(lambda: asked == [slider.value() / 100], timeout=LONG_MS)


def test_a_class_without_held_out_images_has_a_slider_alone(pane: Pane) -> None:
    page = pane.show_class(facts_of_class())
    assert page.findChildren(BarChart) == []
    assert len(page.findChildren(QSlider)) == 1


def test_a_read_only_bar_stays(pane: Pane) -> None:
    page = pane.show_class(facts_of_class(curve=curve_of_class()), is_writable=False)
    chart, slider = page.findChildren(BarChart)[0], page.findChildren(QSlider)[0]
    QTest.mousePress(chart, Qt.MouseButton.LeftButton, pos=_place(chart, 40))
    QTest.mouseMove(chart, _place(chart, 50))
    QTest.mouseRelease(chart, Qt.MouseButton.LeftButton, pos=_place(chart, 50))
    assert (slider.value(), page.is_in_hand) == (80, False)


def test_what_a_confidence_does_is_said_in_words() -> None:
    curve = curve_of_class()
    assert curve_text(curve, 0.4) == (
        "At 40%, 15 of 20 held-out images of this class are named as it or a class below it. "
        "Of all images named so, 87% are right (95% confidence interval 62% to 96%)."
    )
    assert curve_text(curve, 0.99) == (
        "At 99%, 0 of 20 held-out images of this class are named as it or a class below it."
    )


def test_an_inherited_bar_says_where_it_is_set() -> None:
    facts = facts_of_class()
    assert "Set on" not in bar_text(facts)
    inherited = replace(facts, own_bar=None, bar_from="Bird")
    assert bar_text(inherited) == "Set on Bird. Below this, the broader class is used."
