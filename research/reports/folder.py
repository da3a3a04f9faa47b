"""The output folder of reports."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.full_disk import writing
from engine.new_file import output_file


@contextmanager
def writing_into(folder: Path) -> Iterator[None]:
    """Create the folder; errors of writing inside this context become `StorageError`.

    Args:
        folder: created if missing, with its parents.

    Raises:
        StorageError: the folder cannot be written.
    """
    with writing(folder, "the report cannot be written", "make room or choose another folder"):
        folder.mkdir(parents=True, exist_ok=True)
        yield


def write_lines(path: Path, text: str) -> None:
    """Write a text unchanged, with the same line ends on every system.

    Args:
        path: the file; an older one is replaced.
        text: with its line ends.
    """
    with output_file(path) as file:
        file.write(text.encode("utf-8"))
