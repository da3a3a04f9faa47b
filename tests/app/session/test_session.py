"""Opening, creating and leaving projects."""

import threading
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.session import ProjectInfo, Session
from engine.collection.state import NO_CLASS
from engine.project import ClassPolicy, Project
from tests.support.collections import LEAVES, Collection, class_ids
from tests.support.graphs import content_of
from tests.support.sessions import (
    LONG_MS,
    act,
    changed_by,
    create_project,
    open_project,
    recorded,
    refusal_of,
    settle,
)


def test_a_new_project_is_open_and_empty(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    """Creating makes the file and opens it, with nothing to undo."""
    opened, undo_states = recorded(session.opened), recorded(session.undo_state_changed)
    path = tmp_path / "birds.protoleaf"
    create_project(qtbot, session, path)
    ((info,),) = opened
    assert isinstance(info, ProjectInfo)
    assert (info.path, info.name, info.is_writable) == (path, "birds", True)
    assert path.is_file()
    assert session.state is not None
    assert len(session.state.image_ids) == 0
    assert len(session.graph) == 0
    assert undo_states[-1] == ("", "")


def test_a_new_project_overwrites_nothing(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    """An existing file is rejected with a sentence, and is unchanged."""
    path = tmp_path / "birds.protoleaf"
    path.write_text("my own notes", encoding="utf-8")
    assert "\n" not in refusal_of(qtbot, session, lambda: session.create(path))
    assert path.read_text(encoding="utf-8") == "my own notes"
    assert session.info is None


@pytest.mark.slow
def test_opening_shows_the_list_first_and_predictions_after(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """The first state lists all images without predictions; later each image has one."""
    states = recorded(session.state_changed)
    open_project(qtbot, session, collection.project)
    first = states[0][0]
    assert (np.asarray(getattr(first, "best_class")) == NO_CLASS).all()  # noqa: B009 (a signal carries plain objects)
    assert session.state is not None
    assert len(session.state.image_ids) == 64
    assert (session.state.best_class != NO_CLASS).all()


@pytest.mark.slow
def test_the_mirror_equals_the_projects_graph(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """The graph of the GUI thread is a copy with the same ids, names and edges."""
    open_project(qtbot, session, collection.project)
    with Project.open(collection.project, for_writing=False) as project:
        assert content_of(session.graph) == content_of(project.classes.graph)
    assert {session.graph.name(leaf) for leaf in session.graph.leaves()} == set(LEAVES)


@pytest.mark.slow
def test_whoever_hears_a_signal_sees_graph_and_state(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """The state is set when graph_changed is emitted."""
    seen: list[bool] = []
    session.graph_changed.connect(
        lambda _edits: seen.append(session.state is not None and len(session.graph) > 0)
    )
    open_project(qtbot, session, collection.project)
    assert seen == [True]


@pytest.mark.slow
def test_closing_forgets_everything(qtbot: QtBot, session: Session, collection: Collection) -> None:
    """No info, no state and an empty graph; another program may write to the file."""
    open_project(qtbot, session, collection.project)
    with qtbot.waitSignal(session.closed, timeout=LONG_MS):
        session.close()
    assert (session.info, session.state, len(session.graph)) == (None, None, 0)
    Project.open(collection.project).close()


@pytest.mark.slow
def test_reopening_keeps_labels_and_undo(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """Labels are stored, and can be undone after reopening."""
    open_project(qtbot, session, collection.project)
    assert session.state is not None
    image_id = int(session.state.image_ids[session.state.label_class == NO_CLASS][0])
    class_id = session.graph.find("Blue disc")
    act(qtbot, session, lambda project: project.labels.set([image_id], class_id))
    with qtbot.waitSignal(session.closed, timeout=LONG_MS):
        session.close()
    undo_states = recorded(session.undo_state_changed)
    open_project(qtbot, session, collection.project)
    assert session.state.label_class[session.state.position(image_id)] == class_id
    assert undo_states[-1] == ("Label 1 image as Blue disc", "")
    with qtbot.waitSignal(session.change_made, timeout=LONG_MS):
        session.undo()
    assert session.state.label_class[session.state.position(image_id)] == NO_CLASS


@pytest.mark.slow
def test_another_project_takes_the_place_of_the_first(
    qtbot: QtBot, session: Session, collection: Collection, tmp_path: Path
) -> None:
    """Opening a second project closes the first one and releases its lock."""
    open_project(qtbot, session, collection.project)
    create_project(qtbot, session, tmp_path / "other.protoleaf")
    assert session.info is not None
    assert session.info.name == "other"
    assert len(session.graph) == 0
    Project.open(collection.project).close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["notes.protoleaf", "missing.protoleaf"])
def test_a_project_that_cannot_be_opened_leaves_the_present_one(
    name: str, qtbot: QtBot, session: Session, collection: Collection, tmp_path: Path
) -> None:
    """An invalid or missing file is one sentence, and the open project stays."""
    (tmp_path / "notes.protoleaf").write_text("my own notes", encoding="utf-8")
    open_project(qtbot, session, collection.project)
    line = refusal_of(qtbot, session, lambda: session.open(tmp_path / name))
    assert line
    assert "\n" not in line
    assert session.info is not None
    assert session.info.name == "shapes"
    act(qtbot, session, lambda project: project.classes.add("Yellow")[0])
    assert session.graph.find("Yellow")


@pytest.mark.slow
def test_opening_the_open_project_again_changes_nothing(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """Its own lock does not block it, and it is not opened twice."""
    open_project(qtbot, session, collection.project)
    opened, failed = recorded(session.opened), recorded(session.failed)
    session.open(collection.project)
    settle(qtbot, session)
    assert (opened, failed) == ([], [])


def test_a_project_in_use_elsewhere_is_refused(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """Two writers would overwrite each other's changes."""
    with Project.open(collection.project):
        assert "\n" not in refusal_of(qtbot, session, lambda: session.open(collection.project))
    assert session.info is None


@pytest.mark.slow
def test_a_protected_file_is_opened_for_reading(
    qtbot: QtBot, session: Session, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without write permission the project is opened read-only and classified."""
    monkeypatch.setattr("engine.project.opening.os.access", lambda _path, _mode: False)
    open_project(qtbot, session, collection.project)
    assert session.info is not None
    assert not session.info.is_writable
    assert session.state is not None
    assert (session.state.best_class != NO_CLASS).all()


@pytest.mark.slow
def test_read_only_refuses_actions_with_a_sentence(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """An action on a read-only project fails in one line, and nothing changes."""
    open_project(qtbot, session, collection.project, for_writing=False)
    before = content_of(session.graph)
    line = refusal_of(
        qtbot, session, lambda: session.act(lambda project: project.classes.add("Yellow")[0])
    )
    assert line
    assert "\n" not in line
    assert content_of(session.graph) == before


@pytest.mark.slow
def test_shutting_down_finishes_what_was_begun(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """Pending actions are stored before the program ends."""
    open_project(qtbot, session, collection.project)
    names = [f"late {number}" for number in range(10)]
    for name in names:
        session.act(lambda project, name=name: project.classes.add(name)[0])  # type: ignore[misc]
    session.shut_down()
    with Project.open(collection.project, for_writing=False) as project:
        assert set(names) <= class_ids(project).keys()


def test_work_runs_on_one_thread_that_is_not_the_windows(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """Queries run on the project thread, results arrive on the GUI thread."""
    open_project(qtbot, session, collection.project)
    asked: list[int] = []
    answered: list[int] = []
    for _ in range(3):
        session.ask(
            lambda _live: asked.append(threading.get_ident()),
            lambda _answer: answered.append(threading.get_ident()),
            owner=session,
        )
    qtbot.waitUntil(lambda: len(answered) == 3, timeout=LONG_MS)
    assert len(set(asked)) == 1
    assert set(answered) == {threading.get_ident()}
    assert set(asked) != set(answered)


@pytest.mark.slow
def test_marks_follow_the_project(
    qtbot: QtBot, session: Session, collection: Collection, tmp_path: Path
) -> None:
    """They are emitted once per relevant change, and cleared with the project."""
    open_project(qtbot, session, collection.project)
    marks, red = session.marks, session.graph.find("Red")
    changes = recorded(marks.changed)
    act(qtbot, session, lambda project: project.classes.set_attributes([red], colour="#d05a4e"))
    qtbot.waitUntil(lambda: dict(marks.colours) == {red: "#d05a4e"}, timeout=LONG_MS)
    act(qtbot, session, lambda project: project.policies.set(red, ClassPolicy(0.9)))
    qtbot.waitUntil(lambda: dict(marks.policies) == {red: ClassPolicy(0.9)}, timeout=LONG_MS)
    act(qtbot, session, lambda project: project.classes.rename(red, "Crimson"))
    assert len(changes) == 2
    changed_by(qtbot, session, session.undo)
    changed_by(qtbot, session, session.undo)
    qtbot.waitUntil(lambda: not marks.policies, timeout=LONG_MS)
    assert dict(marks.colours) == {red: "#d05a4e"}
    create_project(qtbot, session, tmp_path / "other.protoleaf")
    qtbot.waitUntil(lambda: not marks.colours, timeout=LONG_MS)
