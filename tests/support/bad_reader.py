"""A reader process that crashes, hangs or runs out of memory at files of certain names.

Arguments: `slowly` for some milliseconds a file, `at-once` to end before reading, `without-memory`
to fail at every request.
"""

import os
import sys
import time
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

from engine.embedding import reader_process
from engine.embedding.photo_messages import ReadPhotos, Ready
from engine.images import opened_file
from engine.images import read_file as whole
from engine.jobs import FileReader
from engine.worker.serve import serve_standard_streams

SLOWLY_S = 0.003 if "slowly" in sys.argv else 0.0


def read_file(path: Path) -> bytes:
    """Read a file or misbehave, by its name."""
    time.sleep(SLOWLY_S)
    if "ends" in path.name:
        os._exit(7)
    if "hangs" in path.name:
        time.sleep(3600)
    if "starves" in path.name:
        raise MemoryError
    return whole.read_file(path)


def attach(_name: str) -> SharedMemory:
    """Fail to attach shared memory."""
    raise MemoryError


if __name__ == "__main__":
    if "at-once" in sys.argv:
        os._exit(7)
    if "without-memory" in sys.argv:
        setattr(reader_process, "SharedMemory", attach)  # noqa: B010 (a foreign module)
    setattr(opened_file, "read_file", read_file)  # noqa: B010 (not exported)
    reader = FileReader()
    sys.exit(serve_standard_streams({Ready: reader.load, ReadPhotos: reader.read}))
