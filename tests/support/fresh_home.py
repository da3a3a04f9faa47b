"""An empty home folder for a program, and the files left in it."""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
OURS = (
    ".cache/protoleaf",
    ".config/protoleaf",
    ".local/share/protoleaf",
    ".local/state/protoleaf",
)
"""The program's folders in a home on Linux."""

SHARED = (".cache/fontconfig",)
"""Caches shared by all programs that render text."""


@dataclass(frozen=True)
class FreshHome:
    """Folders that a program finds by its environment, all below one.

    Attributes:
        root: of all of them.
    """

    root: Path

    @classmethod
    def below(cls, folder: Path) -> "FreshHome":
        """Make the folders."""
        found = cls(folder / "fresh")
        for each in (found.home, found.temporary, found.runtime, found.start):
            each.mkdir(parents=True)
        found.runtime.chmod(0o700)
        return found

    @property
    def home(self) -> Path:
        """The user's home."""
        return self.root / "home"

    @property
    def temporary(self) -> Path:
        """Temporary files."""
        return self.root / "temporary"

    @property
    def runtime(self) -> Path:
        """Sockets of the user's session."""
        return self.root / "runtime"

    @property
    def start(self) -> Path:
        """Working folder of the program."""
        return self.root / "start"

    @property
    def cache(self) -> Path:
        """The program's cache."""
        return self.home / OURS[0]

    @property
    def data(self) -> Path:
        """The program's data folder with backups."""
        return self.home / OURS[2]

    @property
    def log(self) -> Path:
        """The program's log."""
        return self.home / OURS[3] / "log"

    def environment(self, **more: str) -> dict[str, str]:
        """Environment of a program in this home, with ONNX Runtime's telemetry on."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(REPOSITORY),
            "PYTHONDONTWRITEBYTECODE": "1",
            "QT_QPA_PLATFORM": "offscreen",
            "PROTOLEAF_BACKBONE": "fast",
            "ORT_DISABLE_TELEMETRY": "0",
            **more,
        }

    def strangers(self) -> list[str]:
        """Files outside the program's folders, by path from the root."""
        return sorted(
            path.relative_to(self.root).as_posix()
            for path in self._all()
            if not self._is_expected(path)
        )

    def _all(self) -> Iterator[Path]:
        for each in (self.home, self.temporary, self.runtime, self.start):
            yield from each.rglob("*")

    def _is_expected(self, path: Path) -> bool:
        known = [self.home / name for name in (*OURS, *SHARED)]
        return any(path.is_relative_to(each) or each.is_relative_to(path) for each in known)


def program(*arguments: str | Path) -> list[str]:
    """Command that starts the program."""
    return [sys.executable, "-P", "-m", "app", *map(str, arguments)]
