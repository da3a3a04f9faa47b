"""The grid behind a feature's page: not sorted meanwhile, updated when the page is left."""

from PySide6.QtWidgets import QWidget

from engine.collection.state import NO_CLASS
from tests.support.desk import Desk
from tests.support.sessions import act


def test_labels_given_on_a_page_are_seen_when_it_is_left(reviewing: Desk) -> None:
    """Labelled cards leave "To review" then; the inspector shows the current card again."""
    workspace, session = reviewing.window.workspace, reviewing.window.session
    page = QWidget()
    workspace.show_page(page, "Groups", rests_grid=True)
    free = reviewing.state.image_ids[reviewing.state.label_class == NO_CLASS].tolist()
    act(
        reviewing.qtbot,
        session,
        lambda project: project.labels.set(free[:5], reviewing.graph.find("Blue")),
    )
    reviewing.wait(lambda: session.is_settled)
    assert workspace.model.rowCount() == 40
    workspace.close_page(page)
    assert workspace.model.rowCount() == 35
    assert workspace.model.state is not None
    assert set(workspace.model.image_ids.tolist()) == set(free[5:])
    reviewing.wait(lambda: reviewing.inspected == workspace.grid.current_id)
