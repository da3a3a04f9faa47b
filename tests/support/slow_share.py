"""A slow share whose calls block until the test releases them, without a clock."""

import os
import threading
from pathlib import Path
from typing import Any, final

import pytest

from tests.support.collections import write_shape

LONGEST_WAIT_S = 30.0
"""A call that waits longer has deadlocked with its caller, and fails the test."""


@final
class SlowShare:
    """Makes listing and examining files below a folder block.

    Attributes:
        folder: with a number of pictures.
        asked: each call, in order.
        askers: names of the calling threads.
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
        """Release a number of calls, and wait for the next one."""
        for _ in range(count):
            self._wait_for_request()
            self._passes.release()
        self._wait_for_request()
        self._arrived.release()

    def open(self) -> None:
        """Block no longer."""
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
