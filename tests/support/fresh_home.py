"""A home that nobody has used, for a program of ours, and what the program left in it."""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[2]
OURS: Final = (
    ".cache/protoleaf",
    ".config/protoleaf",
    ".local/share/protoleaf",
    ".local/state/protoleaf",
)
"""Folders of ours in a home on Linux."""

SHARED: Final = (".cache/fontconfig",)
"""The desktop's list of fonts, one for all programs that show text; whichever comes first writes it."""


@dataclass(frozen=True)
class FreshHome:
    """Folders that a program can find by its environment, all below one.

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
        """The person's home."""
        return self.root / "home"

    @property
    def temporary(self) -> Path:
        """For files that live as long as the program."""
        return self.root / "temporary"

    @property
    def runtime(self) -> Path:
        """For the sockets of a person's session."""
        return self.root / "runtime"

    @property
    def start(self) -> Path:
        """The folder that the program is started in."""
        return self.root / "start"

    @property
    def cache(self) -> Path:
        """Our cache in this home."""
        return self.home / OURS[0]

    @property
    def data(self) -> Path:
        """Our data folder in this home, where backups go."""
        return self.home / OURS[2]

    @property
    def log(self) -> Path:
        """Our log in this home."""
        return self.home / OURS[3] / "log"

    def environment(self, **more: str) -> dict[str, str]:
        """All variables of a program in this home; the person switched ONNX Runtime's reporting on."""
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
        """What lies in these folders and is in none of ours, by its path from the root."""
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
    """Command that starts our program in a process of its own."""
    return [sys.executable, "-P", "-m", "app", *map(str, arguments)]
