"""A graph of thirty classes on three levels with several parents, and tests of its history."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.settings import Settings
from engine.project import Project
from tests.support.desk import Desk
from tests.support.graphs import shape_of
from tests.support.projects import dump
from tests.support.sessions import LONG_MS, create_project

BRANCHES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "Animal": {"Bird": ("Gull", "Puffin"), "Fish": ("Eel", "Herring"), "Mammal": ("Otter", "Seal")},
    "Instrument": {
        "Keyboard": ("Organ", "Piano"),
        "String": ("Harp", "Violin"),
        "Wind": ("Flute", "Oboe"),
    },
    "Plant": {"Flower": ("Rose", "Tulip"), "Herb": ("Basil", "Mint"), "Tree": ("Birch", "Oak")},
}
"""Three times three times two classes."""

FURTHER_PARENTS: Sequence[tuple[str, str]] = (("Organ", "Wind"), ("Piano", "String"))
"""Classes with additional parents."""

Press = Callable[[Desk], object]


def empty_project(desk: Desk, path: Path) -> None:
    """Open a new project without classes and images."""
    create_project(desk.qtbot, desk.window.session, path)
    assert len(desk.graph) == 0


def wanted_shape() -> set[str]:
    """All paths of the graph."""
    paths = set()
    for root, branches in BRANCHES.items():
        paths.add(root)
        for branch, leaves in branches.items():
            paths |= {f"{root} > {branch}", *(f"{root} > {branch} > {leaf}" for leaf in leaves)}
            paths |= {
                f"{root} > {branch} > {child}"
                for child, parent in FURTHER_PARENTS
                if parent == branch
            }
    return paths


def type_name(desk: Desk, name: str) -> QLineEdit:
    """Type a name into the open palette."""
    desk.window.activateWindow()  # without a window manager no window is active after a menu closes
    field = desk.window.palette_panel.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    desk.wait(field.hasFocus)
    field.selectAll()
    desk.qtbot.keyClicks(field, name)
    return field


def wait_until_chosen(desk: Desk, name: str) -> None:
    """Wait until a new class is chosen in the tree."""
    desk.wait(lambda: chosen(desk) == name)


def chosen(desk: Desk) -> str:
    """Name of the chosen class; "" for none."""
    class_id = desk.window.tree.selected_class
    return "" if class_id is None or class_id not in desk.graph else desk.graph.name(class_id)


def content(desk: Desk) -> bytes:
    """Everything that actions have stored in the project file."""
    answers: list[bytes] = []
    desk.window.session.ask(
        lambda live: repr(sorted(dump(live.project).items())).encode(),
        answers.append,
        owner=desk.window,
    )
    desk.wait(lambda: bool(answers))
    return answers[0]


def wait_for_change(desk: Desk, begin: Callable[[], object]) -> None:
    """Start an action and wait for its change, without waiting for predictions."""
    with desk.qtbot.waitSignal(desk.window.session.change_made, timeout=LONG_MS):
        begin()


def repeat(desk: Desk, action: str, press: Press) -> int:
    """Press Undo or Redo until nothing is left; return how often."""
    count = 0
    while desk.window.registry.action(action).isEnabled():
        wait_for_change(desk, lambda: press(desk))
        count += 1
    desk.wait(lambda: desk.window.session.is_settled)
    return count


def try_history(desk: Desk, path: Path, before: bytes, *, undo: Press, redo: Press) -> None:
    """Undo all, redo all, reopen in another window, and undo all again, comparing the file."""
    assert shape_of(desk.graph) == wanted_shape()
    whole = content(desk)
    steps = repeat(desk, "undo", undo)
    assert len(desk.graph) == 0
    assert content(desk) == before
    assert repeat(desk, "redo", redo) == steps
    assert shape_of(desk.graph) == wanted_shape()
    assert content(desk) == whole
    desk.leave()
    second = other_desk(desk.qtbot, desk.window.settings)
    second.open(path)
    assert content(second) == whole
    assert repeat(second, "undo", undo) == steps
    assert content(second) == before
    second.leave()
    with Project.open(path) as project:
        assert project.check() == []


def other_desk(qtbot: QtBot, settings: Settings) -> Desk:
    """A second window after the first one was closed."""
    return Desk(qtbot, settings)
