"""Colours and policies follow the project: changes, undo, another project."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from app.session import Session
from engine.project import ClassPolicy
from tests.support.collections import Collection
from tests.support.sessions import LONG_MS, act, changed_by, create_project, open_project, recorded


def test_marks_follow_the_project(qtbot: QtBot, session: Session, collection: Collection, tmp_path: Path) -> None:
    """They are told once for each change that concerns them, and go with the project."""
    open_project(qtbot, session, collection.project)
    marks, red = session.marks, session.graph.find("Red")
    told = recorded(marks.changed)
    act(qtbot, session, lambda project: project.classes.set_attributes([red], colour="#d05a4e"))
    qtbot.waitUntil(lambda: dict(marks.colours) == {red: "#d05a4e"}, timeout=LONG_MS)
    act(qtbot, session, lambda project: project.policies.set(red, ClassPolicy(0.9)))
    qtbot.waitUntil(lambda: dict(marks.policies) == {red: ClassPolicy(0.9)}, timeout=LONG_MS)
    act(qtbot, session, lambda project: project.classes.rename(red, "Crimson"))
    assert len(told) == 2
    changed_by(qtbot, session, session.undo)
    changed_by(qtbot, session, session.undo)
    qtbot.waitUntil(lambda: not marks.policies, timeout=LONG_MS)
    assert dict(marks.colours) == {red: "#d05a4e"}
    create_project(qtbot, session, tmp_path / "other.protoleaf")
    qtbot.waitUntil(lambda: not marks.colours, timeout=LONG_MS)
