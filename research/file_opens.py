"""Count how often the files of a folder are opened, by any process; on Linux, by inotify."""

import ctypes
import os
import struct
import sys
from collections import Counter
from pathlib import Path
from typing import final

_OPENED = 0x20  # IN_OPEN of inotify(7)
_OF_A_FOLDER = 0x40000000  # IN_ISDIR
_NOT_BLOCKING = os.O_NONBLOCK
_HEAD = struct.Struct("iIII")  # watch, mask, cookie, length of the name
_READ_BYTES = 1 << 20


@final
class FileOpenCounter:
    """Count opens from now on."""

    def __init__(self, folder: Path) -> None:
        self._counts: Counter[str] = Counter()
        self._descriptor = -1
        if sys.platform.startswith("linux"):
            library = ctypes.CDLL(None, use_errno=True)
            self._descriptor = library.inotify_init1(_NOT_BLOCKING)
            library.inotify_add_watch(self._descriptor, os.fsencode(folder), _OPENED)

    def counts(self) -> list[int]:
        """Histogram: how many files were opened once, twice ..."""
        while (events := self._read()) != b"":
            self._take(events)
        often = Counter(self._counts.values())
        return [often[times] for times in range(1, max(often, default=0) + 1)]

    def _read(self) -> bytes:
        if self._descriptor < 0:
            return b""
        try:
            return os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            return b""

    def _take(self, events: bytes) -> None:
        at = 0
        while at < len(events):
            _watch, mask, _cookie, length = _HEAD.unpack_from(events, at)
            at += _HEAD.size
            name = os.fsdecode(events[at : at + length].rstrip(b"\0"))
            at += length
            if name and not mask & _OF_A_FOLDER:
                self._counts[name] += 1
