"""A process that reads files as ours does, but ends, hangs or finds no memory at files that are called so."""

import os
import sys
import time
from pathlib import Path

from engine.embedding import read_photo
from engine.embedding.photo_messages import ReadPhotos, Ready
from engine.images import read_file as whole
from engine.jobs import FileReader
from engine.worker.serve import serve_standard_streams


def read_file(path: Path) -> bytes:
    """Read a file, or not."""
    if "ends" in path.name:
        os._exit(7)
    if "hangs" in path.name:
        time.sleep(3600)
    if "starves" in path.name:
        raise MemoryError
    return whole.read_file(path)


if __name__ == "__main__":
    if "at-once" in sys.argv:
        os._exit(7)
    setattr(read_photo, "read_file", read_file)  # noqa: B010 (it is not exported)
    reader = FileReader()
    sys.exit(serve_standard_streams({Ready: reader.load, ReadPhotos: reader.read}))
