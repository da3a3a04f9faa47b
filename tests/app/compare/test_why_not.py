"""One image next to the labelled images of its two most likely classes."""

from collections.abc import Sequence
from functools import partial

import pytest
from PySide6.QtCore import Qt

from app.compare.controller import Comparing
from app.compare.why_not import WhyNotPage
from app.image_view.canvas import ImageCanvas
from engine.collection.state import NO_CLASS
from tests.support.desk import Desk
from tests.support.sessions import LONG_MS, changed_by

Key = Qt.Key


def asked(desk: Desk, row: int = 0) -> WhyNotPage:
    """The page after C on one card, with examples."""
    image_id = desk.choose(row)
    desk.press(Key.Key_C)
    page = desk.window.of(Comparing).why_not
    assert page is not None
    assert page.image_id == image_id
    desk.wait(lambda: page.pane.canvas.has_image and all(part.shot_ids for part in page.rows))
    return page


def have_images(canvases: Sequence[ImageCanvas]) -> bool:
    """Whether all pictures are loaded."""
    return all(canvas.has_image for canvas in canvases)


@pytest.mark.slow
def test_the_two_most_likely_classes_with_their_nearest_shots(reviewing: Desk) -> None:
    """In the order of their keys; each example has that label, and its picture is loaded."""
    page = asked(reviewing)
    tops = reviewing.window.inspector.top_classes_of(page.image_id)
    assert [rival.class_id for rival in page.rivals] == list(tops[:2])
    for part, rival in zip(page.rows, page.rivals, strict=True):
        assert part.line.accessibleName().startswith(rival.name)
        assert 1 <= len(part.shot_ids) <= 3
        assert {reviewing.label_of(shot) for shot in part.shot_ids} == {rival.name}
        canvases = part.canvases[: len(part.shot_ids)]
        reviewing.qtbot.waitUntil(partial(have_images, canvases), timeout=LONG_MS)


@pytest.mark.slow
def test_keys_decide_and_the_next_image_comes(reviewing: Desk) -> None:
    """2 labels as the second class; Esc returns to the grid, at the current card."""
    page = asked(reviewing)
    image_id, second = page.image_id, page.rivals[1].name
    reviewing.press(Key.Key_2)
    reviewing.wait(lambda: reviewing.label_of(image_id) == second)
    assert page.image_id == reviewing.grid.current_id != image_id
    reviewing.wait(lambda: all(part.shot_ids for part in page.rows))
    reviewing.press(Key.Key_Escape)
    assert reviewing.window.of(Comparing).why_not is None
    assert reviewing.grid.hasFocus()
    assert reviewing.grid.current_id == page.image_id


def test_a_click_on_a_class_decides_as_well(reviewing: Desk) -> None:
    """A click labels as in the rows of the inspector."""
    page = asked(reviewing)
    image_id, rival = page.image_id, page.rivals[1]
    reviewing.qtbot.mouseClick(page.rows[1].line, Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: reviewing.label_of(image_id) == rival.name)


@pytest.mark.slow
def test_enter_on_a_class_means_that_class(reviewing: Desk) -> None:
    """Enter on a class labels with that class, not with the predicted one."""
    page = asked(reviewing)
    image_id, rival = page.image_id, page.rivals[1]
    page.rows[1].line.setFocus()
    reviewing.press(Key.Key_Return)
    reviewing.wait(lambda: reviewing.label_of(image_id) == rival.name)


@pytest.mark.slow
def test_what_separates_the_classes_as_far_as_it_is_known(reviewing: Desk) -> None:
    """The note of a class, and the paths of both classes."""
    page = asked(reviewing)
    rival = page.rivals[0]
    session = reviewing.window.session
    note = "Paler below, and without spots"
    changed_by(
        reviewing.qtbot,
        session,
        lambda: session.act(
            lambda project: project.classes.set_attributes([rival.class_id], note=note)
        ),
    )
    reviewing.wait(lambda: page.rows[0].note.text() == note)
    assert page.bar.text.text()


@pytest.mark.slow
def test_a_missing_prediction_is_reported(reviewing: Desk) -> None:
    """Without labels there are no classes to compare with."""
    page = asked(reviewing)
    labelled = reviewing.state.image_ids[reviewing.state.label_class != NO_CLASS].tolist()
    session = reviewing.window.session
    changed_by(
        reviewing.qtbot,
        session,
        lambda: session.act(lambda project: project.labels.remove(labelled)),
    )
    reviewing.wait(page.message.isVisible)
    assert "no prediction yet" in page.message.text()
    assert page.rows[0].isHidden()


@pytest.mark.slow
def test_page_keys_go_through_the_grid(reviewing: Desk) -> None:
    """The page follows the grid."""
    page = asked(reviewing)
    first = page.image_id
    reviewing.press(Key.Key_PageDown)
    assert page.image_id == int(reviewing.window.workspace.model.image_ids[1])
    reviewing.press(Key.Key_PageUp)
    assert page.image_id == first
