"""A project opens with "Teach first" while a class has few labels, else with its own order."""

import pytest
from PySide6.QtCore import Qt

from app.image_grid.held_order import Order
from app.settings import Settings
from app.workspace.project_order import ENOUGH_LABELS, default_order
from engine.project import Project
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.sessions import create_project


@pytest.mark.parametrize(
    ("counts", "order"),
    [
        ({}, Order.TEACH_FIRST),
        ({1: ENOUGH_LABELS}, Order.TEACH_FIRST),
        ({1: ENOUGH_LABELS, 2: ENOUGH_LABELS - 1, 3: 90}, Order.TEACH_FIRST),
        ({1: ENOUGH_LABELS, 2: ENOUGH_LABELS}, Order.UNSURE_FIRST),
    ],
)
def test_while_a_class_has_few_labels(counts: dict[int, int], order: Order) -> None:
    """Labels of its parents do not count."""
    assert default_order([1, 2], counts) is order


@pytest.mark.slow
def test_a_project_opens_with_what_teaches_most(desk: Desk, collection: Collection) -> None:
    """The first image has the lowest teach rank."""
    desk.open(collection.project)
    workspace = desk.window.workspace
    assert workspace.model.order is Order.TEACH_FIRST
    desk.wait(lambda: desk.state.teach_rank is not None)
    ranks = desk.state.teach_rank
    assert ranks is not None
    desk.wait(lambda: workspace.model.image_ids[0] == desk.state.image_ids[ranks.argmin()])


@pytest.mark.slow
def test_what_was_chosen_stays_for_the_project_alone(
    desk: Desk, collection: Collection, settings: Settings
) -> None:
    """The order is restored for the project; another project has its own."""
    desk.open(collection.project)
    desk.window.registry.trigger("order_class")
    create_project(desk.qtbot, desk.window.session, collection.folder / "other.protoleaf")
    desk.wait(lambda: desk.window.workspace.model.order is Order.TEACH_FIRST)
    desk.open(collection.project)
    assert desk.window.workspace.model.order is Order.CLASS
    with Project.open(collection.project, for_writing=False) as project:
        assert settings.order_of(project.backups.project_id) == Order.CLASS


@pytest.mark.slow
def test_cards_under_a_hand_are_not_sorted(desk: Desk, collection: Collection) -> None:
    """A card clicked before the predictions arrive holds the order."""
    desk.open(collection.project)
    model = desk.window.workspace.model
    desk.qtbot.mouseClick(desk.grid.viewport(), Qt.MouseButton.LeftButton)
    assert model.is_held
    desk.window.session.loaded.emit()
    assert model.is_held
