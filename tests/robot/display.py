"""A separate display: X server, window manager and message bus."""

import os
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self, final

from tests.robot.patience import wait_for

START_S = 20.0


@final
class Display:
    """An X display for one program, during a `with` block.

    Args:
        width: of the screen, in pixels.
        height: of the screen.
    """

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.name = ""
        self._bus_address = ""
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Start X server, message bus and window manager, each after the previous one is ready."""
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop all processes in reverse order."""
        self._stack.close()

    def _start(self) -> None:
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="robot-")))
        self._folder.chmod(0o700)
        size = f"{self.width}x{self.height}x24"
        # -r: no auto-repeat, as slow machines release keys late.
        self.name = ":" + self._started(
            "Xvfb",
            "-displayfd",
            "{}",
            "-screen",
            "0",
            size,
            "-nolisten",
            "tcp",
            "-noreset",
            "-dpi",
            "96",
            "-r",
        )
        self._bus_address = self._started(
            "dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address={}"
        )
        self._run("openbox", "--sm-disable")
        from tests.robot.eyes import Eyes

        with Eyes(self) as eyes:
            wait_for(eyes.window_manager, "the window manager", START_S)

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables for programs on this display."""
        return {
            "DISPLAY": self.name,
            "DBUS_SESSION_BUS_ADDRESS": self._bus_address,
            "QT_QPA_PLATFORM": "xcb",
        }

    @property
    def bus_address(self) -> str:
        """Address of the message bus."""
        return self._bus_address

    def _started(self, *command: str) -> str:
        """Run a server that writes its name, once ready, to the file descriptor replacing `{}`."""
        reading, writing = os.pipe()
        self._run(*(word.format(writing) for word in command), keep=(writing,))
        os.close(writing)
        with os.fdopen(reading, encoding="ascii") as line:
            name = line.readline().strip()
        assert name, f"{command[0]} did not start: {self._log(command[0]).read_text()}"
        return name

    def _run(self, *command: str, keep: tuple[int, ...] = ()) -> None:
        variables = self.variables if self.name else {}
        with self._log(command[0]).open("wb") as log:
            process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                pass_fds=keep,
                env={
                    "PATH": os.environ["PATH"],
                    "HOME": str(self._folder),
                    "XDG_RUNTIME_DIR": str(self._folder),
                }
                | {name: value for name, value in variables.items() if value},
            )
        self._stack.callback(_end, process)

    def _log(self, program: str) -> Path:
        return self._folder / f"{program}.log"


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(START_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
