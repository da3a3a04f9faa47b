"""The part of a download that has arrived so far, with what the next run must know to go on from there."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, final

from filelock import FileLock, Timeout

from engine.errors import StorageError
from engine.full_disk import disk_full, storage_error
from engine.new_file import open_own, private_folder, write_file

PART_SUFFIX: Final = ".part"
_NOTES_SUFFIX: Final = ".part.json"


@dataclass(frozen=True)
class PartNotes:
    """What is known of the file that a part belongs to.

    Attributes:
        url: where it comes from.
        validator: the server's mark of this version of it; empty when it gives none.
        total: its size in bytes; 0 when the server did not say.
    """

    url: str
    validator: str = ""
    total: int = 0


@final
class PartFile:
    """The part beside the file that it will become. Every refusal of the disk becomes a `StorageError`.

    Args:
        target: the file in the end.
    """

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(target.name + PART_SUFFIX)
        self._target = target
        self._notes_path = target.with_name(target.name + _NOTES_SUFFIX)

    @property
    def size(self) -> int:
        """Bytes that have arrived."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def notes(self) -> PartNotes | None:
        """What was noted; None when nothing useful was."""
        try:
            return PartNotes(**json.loads(self._notes_path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def start(self, notes: PartNotes) -> None:
        """Begin an empty part.

        Raises:
            StorageError: the disk refuses.
        """
        with self.writing():
            open_own(self.path, "wb").close()
            write_file(self._notes_path, json.dumps(asdict(notes)))

    @contextmanager
    def appending(self) -> Iterator[Callable[[bytes], None]]:
        """Open the part; yields a function that adds a piece, which is in the file when it returns.

        Raises:
            StorageError: the disk refuses.
        """
        with self.writing():
            file = open_own(self.path, "ab")

        def add(piece: bytes) -> None:
            with self.writing():
                file.write(piece)
                file.flush()

        try:
            yield add
        finally:
            with suppress(OSError):  # what was not flushed has been told already
                file.close()

    def check_room(self, size_bytes: int) -> None:
        """Refuse a file that the disk has no room for; what has arrived before stays.

        Raises:
            StorageError: with what is needed and what is free.
        """
        free = shutil.disk_usage(self.path.parent).free
        if size_bytes > free:
            raise disk_full(self.path.parent, needed_bytes=size_bytes, free_bytes=free)

    def finish(self) -> None:
        """Give the whole file its name.

        Raises:
            StorageError: the disk refuses.
        """
        with self.writing():
            self.path.replace(self._target)
            self._notes_path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Take the part away."""
        for path in (self.path, self._notes_path):
            with suppress(OSError):
                path.unlink()

    @contextmanager
    def left_clean(self) -> Iterator[None]:
        """Leave no empty part and no notes of one behind, however the block ends."""
        try:
            yield
        finally:
            if not self.size:
                self.remove()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Turn the disk's refusal inside the block into a `StorageError`, and keep nothing."""
        try:
            yield
        except OSError as error:
            self.remove()
            remedy = "free some disk space or choose another folder; nothing was kept"
            raise storage_error(self._target, error, "the download cannot be written", remedy) from error


@contextmanager
def alone(lock_path: Path, refusal: str) -> Iterator[None]:
    """Keep other programs of ours away from what the block works on.

    Args:
        lock_path: file of the lock; stays.
        refusal: what is said when another program holds it.

    Raises:
        StorageError: another program holds it, or the disk refuses.
    """
    lock = FileLock(lock_path)
    try:
        private_folder(lock_path.parent)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StorageError(refusal, found=lock_path.stem, remedy="wait for it, or stop it there") from error
    except OSError as error:
        raise storage_error(lock_path.parent, error, "the download cannot be written") from error
    try:
        yield
    finally:
        lock.release()
