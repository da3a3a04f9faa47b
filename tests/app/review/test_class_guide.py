"""A notice below the images names the class to label next, while some have no examples."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.status.notice import Notice
from tests.support.desk import CONTROL, Desk
from tests.support.widgets import button, texts


def guide_of(desk: Desk) -> Notice:
    """The notice, visible or not; the first one is about keys."""
    return [each for each in desk.window.workspace.footer.strips if isinstance(each, Notice)][1]


def unlabel(desk: Desk, name: str) -> None:
    """Remove all examples of a class."""
    state, class_id = desk.state, desk.graph.find(name)
    image_ids = state.image_ids[state.label_class == class_id].tolist()
    desk.window.session.act(lambda project: project.labels.remove(image_ids))


@pytest.mark.slow
def test_the_next_class_is_opened_until_all_have_examples(reviewing: Desk) -> None:
    """It is updated with each fit, stays while its class is shown, and ends with the last class."""
    guide = guide_of(reviewing)
    assert guide.isHidden()
    unlabel(reviewing, "Red disc")
    reviewing.wait(guide.isVisible)
    words = "7 of 8 classes have examples. Label 3 images of each; next: Red disc."
    assert words in texts(guide)
    QTest.mouseClick(button(guide, "Show the class"), Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: reviewing.window.tree.selected_class == reviewing.graph.find("Red disc"))
    assert guide.isVisible()
    reviewing.press_for_change(Qt.Key.Key_Z, CONTROL)
    reviewing.wait(guide.isHidden)


@pytest.mark.slow
def test_who_dismisses_it_is_left_alone(reviewing: Desk) -> None:
    """A dismissed notice stays away until the project is reopened."""
    guide, session = guide_of(reviewing), reviewing.window.session
    unlabel(reviewing, "Red disc")
    reviewing.wait(guide.isVisible)
    QTest.mouseClick(button(guide, "Dismiss"), Qt.MouseButton.LeftButton)
    answers: list[object] = []
    unlabel(reviewing, "Blue disc")
    reviewing.wait(
        lambda: reviewing.state.unseen is not None and reviewing.state.unseen.unseen == 2
    )
    # Its result is delivered after that for the guide.
    session.ask(lambda _live: None, answers.append, owner=guide)
    reviewing.wait(lambda: bool(answers))
    assert guide.isHidden()
