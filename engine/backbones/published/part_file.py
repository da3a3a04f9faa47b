"""The part of a download that has arrived so far, with what the next run must know to go on from there."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

import msgspec
from filelock import FileLock, Timeout

from engine.errors import StorageError
from engine.full_disk import disk_full, storage_error
from engine.new_file import open_own, private_folder, write_file

PART_SUFFIX: Final = ".part"
_NOTES_SUFFIX: Final = ".part.json"


@dataclass(frozen=True)
class PartNotes:
    """What is known of the file that a part belongs to."""

    url: str = ""  # where it comes from; empty when nothing is known
    validator: str = ""  # the server's mark of this version of it; empty when it gives none
    total: int = 0  # its size in bytes; 0 when the server did not say


@final
class PartFile:
    """The part beside `target`, the file that it will become. Every refusal of the disk becomes a `StorageError`."""

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(target.name + PART_SUFFIX)
        self._target = target
        self._notes_path = target.with_name(target.name + _NOTES_SUFFIX)

    @property
    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def notes(self) -> PartNotes:
        """What was noted; empty when nothing useful was."""
        try:
            return msgspec.json.decode(self._notes_path.read_bytes(), type=PartNotes)
        except (OSError, msgspec.MsgspecError, RecursionError):
            return PartNotes()

    def start(self, notes: PartNotes) -> None:
        with self.writing():
            open_own(self.path, "wb").close()
            write_file(self._notes_path, msgspec.json.encode(notes))

    @contextmanager
    def appending(self) -> Iterator[Callable[[bytes], None]]:
        """Open the part; yields a function that adds a piece, which is in the file when it returns."""
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
        """Refuse a file that the disk has no room for; what has arrived before stays."""
        free = shutil.disk_usage(self.path.parent).free
        if size_bytes > free:
            raise disk_full(self.path.parent, needed_bytes=size_bytes, free_bytes=free)

    def finish(self) -> None:
        with self.writing():
            self.path.replace(self._target)
            self._notes_path.unlink(missing_ok=True)

    def remove(self) -> None:
        for path in (self.path, self._notes_path):
            with suppress(OSError):
                path.unlink()

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
    """Keep other programs of ours away from what the block works on, with a file that stays.

    Raises:
        StorageError: another program holds it, which is said with `refusal`, or the disk refuses.
    """
    lock = FileLock(lock_path)
    try:
        private_folder(lock_path.parent)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StorageError(refusal, found=lock_path.stem, remedy="wait for it to finish, or stop it there") from error
    except OSError as error:
        raise storage_error(lock_path.parent, error, "the download cannot be written") from error
    try:
        yield
    finally:
        lock.release()
