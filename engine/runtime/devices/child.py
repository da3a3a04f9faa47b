"""Tries a device in a child process: what crashes or hangs there costs a reason, not this program."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Final

from engine.runtime.devices.reasons import Attempt

TRIAL_LIMIT_S: Final = 60.0
"""Cold CUDA libraries are gigabytes that come from the disk: a slow one needs its time."""

_GRACE_S: Final = 5.0
"""The child ends by itself this much later: should this process be gone by then, nobody else would end it."""

VERB: Final = "probe"


@dataclass(frozen=True)
class Trial:
    """What a child told: how the attempt ended, and the speed it measured, by name, if it was asked to."""

    attempt: Attempt
    speed: dict[str, float]


TryInChild = Callable[[str, float, float], Trial]
"""Gets the device, how long to wait, and for how long to measure the speed, all in seconds."""


def worker_command() -> list[str]:
    """Command that starts this program as a worker."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "worker"]
    return [sys.executable, "-P", "-m", "engine.jobs.serve"]


def try_in_child(
    device: str, limit_s: float = TRIAL_LIMIT_S, measure_s: float = 0.0, *, command: Sequence[str] = ()
) -> Trial:
    """Try a device on the tiny model, in a child process.

    Args:
        device: "cuda", "tensorrt", ...
        limit_s: the child is ended after this time.
        measure_s: how long to measure the bundled backbone's speed; 0: not at all.
        command: of the child; by default this program as a worker.
    """
    job = {"verb": VERB, "device": device, "measure_s": measure_s, "end_s": limit_s + _GRACE_S}
    try:
        with _told(job) as stdin:
            done = subprocess.run(  # noqa: S603 (our own program)
                list(command) or worker_command(),
                stdin=stdin,
                capture_output=True,
                timeout=limit_s,
                check=False,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
    except subprocess.TimeoutExpired as expired:
        return read_trial(expired.stdout or b"", Attempt(works=False, timed_out_s=limit_s))
    except OSError as error:
        return Trial(Attempt(works=False, message=f"the trial process cannot be started: {error}"), {})
    return read_trial(done.stdout, Attempt(works=False, signal=done.returncode, message=_last_line(done.stderr)))


@contextmanager
def _told(job: Mapping[str, Any]) -> Iterator[int]:
    """Standard input for a child: its job, and an end when this process ends, even if it is killed."""
    reading, writing = os.pipe()
    try:
        os.write(writing, json.dumps(job).encode() + b"\n")
        yield reading
    finally:
        os.close(reading)
        os.close(writing)


def read_trial(output: bytes, otherwise: Attempt) -> Trial:
    """Read a child's events; what it told before it died or was ended counts.

    Args:
        output: JSON lines.
        otherwise: how the attempt ended when the child did not say.
    """
    attempt, speed = otherwise, {}
    for line in output.splitlines():
        try:
            event = json.loads(line)
            kind = event.pop("event")
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if kind == "attempt":
            attempt = _attempt(event)
        elif kind == "result":
            speed = {name: float(value) for name, value in event.items()}
        elif kind == "error" and not attempt.works:
            attempt = Attempt(works=False, message=str(event.get("message", "")))
    return Trial(attempt, speed)


def _attempt(event: dict[str, Any]) -> Attempt:
    known = {field.name for field in fields(Attempt)}
    return Attempt(**{name: value for name, value in event.items() if name in known})


def _last_line(text: bytes) -> str:
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else ""
