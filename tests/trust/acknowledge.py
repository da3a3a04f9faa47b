"""What an activity reports as done, written so that it outlives the activity's death.

Each line goes to the operating system with one write before the next action starts; a line without its end does
not count. A line holds a digest of everything that people had done by then, and what the machine had found out since
the line before: enough to know afterwards whether it is still there.
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
        kind: begin (an action starts), done (it was acknowledged), may (the content that an action under way may
            leave, although it is not acknowledged), refused (it was refused with one of our errors), shown
            (what was predicted when the project was closed, as JSON).
        did: the action in words.
        people: digest of what people did, afterwards.
        machine: what the machine found out since the line before, by name; None for what is not computed any more,
            because its image is gone.
        at_s: monotonic time.
    """

    kind: LineKind
    did: str
    people: str = ""
    machine: dict[str, Any] = field(default_factory=dict)
    at_s: float = 0.0


@final
class Log:
    """The writing end.

    Args:
        path: the file; lines are added.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        known = [item for line in read_log(path) for item in line.machine.items()]
        self._machine = {name: value for name, value in dict(known).items() if value is not None}

    def begin(self, did: str) -> None:
        """Say that an action starts."""
        self._write(Line("begin", did))

    def acknowledge(self, project: Project, did: str) -> None:
        """Say that an action is done, and what the project holds now; "" where it cannot be asked any more."""
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
        """Say which content the next action leads to, where undoing one step would not lead back."""
        self._write(Line("may", did, people))

    def note_shown(self, predictions: str) -> None:
        """Say what is predicted now, before the project is closed."""
        self._write(Line("shown", predictions))

    def refuse(self, did: str) -> None:
        """Say that an action was refused with one of our errors."""
        self._write(Line("refused", did))

    def _write(self, line: Line) -> None:
        text = json.dumps({**line.__dict__, "at_s": time.monotonic()})
        os.write(self._descriptor, f"{text}\n".encode())


def read_log(path: Path) -> Sequence[Line]:
    """The lines that were written whole."""
    if not path.exists():
        return ()
    lines = path.read_bytes().split(b"\n")[:-1]
    return [Line(**json.loads(line)) for line in lines]
