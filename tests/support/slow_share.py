"""A share whose every answer waits until the test lets it through: no clock decides anything."""

import os
import threading
from pathlib import Path
from typing import Any, Final, final

import pytest

from tests.support.collections import write_shape

LONGEST_WAIT_S: Final = 30.0
"""A request that waits longer has met code that waits for it; that fails the test."""


@final
class SlowShare:
    """All below a folder is slow from now on: listing a folder and asking for a file each wait.

    Attributes:
        folder: gets so many pictures before.
        asked: each request, in order.
        askers: names of the threads that asked.
    """

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, *, images: int = 0) -> None:
        self.folder = root / "photos"
        self._root = root
        self.asked: list[Path] = []
        self.askers: set[str] = set()
        self._arrived = threading.Semaphore(0)
        self._passes = threading.Semaphore(0)
        self._is_open = threading.Event()
        for number in range(images):
            write_shape(self.folder / f"{number}.png", "Red disc", seed=number)
        scan, stat = os.scandir, Path.stat

        def slow_scan(path: Any = ".") -> Any:
            self._ask(path)
            return scan(path)

        def slow_stat(path: Path, **options: bool) -> os.stat_result:
            self._ask(path)
            return stat(path, **options)

        monkeypatch.setattr(os, "scandir", slow_scan)
        monkeypatch.setattr(Path, "stat", slow_stat)

    def answer(self, count: int) -> None:
        """Let so many requests through, and wait until the next one has come."""
        for _ in range(count):
            self._wait_for_request()
            self._passes.release()
        self._wait_for_request()
        self._arrived.release()

    def open(self) -> None:
        """Be a fast share from now on."""
        self._is_open.set()
        for _ in range(1000):
            self._passes.release()

    def _wait_for_request(self) -> None:
        assert self._arrived.acquire(timeout=LONGEST_WAIT_S), "nobody asks the share"

    def _ask(self, path: Any) -> None:
        if (
            self._is_open.is_set()
            or isinstance(path, int)
            or not Path(path).is_relative_to(self._root)
        ):
            return
        self.asked.append(Path(path))
        self.askers.add(threading.current_thread().name)
        self._arrived.release()
        if not self._passes.acquire(timeout=LONGEST_WAIT_S):
            raise TimeoutError(f"somebody waited for {path}")
