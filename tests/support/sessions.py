"""Sessions in tests: every call waits for its signal, none sleeps."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import SignalInstance
from pytestqt.qtbot import QtBot

from app.session import Session
from engine.project import Change, Project

LONG_MS = 30_000
"""Starting a worker on a busy machine takes seconds; longer is a failure."""


def open_project(qtbot: QtBot, session: Session, path: Path, *, for_writing: bool = True) -> None:
    """Open a project and wait until predictions are there."""
    with qtbot.waitSignal(session.loaded, timeout=LONG_MS):
        session.open(path, for_writing=for_writing)


def create_project(qtbot: QtBot, session: Session, path: Path) -> None:
    """Create a project and wait for it."""
    with qtbot.waitSignal(session.loaded, timeout=LONG_MS):
        session.create(path)


def act(qtbot: QtBot, session: Session, action: Callable[[Project], Change]) -> Change:
    """Do an action and wait for its signal."""
    return changed_by(qtbot, session, lambda: session.act(action))


def changed_by(qtbot: QtBot, session: Session, begin: Callable[[], object]) -> Change:
    """Start an action and wait for its change and the predictions."""
    with qtbot.waitSignal(session.change_made, timeout=LONG_MS) as blocker:
        begin()
    change = blocker.args[0]
    assert isinstance(change, Change)
    qtbot.waitUntil(lambda: session.is_settled, timeout=LONG_MS)
    return change


def refusal_of(qtbot: QtBot, session: Session, begin: Callable[[], object]) -> str:
    """Start an action that must be refused; return the message."""
    with (
        qtbot.waitSignal(session.failed, timeout=LONG_MS) as blocker,
        qtbot.assertNotEmitted(session.change_made),
    ):
        begin()
    return str(blocker.args[0])


def settle(qtbot: QtBot, session: Session) -> None:
    """Wait until everything started is done and reported."""
    with qtbot.waitSignal(
        session.busy_changed, timeout=LONG_MS, check_params_cb=lambda is_busy: not is_busy
    ):
        session.ask(lambda _live: None, lambda _answer: None, owner=session)


def recorded(signal: SignalInstance) -> list[tuple[object, ...]]:
    """Emissions of a signal from now on."""
    emitted: list[tuple[object, ...]] = []
    signal.connect(lambda *values: emitted.append(values))
    return emitted
