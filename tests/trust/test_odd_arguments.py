"""Odd arguments, closed streams and signals: a short run finds nothing, and a planted traceback is found."""

import subprocess
import sys
from typing import Any

import pytest

from tests.trust.odd_arguments import Try, ask, ask_many, commands
from tests.trust.stages import Stage

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the instruments are written for Linux")


def test_odd_commands_end_with_one_line(stage: Stage) -> None:
    """Every kind of trial once or more."""
    row = ask_many(stage, 10, seed=3)
    assert row.broken == ()
    assert row.trials == 10


def test_every_command_takes_part() -> None:
    """Those of groups, too."""
    assert {("check",), ("import-labels",), ("backbone", "list"), ("backups", "list")} <= set(commands())


def test_a_traceback_is_found(stage: Stage) -> None:
    """And a status that no shell expects."""

    def broken(_command: object, **options: Any) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, "-c", "raise KeyError('planted')"], **options)

    assert [fault.kind for fault in ask(stage, Try(("check",)), broken).faults] == ["traceback"]
