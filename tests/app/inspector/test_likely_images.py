"""Likely images of a class are ticked by clicks and labelled together; nothing moves under the mouse meanwhile."""

import pytest
from PySide6.QtCore import QPoint, Qt

from app.images.strip import GAP, ThumbnailStrip
from app.inspector.likely_images import LikelyImages
from engine.collection.state import NO_CLASS
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import changed_by
from tests.support.widgets import button

SIDE = 56
CLASS = "Blue checks"


@pytest.fixture
def likely(reviewing: Desk) -> LikelyImages:
    """The likely images of a class, on its page."""
    reviewing.window.tree.select_class(reviewing.graph.find(CLASS))
    reviewing.window.tree.front.setFocus()
    inspector = reviewing.window.inspector
    reviewing.wait(lambda: inspector.class_facts is not None and inspector.class_facts.name == CLASS)
    (likely,) = [each for each in inspector.findChildren(LikelyImages) if each.isVisible()]
    return likely


def candidates(desk: Desk) -> tuple[int, ...]:
    """The likely images in the order in which they are shown."""
    facts = desk.window.inspector.class_facts
    assert facts is not None
    return facts.candidates


def click_image(desk: Desk, likely: LikelyImages, place: int) -> None:
    """Click a thumbnail of the first row."""
    (strip,) = likely.findChildren(ThumbnailStrip)
    point = QPoint(place * (SIDE + GAP) + SIDE // 2, SIDE // 2)
    desk.qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=point)


def test_ticked_images_are_labelled_together(reviewing: Desk, likely: LikelyImages) -> None:
    """Two clicks, one button, one step that one undo takes back; a second click on an image takes the tick off."""
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


def test_nothing_moves_while_images_are_ticked(reviewing: Desk, likely: LikelyImages) -> None:
    """A label given elsewhere changes what is likely; the page shows that when the ticks are gone."""
    before = candidates(reviewing)
    click_image(reviewing, likely, 0)
    reviewing.window.session.label([before[1]], reviewing.graph.find("Red disc"))
    reviewing.wait(lambda: reviewing.window.session.is_settled)
    reviewing.qtbot.wait(200)
    assert candidates(reviewing) == before
    click_image(reviewing, likely, 0)
    reviewing.window.session.label([before[2]], reviewing.graph.find("Red disc"))
    reviewing.wait(lambda: before[1] not in candidates(reviewing))


def test_leaving_the_page_labels_what_is_ticked(reviewing: Desk, likely: LikelyImages) -> None:
    """Nothing that was ticked is lost; an image that got another label meanwhile keeps it."""
    first, second = candidates(reviewing)[:2]
    click_image(reviewing, likely, 0)
    click_image(reviewing, likely, 1)
    reviewing.window.session.label([second], reviewing.graph.find("Red disc"))
    reviewing.window.tree.select_class(reviewing.graph.find("Red disc"))
    reviewing.wait(lambda: reviewing.label_of(first) == CLASS)
    assert reviewing.label_of(second) == "Red disc"


def test_a_class_that_goes_away_takes_its_ticks_along(reviewing: Desk, likely: LikelyImages) -> None:
    """There is nothing to label them as."""
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
