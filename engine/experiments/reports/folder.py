"""The folder that reports go to."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import StorageError


@contextmanager
def writing_into(folder: Path) -> Iterator[None]:
    """Make the folder and tell plainly when it refuses what is written inside this context.

    Args:
        folder: made when missing, with those above it.

    Raises:
        StorageError: the folder refuses.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise StorageError(
            f"the report cannot be written: {error}", found=str(folder), remedy="make room or choose another folder"
        ) from error


def write_lines(path: Path, text: str) -> None:
    """Write a text as it is, the same on every system.

    Args:
        path: the file; an older one is replaced.
        text: with its line ends.
    """
    path.write_text(text, encoding="utf-8", newline="\n")
