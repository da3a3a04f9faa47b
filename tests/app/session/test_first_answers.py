"""In a large collection, visible images are classified before all others."""

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.session import Session
from engine.arrays import Integers
from engine.collection import fitting
from engine.collection.state import NO_CLASS
from engine.everyday.blocks import Embeddings
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.scores import Scores
from tests.support.collections import Collection
from tests.support.sessions import LONG_MS, open_project, settle

VIEW = 8


class Gate:
    """Lets chunks of a large collection pass one by one; visible images always pass."""

    def __init__(self) -> None:
        self.is_open = True
        self._permits, self._waiting = threading.Semaphore(0), threading.Semaphore(0)

    def pass_by(self, rows: Integers | None) -> None:
        """Wait for a permit, unless the rows are visible images."""
        if not self.is_open and rows is not None and len(rows) > VIEW:
            self._waiting.release()
            assert self._permits.acquire(timeout=LONG_MS / 1000)

    def let_one_through(self) -> None:
        """Wait for a chunk, and let it pass."""
        assert self._waiting.acquire(timeout=LONG_MS / 1000)
        self._permits.release()

    def open(self) -> None:
        """Let all pass."""
        self.is_open = True
        self._permits.release(1_000)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Treat a few dozen images as a large collection, classified through the gate."""
    gate, classify = Gate(), EverydayModel.classify

    def gated(self: EverydayModel, embeddings: Embeddings, rows: Integers | None = None) -> Scores:
        gate.pass_by(rows)
        return classify(self, embeddings, rows)

    monkeypatch.setattr(EverydayModel, "classify", gated)
    monkeypatch.setattr(fitting, "FEWEST_IN_TURN", 1)
    monkeypatch.setattr(fitting, "SLICE_ROWS", 16)
    yield gate
    gate.open()


def _open_with_a_view(qtbot: QtBot, session: Session, collection: Collection, gate: Gate) -> None:
    """The first images are visible; from now on classification blocks at the gate."""
    open_project(qtbot, session, collection.project)
    assert session.state is not None
    session.in_view = session.state.image_ids[:VIEW].tolist
    gate.is_open = False


def _label_last(session: Session, count: int) -> None:
    """Label images outside the view, so that predictions in the view change."""
    state = session.state
    assert state is not None
    free = state.image_ids[state.label_class == NO_CLASS][-count:].tolist()
    graph = session.graph
    session.label(
        free, next(class_id for class_id in graph.classes() if graph.name(class_id) == "Blue disc")
    )


def _in_view(session: Session) -> list[float]:
    assert session.state is not None
    return session.state.best_score[:VIEW].tolist()


def _others(session: Session) -> list[float]:
    assert session.state is not None
    return session.state.best_score[VIEW:].tolist()


@pytest.mark.slow
def test_labels_while_all_others_are_classified(
    qtbot: QtBot, session: Session, collection: Collection, gate: Gate
) -> None:
    """Each label changes the visible predictions; the others follow when their chunks pass."""
    _open_with_a_view(qtbot, session, collection, gate)
    before, others = _in_view(session), _others(session)
    _label_last(session, 5)
    qtbot.waitUntil(lambda: _in_view(session) != before, timeout=LONG_MS)
    first = _in_view(session)
    assert _others(session) == others
    assert session.is_fitting
    gate.let_one_through()
    _label_last(session, 9)
    settle(qtbot, session)
    gate.let_one_through()  # the second label is fitted after this chunk
    qtbot.waitUntil(lambda: _in_view(session) != first, timeout=LONG_MS)
    assert _others(session) == others
    gate.open()
    qtbot.waitUntil(lambda: session.is_settled, timeout=LONG_MS)
    assert _others(session) != others
    live_view = np.array(_in_view(session))
    with qtbot.waitSignal(session.closed, timeout=LONG_MS):
        session.close()
    open_project(qtbot, session, collection.project)
    np.testing.assert_allclose(_in_view(session), live_view, atol=1e-4)


def test_a_project_is_left_while_all_others_are_classified(
    qtbot: QtBot, session: Session, collection: Collection, gate: Gate
) -> None:
    """Closing does not wait for the other predictions, and drops them."""
    _open_with_a_view(qtbot, session, collection, gate)
    before = _in_view(session)
    _label_last(session, 5)
    qtbot.waitUntil(lambda: _in_view(session) != before, timeout=LONG_MS)
    with qtbot.waitSignal(session.closed, timeout=LONG_MS):
        session.close()
    assert session.state is None
    gate.open()
    open_project(qtbot, session, collection.project)
    assert not session.is_fitting
