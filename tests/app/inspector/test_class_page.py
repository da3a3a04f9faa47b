"""The class page: threshold curve, and likely images to label."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QSlider
from pytestqt.qtbot import QtBot

from app.images.strip import GAP, ThumbnailStrip
from app.inspector.bar_section import HANDLE_INSET, HIGHEST_BAR, LOWEST_BAR, BarChart
from app.inspector.class_page import ClassPage, LikelyImages
from app.inspector.page import Paragraph
from app.inspector.wording import bar_text, curve_text
from engine.collection.state import NO_CLASS
from tests.support.desk import CONTROL, Desk
from tests.support.inspected import curve_of_class, facts_of_class
from tests.support.inspector_pane import Pane
from tests.support.sessions import LONG_MS, changed_by
from tests.support.widgets import button


@pytest.fixture
def page(pane: Pane) -> ClassPage:
    """The page of a class with 20 held-out images."""
    return pane.show_class(facts_of_class(curve=curve_of_class()))


def _place(chart: BarChart, percent: int) -> QPoint:
    share = (percent - LOWEST_BAR) / (HIGHEST_BAR - LOWEST_BAR)
    return QPoint(
        round(HANDLE_INSET + share * (chart.width() - 2 * HANDLE_INSET)), chart.height() // 3
    )


def test_the_bar_is_dragged_on_the_curve_and_set_when_it_is_let_go(
    pane: Pane, page: ClassPage, qtbot: QtBot
) -> None:
    chart, slider = page.findChildren(BarChart)[0], page.findChildren(QSlider)[0]
    asked: list[object] = []
    pane.requests.bar_requested.connect(lambda _class_id, bar: asked.append(bar))
    assert slider.value() == 80
    QTest.mousePress(chart, Qt.MouseButton.LeftButton, pos=_place(chart, 80))
    for percent in (75, 65, 60):
        QTest.mouseMove(chart, _place(chart, percent))
    assert abs(slider.value() - 60) <= 1
    beginning = f"At {slider.value()}%, "
    assert any(part.text().startswith(beginning) for part in page.findChildren(Paragraph))
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


def test_what_a_confidence_does_is_explained_in_words() -> None:
    curve = curve_of_class()
    assert curve_text(curve, 0.4) == (
        "At 40%, 15 of 20 held-out images of this class are predicted as it or a class below it. "
        "Of all images predicted so, 87% are correct (95% confidence interval 62% to 96%)."
    )
    assert curve_text(curve, 0.99) == (
        "At 99%, 0 of 20 held-out images of this class are predicted as it or a class below it."
    )


def test_an_inherited_bar_says_where_it_is_set() -> None:
    facts = facts_of_class()
    assert "Set on" not in bar_text(facts)
    inherited = replace(facts, own_bar=None, bar_from="Bird")
    assert bar_text(inherited) == "Set on Bird. Below this, the broader class is used."


SIDE = 56
CLASS = "Blue checks"


@pytest.fixture
def likely(reviewing: Desk) -> LikelyImages:
    """The likely images on the page of a class."""
    reviewing.window.tree.select_class(reviewing.graph.find(CLASS))
    reviewing.window.tree.front.setFocus()
    inspector = reviewing.window.inspector
    reviewing.wait(
        lambda: inspector.class_facts is not None and inspector.class_facts.name == CLASS
    )
    (likely,) = [each for each in inspector.findChildren(LikelyImages) if each.isVisible()]
    return likely


def candidates(desk: Desk) -> tuple[int, ...]:
    """The likely images in the order shown."""
    facts = desk.window.inspector.class_facts
    assert facts is not None
    return facts.candidates


def click_image(desk: Desk, likely: LikelyImages, place: int) -> None:
    """Click a thumbnail of the first row."""
    (strip,) = likely.findChildren(ThumbnailStrip)
    point = QPoint(place * (SIDE + GAP) + SIDE // 2, SIDE // 2)
    desk.qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=point)


@pytest.mark.slow
def test_ticked_images_are_labelled_together(reviewing: Desk, likely: LikelyImages) -> None:
    """Two clicks and one button make one undoable step; a second click unticks an image."""
    first, second, third = candidates(reviewing)[:3]
    for place in (0, 1, 2, 1):
        click_image(reviewing, likely, place)
    assert (reviewing.label_of(first), reviewing.label_of(third)) == ("", "")
    label = button(likely, f"Label 2 images as {CLASS}")
    changed_by(
        reviewing.qtbot,
        reviewing.window.session,
        lambda: reviewing.qtbot.mouseClick(label, Qt.MouseButton.LeftButton),
    )
    labels = [reviewing.label_of(image_id) for image_id in (first, second, third)]
    assert labels == [CLASS, "", CLASS]
    reviewing.grid.setFocus()
    reviewing.press_for_change(Qt.Key.Key_Z, CONTROL)
    assert (reviewing.label_of(first), reviewing.label_of(third)) == ("", "")


@pytest.mark.slow
def test_nothing_moves_while_images_are_ticked(reviewing: Desk, likely: LikelyImages) -> None:
    """Likely images that changed meanwhile are shown once no image is ticked."""
    before = candidates(reviewing)
    click_image(reviewing, likely, 0)
    reviewing.window.session.label([before[1]], reviewing.graph.find("Red disc"))
    reviewing.wait(lambda: reviewing.window.session.is_settled)
    reviewing.qtbot.wait(200)
    assert candidates(reviewing) == before
    click_image(reviewing, likely, 0)
    reviewing.window.session.label([before[2]], reviewing.graph.find("Red disc"))
    reviewing.wait(lambda: before[1] not in candidates(reviewing))


@pytest.mark.slow
def test_leaving_the_page_labels_what_is_ticked(reviewing: Desk, likely: LikelyImages) -> None:
    """Ticked images are labelled; one labelled otherwise meanwhile keeps its label."""
    first, second = candidates(reviewing)[:2]
    click_image(reviewing, likely, 0)
    click_image(reviewing, likely, 1)
    reviewing.window.session.label([second], reviewing.graph.find("Red disc"))
    reviewing.window.tree.select_class(reviewing.graph.find("Red disc"))
    reviewing.wait(lambda: reviewing.label_of(first) == CLASS)
    assert reviewing.label_of(second) == "Red disc"


@pytest.mark.slow
def test_a_class_that_goes_away_takes_its_ticks_along(
    reviewing: Desk, likely: LikelyImages
) -> None:
    """Ticked images of a removed class are not labelled."""
    first = candidates(reviewing)[0]
    class_id = reviewing.graph.find(CLASS)
    click_image(reviewing, likely, 0)
    session = reviewing.window.session
    session.act(lambda project: project.classes.remove([class_id]))
    reviewing.wait(lambda: class_id not in reviewing.graph and session.is_settled)
    reviewing.window.tree.select_class(reviewing.graph.find("Red disc"))
    reviewing.wait(lambda: session.is_settled)
    place = reviewing.state.position(first)
    assert int(reviewing.state.label_class[place]) == NO_CLASS
