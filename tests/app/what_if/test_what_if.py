"""What-if edits in the window: tried out, shown, kept as one step or discarded."""

import pytest
from PySide6.QtCore import Qt

from app.what_if.band import WhatIfBand
from app.what_if.controller import WhatIf
from engine.collection.state import NO_CLASS
from engine.project import ClassPolicy, Project
from tests.support.clipping import clipped
from tests.support.collections import Collection, without_its_views
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.live_states import assert_same, own_copy
from tests.support.sessions import act, changed_by

Key = Qt.Key


def begin(desk: Desk) -> WhatIfBand:
    """Press the key of what if; returns the banner."""
    band = desk.window.of(WhatIf).band
    assert not band.isVisible()
    desk.press(Key.Key_W, CONTROL | SHIFT)
    assert band.isVisible()
    desk.wait(lambda: desk.window.session.is_settled)
    return band


def try_out(desk: Desk) -> int:
    """Move a class and remove another; returns the number of changed images, counted one by one."""
    before = own_copy(desk.state)
    red, disc = desk.graph.find("Red"), desk.graph.find("Red disc")
    checks = desk.graph.find("Blue checks")
    act(desk.qtbot, desk.window.session, lambda project: project.classes.move([(disc, red)], None))
    act(desk.qtbot, desk.window.session, lambda project: project.classes.remove([checks]))
    free = (before.label_class == NO_CLASS) & (desk.state.label_class == NO_CLASS)
    return int((before.best_class != desk.state.best_class)[free].sum())


def click(desk: Desk, button: object) -> None:
    """Click a button."""
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def is_enabled(desk: Desk, name: str) -> bool:
    """Whether an action is enabled."""
    return desk.window.registry.action(name).isEnabled()


@pytest.mark.slow
def test_edits_are_seen_before_they_are_done(desk: Desk, collection: Collection) -> None:
    """The banner counts changes and accuracy, the panel shows images, discarding restores all."""
    desk.open(collection.project)
    before, kept_bytes = own_copy(desk.state), collection.project.read_bytes()
    band = begin(desk)
    assert "Nothing is saved until" in band.text
    assert desk.window.status_line.saved_mark.text() == "Changes are not saved yet"
    assert not band.keep_button.isEnabled()
    count = try_out(desk)
    assert count > 4
    desk.wait(lambda: f"{count} images would change class" in band.text)
    assert "2 changes, not saved" in band.text
    assert "Accuracy on held-out labels: " in band.text
    click(desk, band.images_button)
    panel = desk.window.of(WhatIf).panel
    assert panel is not None
    assert panel.isVisible()
    assert panel.text.startswith(f"{count} images would change class")
    assert "labelled images, each held out of both models" in panel.text
    assert panel.moves.model().index(0, 0).data().startswith("Blue checks → ")
    assert clipped(panel) == []
    assert clipped(band) == []
    assert collection.project.read_bytes() == kept_bytes
    click(desk, band.discard_button)
    desk.wait(lambda: not band.isVisible() and desk.window.session.is_settled)
    assert_same(desk.state, before)
    assert "Blue checks" in {desk.graph.name(each) for each in desk.graph.classes()}
    assert desk.window.toast.message == "Discarded. The project is as it was."
    assert desk.window.status_line.saved_mark.text() == "All changes saved"
    assert collection.project.read_bytes() == kept_bytes
    assert not desk.window.workspace.header.badge.isVisible()


@pytest.mark.slow
def test_what_is_kept_is_one_step_and_stays_shown(desk: Desk, collection: Collection) -> None:
    """Kept by keys; the badge counts the changes, and one undo reverts them."""
    desk.open(collection.project)
    before = own_copy(desk.state)
    band = begin(desk)
    count = try_out(desk)
    desk.wait(lambda: f"{count} images would change class" in band.text)
    change = changed_by(
        desk.qtbot, desk.window.session, lambda: desk.press(Key.Key_K, CONTROL | SHIFT)
    )
    assert change.text.startswith("Tried out 2 edits: ")
    badge = desk.window.workspace.header.badge
    desk.wait(lambda: not band.isVisible() and badge.isVisible())
    assert badge.accessibleName().startswith(f"{count} predictions changed")
    with Project.open(collection.project, for_writing=False) as beside:
        assert "Blue checks" not in {
            beside.classes.graph.name(each) for each in beside.classes.graph.classes()
        }
    changed_by(desk.qtbot, desk.window.session, lambda: desk.press(Key.Key_Z, CONTROL))
    assert_same(desk.state, before)
    desk.wait(lambda: badge.changes is not None and badge.changes.other_class == count)


