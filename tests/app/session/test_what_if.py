"""What-if edits through the session: visible everywhere, but not saved."""

import pytest
from pytestqt.qtbot import QtBot

from app.session import Session
from engine.collection.state import CollectionState
from engine.project import Change, ClassPolicy, Project
from tests.support.collections import Collection
from tests.support.live_states import assert_same, own_copy
from tests.support.sessions import LONG_MS, act, changed_by, open_project, recorded


def begin(qtbot: QtBot, session: Session) -> None:
    """Begin what-if edits."""
    session.what_if.begin()
    qtbot.waitUntil(
        lambda: session.is_settled and session.what_if.baseline is not None, timeout=LONG_MS
    )


def opened(qtbot: QtBot, session: Session, collection: Collection) -> CollectionState:
    """Open the small collection; returns a copy of its state."""
    open_project(qtbot, session, collection.project)
    assert session.state is not None
    return own_copy(session.state)


def edit(qtbot: QtBot, session: Session) -> None:
    """Make a class a root, raise a threshold, label an image."""
    disc, red = session.graph.find("Red disc"), session.graph.find("Red")
    act(qtbot, session, lambda project: project.classes.move([(disc, red)], None))
    act(qtbot, session, lambda project: project.policies.set(red, ClassPolicy(0.9)))
    assert session.state is not None
    last = session.state.image_ids[-1:].tolist()
    act(qtbot, session, lambda project: project.labels.set(last, disc))


def test_what_is_dropped_was_never_there(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """The window follows each edit; afterwards state and file are as before."""
    before = opened(qtbot, session, collection)
    undo = recorded(session.undo_state_changed)
    begin(qtbot, session)
    kept_bytes = collection.project.read_bytes()
    assert undo[-1] == ("", "")
    edit(qtbot, session)
    disc = session.graph.find("Red disc")
    assert disc in session.graph.roots()
    with qtbot.waitSignal(session.what_if.ended, timeout=LONG_MS) as ended:
        session.what_if.drop()
    assert ended.args == [False]
    qtbot.waitUntil(lambda: session.is_settled, timeout=LONG_MS)
    assert session.state is not None
    assert_same(session.state, before)
    assert disc not in session.graph.roots()
    assert collection.project.read_bytes() == kept_bytes
    assert undo[-1][0] != ""


@pytest.mark.slow
def test_what_is_kept_is_one_step(qtbot: QtBot, session: Session, collection: Collection) -> None:
    """Nothing is fitted again; one undo restores everything."""
    before = opened(qtbot, session, collection)
    begin(qtbot, session)
    edit(qtbot, session)
    tried = own_copy(session.state) if session.state is not None else None
    fits = recorded(session.fitting_changed)
    change = changed_by(qtbot, session, session.what_if.keep)
    assert fits == []
    assert change.text.startswith("Tried out 3 edits: ")
    assert tried is not None
    assert session.state is not None
    assert_same(session.state, tried)
    changed_by(qtbot, session, session.undo)
    assert_same(session.state, before)
    session.close()
    qtbot.waitUntil(lambda: session.info is None, timeout=LONG_MS)
    with Project.open(collection.project, for_writing=False) as reopened:
        assert str(reopened.history.redo_action) == change.text


@pytest.mark.slow
def test_the_baseline_waits_for_predictions(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """Started during a fit, it is compared with the result of that fit."""
    opened(qtbot, session, collection)
    disc, stripes = session.graph.find("Red disc"), session.graph.find("Red stripes")

    def merge(project: Project) -> Change:
        return project.classes.merge([disc], stripes)

    with qtbot.waitSignal(session.fitting_changed, timeout=LONG_MS, check_params_cb=bool):
        session.act(merge)
    begin(qtbot, session)
    assert session.what_if.baseline is not None
    assert not session.what_if.baseline.is_behind
    assert session.what_if.baseline.state.best_class.tolist().count(disc) == 0
    assert session.what_if.baseline.state.best_class.tolist().count(stripes) > 0


@pytest.mark.slow
def test_an_edit_right_after_the_request_is_only_tried_out(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """It is on at once, also during a fit; only the earlier edit is stored."""
    opened(qtbot, session, collection)
    disc, stripes = session.graph.find("Red disc"), session.graph.find("Red stripes")
    with qtbot.waitSignal(session.fitting_changed, timeout=LONG_MS, check_params_cb=bool):
        session.act(lambda project: project.policies.set(disc, ClassPolicy(0.9)))
    assert session.is_fitting
    session.what_if.begin()
    assert session.what_if.is_on
    act(qtbot, session, lambda project: project.classes.remove([stripes]))
    assert stripes not in session.graph
    assert session.what_if.has_edits
    with qtbot.waitSignal(session.what_if.ended, timeout=LONG_MS):
        session.what_if.drop()
    assert stripes in session.graph
    assert session.marks.policies[disc] == ClassPolicy(0.9)
    session.close()
    qtbot.waitUntil(lambda: session.info is None, timeout=LONG_MS)
    with Project.open(collection.project, for_writing=False) as reopened:
        assert stripes in reopened.classes.graph
        assert reopened.policies.by_class()[disc] == ClassPolicy(0.9)


@pytest.mark.slow
def test_an_edit_already_under_way_is_real(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """What-if mode requested while an edit is being saved begins after it."""
    opened(qtbot, session, collection)
    disc, stripes = session.graph.find("Red disc"), session.graph.find("Red stripes")
    session.act(lambda project: project.classes.remove([stripes]))
    begin(qtbot, session)
    assert not session.what_if.has_edits
    act(qtbot, session, lambda project: project.classes.remove([disc]))
    with qtbot.waitSignal(session.what_if.ended, timeout=LONG_MS):
        session.what_if.drop()
    assert stripes not in session.graph
    assert disc in session.graph


@pytest.mark.slow
def test_a_project_may_be_left_in_the_middle(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """The project is unchanged; a read-only project can be tried out, too."""
    opened(qtbot, session, collection)
    begin(qtbot, session)
    edit(qtbot, session)
    with qtbot.waitSignal(session.what_if.ended, timeout=LONG_MS):
        session.close()
    assert not session.what_if.is_on
    with qtbot.waitSignal(session.loaded, timeout=LONG_MS):
        session.open(collection.project, for_writing=False)
    assert session.graph.find("Red disc") not in session.graph.roots()
    begin(qtbot, session)
    with qtbot.waitSignal(session.what_if.ended, timeout=LONG_MS):
        session.close()
