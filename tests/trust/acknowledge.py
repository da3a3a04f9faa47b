"""Acknowledgements of an activity, written so that they survive its process.

Each line is written to the operating system before the next action starts; an incomplete line does
not count. A line has a digest of all work of people by then, and the automatic results since the
line before, to check both afterwards.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, final

from engine.errors import ProtoleafError
from engine.project import Project
from tests.trust.seen import digest, machine_part, people_part

LineKind = Literal["begin", "done", "may", "refused", "shown"]


@dataclass(frozen=True)
class Line:
    """One line of the log.

    Attributes:
        kind: begin (an action starts), done (it was acknowledged), may (the content that a running
            action may leave without acknowledgement), refused (by one of our errors), shown
            (predictions at closing, as JSON).
        did: the action in words.
        people: digest of people's work afterwards.
        machine: automatic results since the line before, by name; None if they are no longer
            computed, because the image was removed.
        at_s: monotonic time.
    """

    kind: LineKind
    did: str
    people: str = ""
    machine: dict[str, Any] = field(default_factory=dict)
    at_s: float = 0.0


@final
class Log:
    """The writer of the log.

    Args:
        path: the file; lines are appended.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        known = [item for line in read_log(path) for item in line.machine.items()]
        self._machine = {name: value for name, value in dict(known).items() if value is not None}

    def begin(self, did: str) -> None:
        """Record the start of an action."""
        self._write(Line("begin", did))

    def acknowledge(self, project: Project, did: str) -> None:
        """Record the end of an action and the project's digest; "" if it cannot be read."""
        try:
            self._acknowledge(project, did)
        except ProtoleafError:
            self._write(Line("done", did))

    def _acknowledge(self, project: Project, did: str) -> None:
        machine = {name: digest(value) for name, value in machine_part(project).items()}
        news: dict[str, str | None] = dict.fromkeys(self._machine.keys() - machine.keys())
        news |= {name: value for name, value in machine.items() if self._machine.get(name) != value}
        self._machine = machine
        self._write(Line("done", did, digest(people_part(project)), news))

    def may_become(self, people: str, did: str) -> None:
        """Record the digest that the next action may lead to, if undo does not revert it."""
        self._write(Line("may", did, people))

    def note_shown(self, predictions: str) -> None:
        """Record the predictions before the project is closed."""
        self._write(Line("shown", predictions))

    def refuse(self, did: str) -> None:
        """Record that an action was refused with one of our errors."""
        self._write(Line("refused", did))

    def _write(self, line: Line) -> None:
        text = json.dumps({**line.__dict__, "at_s": time.monotonic()})
        os.write(self._descriptor, f"{text}\n".encode())


def read_log(path: Path) -> Sequence[Line]:
    """The complete lines."""
    if not path.exists():
        return ()
    lines = path.read_bytes().split(b"\n")[:-1]
    return [Line(**json.loads(line)) for line in lines]
