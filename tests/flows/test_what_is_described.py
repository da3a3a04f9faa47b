"""The inspector shows the image in front, and no image that is elsewhere or already large."""

import pytest
from PySide6.QtCore import Qt

from app.graph_suggestions.controller import Suggesting
from app.inspector.image_page import Picture
from app.report.controller import ReportFeature
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.widgets import texts

Key = Qt.Key
HINT = "Select an image or a class"


def picture_of(desk: Desk) -> Picture:
    (picture,) = desk.window.inspector.findChildren(Picture)
    return picture


@pytest.mark.slow
def test_c14_an_open_image_is_not_repeated(reviewing: Desk) -> None:
    """In image view and comparison it has only facts; its picture returns afterwards."""
    image_id = reviewing.choose(0)
    assert picture_of(reviewing).isVisible()
    reviewing.press(Key.Key_Space)
    reviewing.wait(lambda: reviewing.window.workspace.is_image_open)
    assert reviewing.inspected == image_id
    assert not picture_of(reviewing).isVisible()
    reviewing.press(Key.Key_Escape)
    assert picture_of(reviewing).isVisible()
    reviewing.press(Key.Key_Right, SHIFT)
    reviewing.press(Key.Key_C)
    reviewing.wait(lambda: not picture_of(reviewing).isVisible())
    assert reviewing.inspected is not None
    reviewing.press(Key.Key_Escape)
    reviewing.wait(lambda: picture_of(reviewing).isVisible())


def test_c14_the_pane_makes_room_for_a_report(reviewing: Desk) -> None:
    """The inspector is hidden beside a report, and returns with its card."""
    image_id, side = reviewing.choose(1), reviewing.window.side
    reviewing.press(Key.Key_E, CONTROL)
    reviewing.wait(
        lambda: reviewing.window.workspace.page is reviewing.window.of(ReportFeature).page
    )
    assert not side.isVisible()
    assert reviewing.inspected is None
    reviewing.window.workspace.grid.publish_current()
    assert reviewing.inspected is None
    reviewing.press(Key.Key_Escape)
    assert side.isVisible()
    reviewing.wait(lambda: reviewing.inspected == image_id)


@pytest.mark.slow
def test_the_pane_can_be_brought_back_beside_a_report(reviewing: Desk) -> None:
    """A key shows it, without an image; the next report hides it again."""
    reviewing.choose(1)
    reviewing.press(Key.Key_E, CONTROL)
    reviewing.wait(lambda: not reviewing.window.side.isVisible())
    reviewing.window.panes.toggle_right()
    assert reviewing.window.side.isVisible()
    assert HINT in texts(reviewing.window.inspector)
    reviewing.press(Key.Key_Escape)
    assert reviewing.window.side.isVisible()


@pytest.mark.slow
@pytest.mark.parametrize("key", [Key.Key_M, Key.Key_G])
def test_c14_no_image_beside_the_map_or_the_graph(reviewing: Desk, key: Qt.Key) -> None:
    """No image is shown until a point or class is selected; back in the grid the card is."""
    image_id, window = reviewing.choose(1), reviewing.window
    if key is Key.Key_M:
        reviewing.press(key, CONTROL)
    else:
        window.registry.trigger("show_graph")
    reviewing.wait(lambda: reviewing.inspected is None)
    assert HINT in texts(window.inspector)
    if key is Key.Key_M:
        reviewing.press(Key.Key_Escape)
    else:
        window.registry.trigger("show_graph")
    reviewing.wait(lambda: reviewing.inspected == image_id)


@pytest.mark.slow
def test_c14_suggestions_have_no_image_beside_them(reviewing: Desk) -> None:
    """They replace the inspector; in the graph nothing is shown behind them."""
    reviewing.choose(1)
    reviewing.window.registry.trigger("show_graph")
    reviewing.press(Key.Key_G, CONTROL | SHIFT)
    panel = reviewing.window.of(Suggesting).panel
    assert panel is not None
    assert panel.isVisible()
    assert not reviewing.window.inspector.isVisible()
    panel.setFocus()
    reviewing.press(Key.Key_Escape)
    assert reviewing.window.inspector.isVisible()
    assert reviewing.inspected is None
