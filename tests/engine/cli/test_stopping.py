"""Ctrl+C during work that can stop at a safe point."""

import os
import signal

import pytest

from engine.cli.output import stoppable
from engine.errors import Cancelled


def interrupt() -> None:
    """Press Ctrl+C."""
    os.kill(os.getpid(), signal.SIGINT)


def work(*, interruptions: int) -> bool:
    """Be interrupted so often, and tell whether the token noticed."""
    with stoppable("go on") as cancel:
        for _ in range(interruptions):
            interrupt()
        return cancel.is_cancelled


def test_first_asks_second_insists() -> None:
    """The first Ctrl+C only sets the token; the second interrupts; afterwards all is as before."""
    before = signal.getsignal(signal.SIGINT)
    assert not work(interruptions=0)
    assert work(interruptions=1)
    with pytest.raises(KeyboardInterrupt):
        work(interruptions=2)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_kill_asks_too() -> None:
    """SIGTERM is as polite."""
    with stoppable("go on") as cancel:
        os.kill(os.getpid(), signal.SIGTERM)
        assert cancel.is_cancelled


def stopped() -> None:
    """Work that was asked to stop."""
    with stoppable("go on with: protoleaf") as cancel:
        cancel.cancel()
        cancel.raise_if_cancelled()


def test_the_message_says_how_to_go_on() -> None:
    """Whoever raises `Cancelled` need not know the command."""
    with pytest.raises(Cancelled, match="Go on with: protoleaf"):
        stopped()
