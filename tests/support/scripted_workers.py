"""Scripted workers: children that play scripts."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from app.jobs.process_job import ProcessJob
from engine.embedding.messages import EmbedImages, EmbedSummary
from engine.worker.client import OnEnding, OnEvent, Worker
from engine.worker.protocol import Request, Stopped, encode

_CHILD = """
import json, sys

def asked():
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit(0)

for script in json.loads(sys.argv[1]):
    number = asked()["number"]
    for line in script:
        if line in ("wait", "wait for a word"):
            while asked()["kind"] != {"wait": "Cancel", "wait for a word": "Word"}[line]:
                pass
            if line == "wait":
                line = json.loads(sys.argv[2])
        if line == "die":
            sys.exit(0)
        if isinstance(line, dict):
            print(json.dumps({**line, "number": number}), flush=True)
while True:
    asked()
"""

Step = object
"""A message; "wait": until cancelled; "wait for a word"; or "die"."""


def scripted_command(*scripts: Sequence[Step]) -> list[str]:
    """Command of a worker that answers each request with the next script.

    Args:
        scripts: for each request; after "wait" it is stopped.
    """
    plays = [
        [step if isinstance(step, str) else _line(step) for step in script] for script in scripts
    ]
    return [sys.executable, "-S", "-c", _CHILD, json.dumps(plays), json.dumps(_line(Stopped()))]


def _line(message: object) -> Any:
    return json.loads(encode(0, message))


def ended(device: str, *, reason: str = "", notice: str = "") -> EmbedSummary:
    """The end of an embedding run."""
    return EmbedSummary(0, 0, (), 0, 0.0, 0.0, device, notice, reason)


class Player:
    """Makes jobs that play scripts, and records requests.

    Args:
        scripts: of each job.
    """

    def __init__(self, *scripts: Sequence[Step]) -> None:
        self.requests: list[Any] = []
        self._scripts = list(scripts)

    def __call__(self, title: str, request: Request[Any]) -> ProcessJob:
        """Make the next job."""
        self.requests.append(request)
        return ProcessJob(title, request, scripted_command(self._scripts.pop(0)))


class ScriptedWorkers:
    """Starts persistent workers that play scripts, and records requests.

    Args:
        scripts: of each worker's requests.
    """

    def __init__(self, *scripts: Sequence[Sequence[Step]]) -> None:
        self.requests: list[EmbedImages] = []
        self.started: list[Worker] = []
        self._scripts = list(scripts)

    def __call__(self) -> Worker:
        """Start the next worker."""
        worker = Worker(scripted_command(*self._scripts.pop(0)), stays=True)
        self.started.append(worker)
        send = worker.send

        def remembered(request: EmbedImages, on_event: OnEvent, on_ending: OnEnding) -> int:
            self.requests.append(request)
            return send(request, on_event, on_ending)

        worker.send = remembered  # type: ignore[method-assign, assignment]
        return worker
