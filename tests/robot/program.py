"""The installed command in a fresh home folder, started and ended."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import final

from tests.robot.display import Display
from tests.support.fresh_home import REPOSITORY, FreshHome

COMMAND = Path(sys.executable).with_name("protoleaf")
END_S = 30.0


@final
class Program:
    """Consecutive runs of the program with one home folder.

    Args:
        display: to run on.
        home: with settings, caches and projects.
        more: environment variables, such as the scale.
    """

    def __init__(
        self, display: Display, home: FreshHome, more: Mapping[str, str] | None = None
    ) -> None:
        self._variables = home.environment(
            **display.variables,
            QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1",
            PYTHONPATH=str(REPOSITORY),
            **(more or {}),
        )
        # Bytecode is cached: each test starts the program again.
        del self._variables["PYTHONDONTWRITEBYTECODE"]
        self._home = home
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def output(self) -> str:
        """Its standard output and standard error."""
        return self._log.read_text() if self._log.exists() else ""

    @property
    def _log(self) -> Path:
        return self._home.root / "output.txt"

    def start(self, *arguments: str | Path) -> None:
        """Start it."""
        assert not self.is_running
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [COMMAND, *map(str, arguments)],
                env=self._variables,
                cwd=self._home.start,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_until_ended(self) -> None:
        """Wait for its end with exit status 0."""
        assert self._process is not None
        assert self._process.wait(END_S) == 0, self.output

    def kill(self) -> None:
        """Kill it and its workers."""
        if self._process is not None and self.is_running:
            os.killpg(self._process.pid, 9)
            self._process.wait()
