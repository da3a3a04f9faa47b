"""Running the command line inside the test, and reading what it printed."""

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.cli.main import main


@dataclass(frozen=True)
class Answer:
    """Result of a command."""

    status: int
    out: str
    err: str

    @property
    def fields(self) -> Mapping[str, Any]:
        """The JSON object on standard output."""
        fields = json.loads(self.out)
        assert isinstance(fields, dict)
        return fields


def protoleaf(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Answer:
    """Run one command as `protoleaf ARGUMENTS` would."""
    capsys.readouterr()
    handler = signal.getsignal(signal.SIGTERM)
    try:
        status = main([str(argument) for argument in arguments])
    finally:
        signal.signal(signal.SIGTERM, handler)
    captured = capsys.readouterr()
    return Answer(status, captured.out, captured.err)


def done(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Answer:
    """Run a command that must succeed without standard error."""
    answer = protoleaf(capsys, *arguments)
    assert (answer.status, answer.err) == (0, ""), answer
    return answer


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path, status: int = 1) -> str:
    """Run a command that must fail with one line on standard error, and return the line."""
    answer = protoleaf(capsys, *arguments)
    assert answer.status == status, answer
    assert answer.out == ""
    assert answer.err.startswith("protoleaf: "), answer
    assert answer.err.count("\n") == 1, answer
    assert answer.err.endswith("\n"), answer
    return answer.err
