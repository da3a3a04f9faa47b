"""New files: written under a random hidden name first, so that no partial file is ever visible.

A draft is created with `O_EXCL | O_NOFOLLOW`, so that it cannot be redirected by a link. It is
locked while it is being written: one without a lock was left by a process that died.
"""

import errno
import os
import re
import stat
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedWriter, FileIO, TextIOWrapper
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, TextIO, cast, final

if os.name == "posix":
    import fcntl

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
ORDINARY_FILE = 0o666  # less the umask
DRAFT_SUFFIX = ".protoleaf-new"
SQLITE_DRAFT_SUFFIX = ".protoleaf-new-db"
READER_WAIT_S = 10.0  # how long a named pipe may be without a reader
_READER_POLL_S = 0.05  # how often it is tried again
_OPEN_STREAMS = re.compile(r"/dev(/fd)?|/proc/.*")
"""Folders of devices and open streams."""
# Windows has no such flag, and gives links to administrators alone
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True)
class Draft:
    """A file in the making."""

    path: Path  # its hidden name, for libraries that write by name into the file that is there
    file: BinaryIO  # the same file, open for reading and writing


@contextmanager
def new_file(
    path: Path,
    *,
    replace: bool,
    mode: int = PRIVATE_FILE,
    for_sqlite: bool = False,
    durable: bool = True,
) -> Iterator[Draft]:
    """Write a file atomically: it is published under its name complete and on disk, or not at all.

    Args:
        path: a symbolic link of this name is replaced itself, never written through.
        replace: whether a file of this name is replaced; otherwise nothing may be there.
        mode: its permissions, less the umask.
        for_sqlite: whether SQLite writes it by its name. Such a draft is not locked, because on
            some systems SQLite would wait for our lock; `clear_abandoned_drafts` leaves it.
        durable: whether it is flushed to disk on return; not worth it for easily recomputed files.

    Raises:
        FileExistsError: something of this name is there, and `replace` is not set.
        OSError: the folder or the disk refuses.
    """
    if not replace and os.path.lexists(path):
        raise FileExistsError(str(path))
    draft = path.with_name(
        f".{uuid.uuid4().hex}{SQLITE_DRAFT_SUFFIX if for_sqlite else DRAFT_SUFFIX}"
    )
    file = create_file(draft, mode=mode)
    try:
        if not for_sqlite:
            _hold(file)
        yield Draft(draft, file)
        file.flush()
        if durable:
            os.fsync(file.fileno())
        if os.name != "posix":
            file.close()  # Windows renames no file that is open
        _publish(draft, path, replace=replace)
        if durable:
            flush_folder(path.parent)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        with suppress(OSError):  # what could not be flushed was reported already
            file.close()


