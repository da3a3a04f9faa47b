"""Odd arguments, closed streams and signals: no faults, and a planted one is detected."""

import subprocess
import sys
from typing import Any

import pytest

from tests.trust.odd_arguments import OVERLONG, STREAMS, Try, ask, ask_many, commands, drawn
from tests.trust.stages import Stage

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the instruments are written for Linux"
)


@pytest.mark.slow
def test_odd_commands_end_with_one_line(stage: Stage) -> None:
    """Every kind of trial at least once."""
    row = ask_many(stage, 10, seed=3)
    assert row.broken == ()
    assert row.trials == 10


def test_every_command_takes_part() -> None:
    """Commands of groups, too."""
    assert {("check",), ("import-labels",), ("backbone", "list"), ("backups", "list")} <= set(
        commands()
    )


def test_a_traceback_is_found(stage: Stage) -> None:
    """Also an unexpected status."""

    def broken(_command: object, **options: Any) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, "-c", "raise KeyError('planted')"], **options)

    assert [fault.kind for fault in ask(stage, Try(("check",)), broken).faults] == ["traceback"]


def test_a_process_that_is_left_is_found(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A leftover process is reported."""
    monkeypatch.setattr("tests.trust.odd_arguments.NOBODY_LEFT_S", 0.2)

    def leaving(_command: object, **options: Any) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(["sh", "-c", "sleep 60 2>/dev/null & exit 0"], **options)

    assert [fault.text for fault in ask(stage, Try(("check",)), leaving).faults] == [
        "'check' : processes are left"
    ]


def test_every_kind_is_drawn() -> None:
    """In a thousand trials, each often."""
    tries = drawn(1000, seed=1)
    assert {one.stream for one in tries} == {"", *STREAMS}
    assert len({one.words[0] for one in tries if one.words[-1] in OVERLONG}) > 10
    assert min(sum(one.is_beside for one in tries), sum(one.is_side_by_side for one in tries)) >= 10
