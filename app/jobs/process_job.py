"""A job that runs in a child process: the same program in worker mode. What goes wrong there costs a message."""

import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from app.jobs.job import Job, JobState
from engine.events import Progress

_log = logging.getLogger(__name__)

CANCEL_GRACE_MS: Final = 5_000
"""A child that was asked to stop finishes its batch; one that has not after this time is ended."""

STOP_GRACE_MS: Final = 2_000
"""The same when the program ends and somebody waits."""


def worker_command() -> list[str]:
    """Command that starts this program in worker mode."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "worker"]
    # -P: a folder called "app" where the person happens to be must not be taken for ours
    return [sys.executable, "-P", "-m", "app", "worker"]


@final
class ProcessJob(Job):
    """Hands a job to a child process and turns its JSON lines into signals.

    Signals:
        batch: results of some images as the worker wrote them, [[image id, hash in hex or None, failure or None], ...].
        point: figures of a running training, by name.

    Args:
        title: what the status bar says.
        request: the job, plain data for JSON.
        command: program and arguments.
        cancel_grace_ms: how long a child that was asked to stop may take.
    """

    batch = Signal(object)
    point = Signal(object)

    def __init__(
        self,
        title: str,
        request: Mapping[str, Any],
        command: Sequence[str] | None = None,
        *,
        cancel_grace_ms: int = CANCEL_GRACE_MS,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(title, parent)
        self._request = request
        self._command = list(command or worker_command())
        self._result: Mapping[str, Any] | None = None
        self._message = ""
        self._was_cancelled = False
        self._pending = b""
        self._process = QProcess(self)
        self._process.setProcessEnvironment(_environment())
        self._process.readyReadStandardOutput.connect(self._on_output)
        self._process.readyReadStandardError.connect(self._on_error_output)
        self._process.errorOccurred.connect(self._on_process_error)
        self._process.finished.connect(self._on_process_finished)
        self._kill_timer = QTimer(self, singleShot=True, interval=cancel_grace_ms)
        self._kill_timer.timeout.connect(self._process.kill)

    @property
    def process_id(self) -> int:
        """Of the child; 0 while there is none."""
        return int(self._process.processId())

    def start(self) -> None:
        """Start the child and give it the job."""
        self._process.start(self._command[0], self._command[1:])
        self._process.write(json.dumps(self._request).encode() + b"\n")
        self._begin()  # last, so that whoever hears it can cancel: the child reads that after the job

    def cancel(self) -> None:
        """Ask the child to stop; end it when it does not listen."""
        if self.state is JobState.QUEUED:
            self._stop()
        elif not self.has_ended:
            self._was_cancelled = True
            self._process.write(b"cancel\n")
            self._kill_timer.start()

    def stop(self) -> None:
        """Stop the child and wait for its end, before the program ends."""
        self.cancel()
        if self._process.state() is not QProcess.ProcessState.NotRunning:
            self._process.closeWriteChannel()
            if not self._process.waitForFinished(STOP_GRACE_MS):
                self._process.kill()
                self._process.waitForFinished(STOP_GRACE_MS)

    def _on_output(self) -> None:
        self._pending += bytes(self._process.readAllStandardOutput().data())
        *lines, self._pending = self._pending.split(b"\n")
        for line in lines:
            self._on_line(line)

    def _on_line(self, line: bytes) -> None:
        try:
            event = json.loads(line)
            self._on_event(event.pop("event"), event)
        except (ValueError, KeyError, TypeError, AttributeError):
            _log.info("worker wrote a line that is no event: %s", line[:200])

    def _on_event(self, kind: str, fields: dict[str, Any]) -> None:
        if kind == "progress":
            self._report(Progress(**fields))
        elif kind == "batch":
            self.batch.emit(fields["results"])
        elif kind == "point":
            self.point.emit(fields)
        elif kind == "result":
            self._result = fields
        elif kind == "error":
            self._message = fields["message"]

    def _on_error_output(self) -> None:
        text = bytes(self._process.readAllStandardError().data()).decode("utf-8", "replace")
        _log.info("worker: %s", text.rstrip())

    def _on_process_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._fail(self.tr("%1 could not start: the program cannot run itself again.").replace("%1", self.title))

    def _on_process_finished(self, exit_code: int, exit_status: QProcess.ExitStatus) -> None:
        """Say how it ended, once the child is gone and all it wrote was read."""
        self._kill_timer.stop()
        self._on_output()
        is_crash = exit_status is QProcess.ExitStatus.CrashExit
        if self._result is not None:
            self._succeed(self._result)
        elif self._message:
            self._fail(self._message)
        elif self._was_cancelled:
            self._stop()
        else:
            _log.error("worker ended without a result: status %d, crashed %s", exit_code, is_crash)
            text = (
                self.tr("%1 ended unexpectedly. What was finished is kept; start it again to go on from there.")
                if self.keeps_finished
                else self.tr("%1 ended unexpectedly. The project is as it was; start it again.")
            )
            self._fail(text.replace("%1", self.title))


def _environment() -> QProcessEnvironment:
    """Let the child find the same packages as this program, wherever it is started from."""
    environment = QProcessEnvironment.systemEnvironment()
    here = str(Path(__file__).resolve().parent.parent.parent)
    inherited = environment.value("PYTHONPATH", "")
    environment.insert("PYTHONPATH", os.pathsep.join(part for part in (here, inherited) if part))
    environment.insert("PYTHONIOENCODING", "utf-8")
    return environment
