"""A child process that looks at a file nobody vouches for, held to limits: what goes wrong there is one clear error."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, final

import psutil

from engine.backbones.onnx_files.limits import Limits, ending
from engine.errors import Cancelled, ModelError
from engine.events import CancelToken
from engine.runtime.devices.child import worker_command

VERB: Final = "examine_backbone"
_LOOK_S: Final = 0.05
_MEMORY_LOOK_S: Final = 0.2
_PROGRAM_BYTES: Final = 2**29
"""What the program takes itself, generously."""
_LONGEST_WORDS: Final = 200
_LONGEST_REASON: Final = 1_000
_REMEDY: Final = "use another file"


def ask_child(
    job: Mapping[str, Any], limits: Limits, *, cancel: CancelToken | None = None, command: Sequence[str] = ()
) -> Mapping[str, Any]:
    """Let a child process do one job on an untrusted file.

    Args:
        job: plain data for JSON; what the verb `examine_backbone` takes.
        limits: the child is ended beyond them.
        cancel: ends the child.
        command: of the child; by default this program as a worker.

    Returns:
        The fields of its result.

    Raises:
        ModelError: what the child found wrong, or that it crashed, took too long, or took too much memory.
        Cancelled: `cancel` was set.
    """
    request = {"verb": VERB, **job, "limits": vars(limits)}
    try:
        child = _Child(list(command) or worker_command(), request)
    except OSError as error:
        raise ModelError("the file cannot be looked at: no process can be started", found=str(error)) from error
    with child:
        child.wait(limits, cancel or CancelToken())
    return child.result()


@final
class _Child:
    """The process, a thread that reads what it says, and an eye on what it takes."""

    def __init__(self, command: list[str], request: Mapping[str, Any]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (our own program)
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._said: dict[str, bytes] = {}
        self._readers = [
            threading.Thread(target=self._read, args=(name,), name=f"examined backbone's {name}", daemon=True)
            for name in ("stdout", "stderr")
        ]
        for reader in self._readers:
            reader.start()
        assert self._process.stdin is not None
        with suppress(OSError):  # it died at once; its ending says so
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()

    def __enter__(self) -> "_Child":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for reader in self._readers:
            reader.join()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def wait(self, limits: Limits, cancel: CancelToken) -> None:
        """Return when the child has ended."""
        ends_at, look_at = time.monotonic() + limits.seconds, 0.0
        while True:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LOOK_S)
                return
            if cancel.is_cancelled:
                raise Cancelled
            now = time.monotonic()
            if now > ends_at:
                raise ModelError(
                    "the model takes too long", expected=f"an answer within {limits.seconds:g} s", remedy=_REMEDY
                )
            if now > look_at:
                look_at = now + _MEMORY_LOOK_S
                self._check_memory(limits)

    def result(self) -> Mapping[str, Any]:
        """What the child found, once it has ended."""
        for line in reversed(self._said.get("stdout", b"").splitlines()):
            try:
                event = json.loads(line)
                kind = event.pop("event")
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
            if kind == "result":
                return dict(event)
            if kind == "error":
                raise ModelError(_shown(str(event["message"])))
        raise ModelError(
            "the model crashed the process that looked at it",
            found=f"{ending(self._process.returncode)} {self._last_words()}",
            remedy=_REMEDY,
        )

    def _read(self, name: str) -> None:
        with suppress(OSError, ValueError):
            self._said[name] = getattr(self._process, name).read()

    def _last_words(self) -> str:
        lines = self._said.get("stderr", b"").decode("utf-8", "replace").strip().splitlines()
        return f"({lines[-1].strip()[:_LONGEST_WORDS]})" if lines else ""

    def _check_memory(self, limits: Limits) -> None:
        try:
            taken = psutil.Process(self._process.pid).memory_info().rss
        except psutil.Error:
            return
        if taken > limits.memory_bytes + _PROGRAM_BYTES:
            raise too_much_memory(limits.memory_bytes)


def _shown(reason: str) -> str:
    """A reason as it may stand on a screen: names from the file are part of it, of any length and with any letters."""
    plain = "".join(letter if letter.isprintable() else "�" for letter in reason[: _LONGEST_REASON + 1])
    return plain if len(plain) <= _LONGEST_REASON else f"{plain[: _LONGEST_REASON - 1]}…"


def too_much_memory(limit_bytes: int) -> ModelError:
    """The model wants more memory than it may have."""
    return ModelError(
        "the model needs too much memory", expected=f"at most {limit_bytes / 2**20:,.0f} MB", remedy=_REMEDY
    )


def _environment() -> dict[str, str]:
    """Let the child find the same packages as this program, wherever it is started from."""
    here = str(Path(__file__).resolve().parents[3])
    paths = os.pathsep.join(part for part in (here, os.environ.get("PYTHONPATH", "")) if part)
    return {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"}
