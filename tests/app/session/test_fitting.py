"""A fit pauses while a key is handled, and is cancelled with its project."""

import threading

import pytest

from app.session.fitting import RestToken
from engine.errors import Cancelled
from tests.support.sessions import LONG_MS


def test_a_fit_rests_before_its_next_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """It continues when it is allowed to."""
    monkeypatch.setattr("app.session.fitting.LONGEST_REST_S", LONG_MS / 1000)
    may_run, passed = threading.Event(), threading.Event()
    token = RestToken(may_run)

    def compute() -> None:
        token.raise_if_cancelled()
        passed.set()

    thread = threading.Thread(target=compute)
    thread.start()
    assert not passed.wait(0.05)
    may_run.set()
    assert passed.wait(LONG_MS / 1000)
    thread.join()


def test_a_cancelled_fit_ends_also_from_its_rest() -> None:
    """A paused fit ends on a cancel."""
    token = RestToken(threading.Event())
    token.cancel()
    with pytest.raises(Cancelled):
        token.raise_if_cancelled()