def write_file(
    path: Path, content: bytes | str, *, replace: bool = True, mode: int = PRIVATE_FILE
) -> None:
    """Write a whole file atomically; see `new_file`. Line ends of a text are not changed."""
    with new_file(path, replace=replace, mode=mode) as draft:
        draft.file.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def output_file(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Write an output file with a name chosen by the user; see `new_file`.

    A symbolic link is replaced, not followed. An existing file keeps its permissions; a new one
    gets the ordinary ones. Others (`/dev/stdout`, a pipe) are written into.

    Raises:
        OSError: the folder or the disk refuses, or a pipe has no reader.
    """
    if is_stream(path):
        with _opened_stream(path) as file:
            yield file
        return
    with new_file(path, replace=True, mode=ORDINARY_FILE, durable=durable) as draft:
        with suppress(OSError):
            there = path.lstat()
            if stat.S_ISREG(there.st_mode):
                draft.path.chmod(stat.S_IMODE(there.st_mode))
        yield draft.file


def is_stream(path: Path) -> bool:
    """Whether a path is a device, a pipe, or an open stream of this process (`/dev/stdout`)."""
    if os.name == "posix" and _OPEN_STREAMS.fullmatch(os.path.realpath(path.parent)):
        return path.exists()
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


@final
class _Stream(FileIO):
    """A stream that cannot seek, whatever the system reports: `/dev/null` is always at 0."""

    def seekable(self) -> bool:
        """Make writers of archives write from front to back."""
        return False

    def seek(self, _offset: int, _whence: int = 0, /) -> int:
        raise OSError(errno.ESPIPE, os.strerror(errno.ESPIPE))

    def tell(self) -> int:
        raise OSError(errno.ESPIPE, os.strerror(errno.ESPIPE))


def _opened_stream(path: Path) -> BinaryIO:
    """Open a stream for writing; wait at most `READER_WAIT_S` for the reader of a named pipe."""
    if not path.is_fifo():
        return BufferedWriter(_Stream(path, "wb"))
    until = time.monotonic() + READER_WAIT_S
    while True:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > until:
                raise OSError(errno.ENXIO, "nothing reads from this pipe", str(path)) from error
            time.sleep(_READER_POLL_S)
        else:
            os.set_blocking(handle, True)
            return BufferedWriter(_Stream(handle, "wb"))


@contextmanager
def text_into(file: BinaryIO, *, errors: str = "strict") -> Iterator[TextIO]:
    """Write UTF-8 text with its line ends unchanged into a file that the caller closes."""
    text = TextIOWrapper(file, encoding="utf-8", errors=errors, newline="")
    try:
        yield text
        text.flush()
    finally:
        with suppress(OSError):  # a second refusal while the first is raised
            text.detach()


def create_file(path: Path, *, mode: int = PRIVATE_FILE) -> BinaryIO:
    """Create a new file exclusively and open it for reading and writing.

    Raises:
        FileExistsError: anything of this name is there, also a link to nowhere.
    """
    return _opened(path, "x+b", mode)


def open_own(path: Path, mode: str) -> BinaryIO:
    """Open a file of the program with a mode of `open`, not following links; a new one is private.

    Raises:
        OSError: it is a symbolic link, or cannot be opened.
    """
    return _opened(path, mode, PRIVATE_FILE)


def _opened(path: Path, mode: str, permissions: int) -> BinaryIO:
    def without_links(name: str, flags: int) -> int:
        return os.open(name, flags | _NO_FOLLOW, permissions)

    return cast(BinaryIO, open(path, mode, opener=without_links))


def _publish(draft: Path, path: Path, *, replace: bool) -> None:
    if replace:
        draft.replace(path)
        return
    try:
        os.link(draft, path)  # unlike a rename, never replaces a file that came in between
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no hard links.
        if os.path.lexists(path):
            raise FileExistsError(str(path)) from None
        draft.rename(path)
    else:
        draft.unlink()


def flush_folder(folder: Path) -> None:
    """Put the entries of a folder on disk, where the system lets us."""
    if os.name != "posix":
        return  # Windows cannot open folders and writes their entries through
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def private_folder(folder: Path) -> Path:
    """Make a folder for its owner alone, with its missing parents; one that exists is left.

    Raises:
        OSError: it cannot be made, or something else has its name.
    """
    if folder.is_dir():
        return folder
    missing = [folder, *takewhile(lambda each: not each.exists(), folder.parents)]
    for each in reversed(missing):
        each.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    return folder


def clear_abandoned_drafts(folder: Path) -> None:
    """Delete drafts of killed processes from a private folder."""
    with suppress(OSError):
        for draft in folder.glob(f".*{DRAFT_SUFFIX}"):
            with suppress(OSError):
                _remove_abandoned(draft)


def _remove_abandoned(draft: Path) -> None:
    if os.name != "posix":
        draft.unlink()  # Windows refuses while it is open
        return
    with open_own(draft, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        draft.unlink()


def _hold(file: BinaryIO) -> None:
    if os.name == "posix":
        with suppress(OSError):  # some network drives have no locks
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
