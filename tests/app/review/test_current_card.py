"""Predictions follow each label; the current card keeps its ranking, which keys refer to."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.image_grid.model import CARD_ROLE
from app.inspector.page import ScoreLine
from app.session import current_card
from engine.project import ClassPolicy
from tests.support.desk import SHIFT, Desk

pytestmark = pytest.mark.slow

Key = Qt.Key
NEVER_S = 1e6


def click_card(desk: Desk, row: int) -> int:
    """Click a card; returns its image once its ranking is complete."""
    place = desk.grid.visualRect(desk.grid.model().index(row, 0)).center()
    desk.qtbot.mouseClick(desk.grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    image_id = desk.grid.current_id
    assert image_id is not None
    desk.wait(lambda: not desk.window.inspector.is_waiting_for(image_id))
    return image_id


def learn_otherwise(desk: Desk, image_id: int) -> str:
    """Label similar images as another class, so that the prediction of an image changes.

    Returns the class that was predicted before.
    """
    session, state = desk.window.session, desk.state
    best = int(state.best_class[state.position(image_id)])
    other = next(
        class_id for class_id in np.unique(state.best_class).tolist() if class_id not in {best, -1}
    )
    alike = state.image_ids[(state.best_class == best) & (state.image_ids != image_id)].tolist()
    session.label(alike, other)
    desk.wait(lambda: desk.best_of(image_id) == desk.graph.name(other))
    return desk.graph.name(best)


def title_on_card(desk: Desk) -> str:
    """The title of the current card."""
    return str(desk.grid.currentIndex().data(CARD_ROLE).title).rstrip("?")


def headline_of(desk: Desk, image_id: int) -> str:
    """The class that the newest predictions would put first on a card."""
    place = desk.state.position(image_id)
    safe = int(desk.state.safe_class[place])
    return desk.graph.name(safe) if safe >= 0 else desk.best_of(image_id)


def first_row(desk: Desk) -> ScoreLine:
    """The row of the digit 1."""
    inspector = desk.window.inspector
    return next(line for line in inspector.findChildren(ScoreLine) if line.isVisibleTo(inspector))


@pytest.mark.parametrize("key", [Key.Key_1, Key.Key_Return])
def test_the_card_keeps_what_it_says_while_somebody_works(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch, key: Key
) -> None:
    """Card, inspector and keys agree, whatever was learned meanwhile."""
    monkeypatch.setattr(current_card, "QUIET_S", NEVER_S)
    image_id = click_card(reviewing, 7)
    before = learn_otherwise(reviewing, image_id)
    assert title_on_card(reviewing) == before
    assert before in first_row(reviewing).accessibleName()
    reviewing.press(key)
    assert reviewing.label_of(image_id) == before


def test_after_a_quiet_moment_the_card_says_what_is_known(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key within the reaction time of the change still refers to the previous ranking."""
    monkeypatch.setattr(current_card, "QUIET_S", 0.0)
    monkeypatch.setattr(current_card, "REACTION_S", NEVER_S)
    image_id = click_card(reviewing, 7)
    before = learn_otherwise(reviewing, image_id)
    reviewing.wait(lambda: title_on_card(reviewing) == headline_of(reviewing, image_id))
    assert before not in first_row(reviewing).accessibleName()
    reviewing.press(Key.Key_1)
    assert reviewing.label_of(image_id) == before


def test_a_row_that_changed_under_the_mouse_means_what_stood_there(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same as for its digit."""
    monkeypatch.setattr(current_card, "QUIET_S", 0.0)
    monkeypatch.setattr(current_card, "REACTION_S", NEVER_S)
    image_id = click_card(reviewing, 7)
    before = learn_otherwise(reviewing, image_id)
    reviewing.wait(lambda: before not in first_row(reviewing).accessibleName())
    reviewing.qtbot.mouseClick(first_row(reviewing), Qt.MouseButton.LeftButton)
    assert reviewing.label_of(image_id) == before


def test_what_waits_is_one_click_away(reviewing: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A button next to the heading, shown only while an update is pending."""
    monkeypatch.setattr(current_card, "QUIET_S", NEVER_S)
    image_id = click_card(reviewing, 7)
    learn_otherwise(reviewing, image_id)
    button = next(
        each
        for each in reviewing.window.inspector.findChildren(QWidget)
        if each.accessibleName() == "Show the updated prediction"
    )
    reviewing.wait(button.isVisible)
    reviewing.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert title_on_card(reviewing) == headline_of(reviewing, image_id)
    assert not button.isVisible()


def test_a_card_that_is_left_says_what_is_known(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other card keeps an old prediction."""
    monkeypatch.setattr(current_card, "QUIET_S", NEVER_S)
    image_id = click_card(reviewing, 7)
    learn_otherwise(reviewing, image_id)
    reviewing.press(Key.Key_Right)
    model = reviewing.window.workspace.model
    row = model.image_ids.tolist().index(image_id)
    reviewing.wait(
        lambda: (
            model.index(row, 0).data(CARD_ROLE).title.rstrip("?")
            == headline_of(reviewing, image_id)
        )
    )
    assert reviewing.label_of(image_id) == ""


@pytest.mark.parametrize(
    ("modifier", "is_leaf"), [(Qt.KeyboardModifier.NoModifier, False), (SHIFT, True)]
)
def test_enter_accepts_the_headline_and_shift_enter_the_leaf(
    reviewing: Desk, modifier: Qt.KeyboardModifier, *, is_leaf: bool
) -> None:
    """A card with "Red, Red disc?" is accepted as Red; both keys are shown on the card."""
    state, session = reviewing.state, reviewing.window.session
    image_id = int(reviewing.window.workspace.model.image_ids[3])
    leaf = int(state.best_class[state.position(image_id)])
    session.act(lambda project: project.policies.set(leaf, ClassPolicy(1.0)))
    safe = reviewing.graph.parents(leaf)[0]
    reviewing.wait(
        lambda: int(reviewing.state.safe_class[reviewing.state.position(image_id)]) == safe
    )
    row = reviewing.window.workspace.model.image_ids.tolist().index(image_id)
    reviewing.choose(row)
    assert title_on_card(reviewing) == reviewing.graph.name(safe)
    reviewing.press(Key.Key_Return, modifier)
    assert reviewing.label_of(image_id) == reviewing.graph.name(leaf if is_leaf else safe)
