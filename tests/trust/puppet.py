"""A program with an open project that obeys commands, for trials with events in between."""

import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import final

from engine.errors import ProtoleafError
from engine.project import Project
from tests.trust.acknowledge import Log
from tests.trust.activities import label_one
from tests.trust.children import Child, Ending, Place

_LIMIT_S = 30.0


@dataclass(frozen=True)
class Answer:
    """Result of a command.

    Attributes:
        done: acknowledged actions.
        refused: the first refusal; "" for none.
    """

    done: int
    refused: str


@final
class Puppet:
    """The controlling end.

    Args:
        place: of its folders.
        name: of the puppet and its log.
        project: the file that it opens for writing.
        seed: of its random generator.
    """

    def __init__(self, place: Place, name: str, project: Path, seed: int) -> None:
        self.log = place.folder / f"{name}.jsonl"
        self._orders, self._answers = (
            place.folder / f"{name}.orders",
            place.folder / f"{name}.answers",
        )
        os.mkfifo(self._orders)
        self._pipe = os.open(self._orders, os.O_RDWR)
        self._read = 0
        self._child = Child(place, _obey, self.log, self._orders, self._answers, project, seed)
        self.opening = self._answer()

    @property
    def is_alive(self) -> bool:
        """Whether it is running."""
        return self._child.is_alive

    def label(self, count: int) -> Answer:
        """Label images one by one."""
        return self._order(f"label {count}")

    def rush(self) -> None:
        """Label until killed."""
        os.write(self._pipe, b"label 1000000\n")

    def close(self) -> Ending:
        """Close the project and end."""
        with suppress(OSError):
            os.write(self._pipe, b"close 0\n")
        ending = self._child.ending(_LIMIT_S)
        os.close(self._pipe)
        return ending

    def kill(self) -> None:
        """Kill it."""
        self._child.kill()
        os.close(self._pipe)

    def _order(self, text: str) -> Answer:
        os.write(self._pipe, f"{text}\n".encode())
        return self._answer()

    def _answer(self) -> Answer:
        limit = time.monotonic() + _LIMIT_S
        self._read += 1
        while time.monotonic() < limit:
            lines = self._answers.read_bytes().split(b"\n")[:-1] if self._answers.exists() else []
            if len(lines) >= self._read:
                return Answer(**json.loads(lines[self._read - 1]))
            if not self._child.is_alive:
                break
            time.sleep(0.001)
        return Answer(0, "no answer")


def _obey(log_path: Path, orders: Path, answers: Path, path: Path, seed: int) -> None:
    """Open the project and obey commands, in the child."""
    log, chance = Log(log_path), Random(seed)
    descriptor = os.open(answers, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def answer(done: int, refused: str = "") -> None:
        os.write(descriptor, json.dumps({"done": done, "refused": refused}).encode() + b"\n")

    try:
        project = Project.open(path)
    except ProtoleafError as error:
        answer(0, str(error))
        return
    answer(1)
    with orders.open(encoding="utf-8") as lines:
        for line in iter(lines.readline, ""):
            order, count = line.split()
            if order == "close":
                break
            answer(*_label(project, log, chance, int(count)))
    with suppress(ProtoleafError):
        project.close()


def _label(project: Project, log: Log, chance: Random, count: int) -> tuple[int, str]:
    done, refused = 0, ""
    for _ in range(count):
        try:
            label_one(project, log, chance)
            done += 1
        except ProtoleafError as error:
            log.refuse(str(error))
            refused = refused or str(error)
    return done, refused
