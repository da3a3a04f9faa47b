"""The folder that reports go to."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.full_disk import writing
from engine.new_file import output_file


@contextmanager
def writing_into(folder: Path) -> Iterator[None]:
    """Make the folder and tell plainly when it refuses what is written inside this context.

    Args:
        folder: made when missing, with those above it.

    Raises:
        StorageError: the folder refuses.
    """
    with writing(folder, "the report cannot be written", "make room or choose another folder"):
        folder.mkdir(parents=True, exist_ok=True)
        yield


def write_lines(path: Path, text: str) -> None:
    """Write a text as it is, the same on every system.

    Args:
        path: the file; an older one is replaced.
        text: with its line ends.
    """
    with output_file(path) as file:
        file.write(text.encode("utf-8"))