@pytest.mark.slow
def test_undo_within_goes_back_to_where_it_began(desk: Desk, collection: Collection) -> None:
    """Undo stops at the start of what if; the banner is updated."""
    desk.open(collection.project)
    assert is_enabled(desk, "undo")
    band = begin(desk)
    assert not is_enabled(desk, "undo")
    red = desk.graph.find("Red")
    act(
        desk.qtbot, desk.window.session, lambda project: project.policies.set(red, ClassPolicy(1.0))
    )
    desk.wait(lambda: "would change in confidence only" in band.text)
    changed_by(desk.qtbot, desk.window.session, lambda: desk.press(Key.Key_Z, CONTROL))
    desk.wait(lambda: "Nothing is saved until" in band.text)
    assert not is_enabled(desk, "undo")
    assert is_enabled(desk, "redo")
    assert not band.keep_button.isEnabled()
    desk.press(Key.Key_D, CONTROL | SHIFT)
    desk.wait(lambda: not band.isVisible())
    assert is_enabled(desk, "undo")


@pytest.mark.slow
def test_what_leaves_the_project_waits_until_it_is_decided(
    desk: Desk, collection: Collection
) -> None:
    """What-if edits are not exported, trained on or backed up, and end with the project."""
    desk.open(collection.project)
    waiting = (
        "export",
        "import_labels",
        "backups",
        "add_images",
        "tune_propagation",
        "train_backbone",
        "choose_backbone",
        "what_if",
    )
    assert all(is_enabled(desk, name) for name in waiting)
    assert not is_enabled(desk, "keep_what_if")
    band = begin(desk)
    assert not any(is_enabled(desk, name) for name in waiting)
    assert is_enabled(desk, "keep_what_if")
    desk.window.session.close()
    desk.wait(lambda: desk.window.session.info is None)
    assert not band.isVisible()
    desk.open(collection.project)
    assert all(is_enabled(desk, name) for name in waiting)


@pytest.mark.slow
def test_what_was_tried_out_is_not_lost_by_closing_the_window(
    desk: Desk, collection: Collection
) -> None:
    """The person is asked first: stay, or decide and close; after an undo there is no question."""
    desk.open(collection.project)
    band, window = begin(desk), desk.window
    act(desk.qtbot, window.session, lambda project: project.classes.add("Yellow")[0])
    desk.wait(lambda: "Not saved: " in band.text)
    assert not window.close()
    assert "not saved yet" in band.text
    assert window.isVisible()
    assert clipped(band) == []
    click(desk, band.stay_button)
    assert "Not saved: " in band.text
    desk.press(Key.Key_W, CONTROL)
    assert "not saved yet" in band.text
    assert not window.close()
    click(desk, band.keep_button)
    desk.wait(lambda: not window.isVisible())
    with Project.open(collection.project, for_writing=False) as reopened:
        assert "Yellow" in {
            reopened.classes.graph.name(each) for each in reopened.classes.graph.classes()
        }


@pytest.mark.slow
def test_another_project_is_opened_once_it_is_decided(
    desk: Desk, collection: Collection, unread: Collection
) -> None:
    """Dropped on the window during what if, it is opened after the edits are discarded."""
    desk.open(collection.project)
    band, session = begin(desk), desk.window.session
    act(desk.qtbot, session, lambda project: project.classes.add("Yellow")[0])
    desk.wait(lambda: "Not saved: " in band.text)
    desk.drop_files(desk.grid, [unread.project])
    assert "not saved yet" in band.text
    assert session.info is not None
    assert session.info.path == collection.project
    click(desk, band.discard_button)
    desk.wait(lambda: session.info is not None and session.info.path == unread.project)
    desk.wait(lambda: session.is_settled)


def test_nothing_is_embedded_while_edits_are_tried_out(desk: Desk, collection: Collection) -> None:
    """Changes must come from the edits alone; embedding continues afterwards."""
    without_its_views(collection)
    desk.open(collection.project)
    embedding, what_if = desk.window.embedding, desk.window.session.what_if
    begin(desk)
    # During a pause images would be embedded in all their views.
    embedding.pause_timer.timeout.emit()
    assert embedding.job is None
    desk.press(Key.Key_D, CONTROL | SHIFT)
    desk.wait(lambda: embedding.job is not None)
    what_if.begin()
    desk.wait(lambda: what_if.is_on and embedding.job is None)


@pytest.mark.slow
def test_discarding_closes_a_question_about_what_was_tried_out(
    desk: Desk, collection: Collection
) -> None:
    """Its answer would apply to the real project."""
    desk.open(collection.project)
    band = begin(desk)
    desk.window.tree.select_class(desk.graph.find("Red"))
    desk.window.tree.front.setFocus()
    desk.press(Qt.Key.Key_Delete)
    desk.wait(desk.window.palette_panel.isVisible)
    click(desk, band.discard_button)
    desk.wait(lambda: not desk.window.session.what_if.is_on)
    assert not desk.window.palette_panel.isVisible()
    assert desk.graph.name(desk.graph.find("Red")) == "Red"
