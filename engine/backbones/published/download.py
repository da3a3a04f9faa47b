"""Downloads one file: resumes, and keeps only files of the expected size and checksum."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import final
from urllib.parse import urlsplit

import httpx
import msgspec
from filelock import FileLock, Timeout

from engine.backbones.published.route import PART_SUFFIX
from engine.backbones.published.web_client import (
    check_address,
    is_passing,
    is_unreachable,
    network_error,
    proxy_for,
    web_client,
)
from engine.errors import ModelError, NetworkError, StorageError
from engine.events import BYTES, CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.full_disk import disk_full, storage_error
from engine.model_card import file_hash
from engine.new_file import open_own, private_folder, write_file

Pause = Callable[[float, CancelToken], None]

ATTEMPTS = 5
"""Requests in a row without new bytes before the download gives up."""
_LOST_REMEDY = "what was downloaded is kept: run it again to resume"
_RANGE = re.compile(r"bytes (\d{1,18})-\d+/(\d{1,18}|\*)")
_PAGE = re.compile(rb"\s*<(!doctype|html|\?xml|head|body)", re.IGNORECASE)
_NOTES_SUFFIX = ".part.json"
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 16.0
_PAUSE_STEP_S = 0.1
_ROUNDING = 0.01
_SLACK_BYTES = 1 << 16
"""Published sizes are rounded: only a file whose size is far off is refused."""


@dataclass(frozen=True)
class PartNotes:
    """The file that a part belongs to."""

    url: str = ""  # where it comes from; empty when unknown
    validator: str = ""  # the server's mark of this version; empty when it gives none
    total: int = 0  # its size in bytes; 0 when the server did not report it


@final
class PartFile:
    """The partial file of `target`. Every error of the disk becomes a `StorageError`."""

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
        """The metadata of the partial file; empty where it cannot be read."""
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
        """Open the part; yields a function that adds a piece and flushes it."""
        with self.writing():
            file = open_own(self.path, "ab")

        def add(piece: bytes) -> None:
            with self.writing():
                file.write(piece)
                file.flush()

        try:
            yield add
        finally:
            with suppress(OSError):  # what was not flushed was reported already
                file.close()

    def check_space(self, size_bytes: int) -> None:
        """Refuse a file that the disk has no room for; what arrived before stays."""
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
            raise storage_error(
                self._target,
                error,
                "the download cannot be written",
                "free some disk space or choose another folder; nothing was kept",
            ) from error


@contextmanager
def alone(lock_path: Path, refusal: str) -> Iterator[None]:
    """Exclude other processes of the program from the block, with a lock file that is not removed.

    Raises:
        StorageError: another one holds it, with `refusal` as reason, or the disk refuses.
    """
    lock = FileLock(lock_path)
    try:
        private_folder(lock_path.parent)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StorageError(
            refusal, found=lock_path.stem, remedy="wait for it to finish, or stop it there"
        ) from error
    except OSError as error:
        raise storage_error(lock_path.parent, error, "the download cannot be written") from error
    try:
        yield
    finally:
        lock.release()


def _wait(seconds: float, cancel: CancelToken) -> None:
    for _ in range(round(seconds / _PAUSE_STEP_S)):  # Windows hears Ctrl+C only between two waits
        cancel.wait(_PAUSE_STEP_S)
        cancel.raise_if_cancelled()


def download(
    url: str,
    target: Path,
    *,
    size_bytes: int = 0,
    sha256_prefix: str = "",
    proxy: str = "",
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
    transport: httpx.BaseTransport | None = None,
    pause: Pause = _wait,
) -> Path:
    """Download a file to `target`, which is returned, or resume a download that was broken off.

    Args:
        url: https, or http on this computer.
        target: a partial download is next to it in a `.part` file; one with the right checksum
            stays.
        size_bytes: approximate size of the file; 0 while unknown.
        sha256_prefix: first digits of its SHA-256 in hex; empty: not known.
        proxy: address of a proxy; empty: that of the environment or the system, if any.
        cancel: stops between two pieces of the file; received ones are kept.

    Raises:
        UsageError: `proxy` is not the address of a proxy.
        NetworkError: no connection, the server refuses, or what it sends is another file.
        ModelError: the checksum is wrong; the file is deleted.
        StorageError: the disk refuses or is full, nothing is stored; or another process downloads
            it.
        Cancelled: stopped by the user; the partial file stays.
    """
    check_address(url)
    way = proxy_for(url, proxy)
    if target.is_file() and sha256_prefix and file_hash(target).startswith(sha256_prefix):
        return target
    part = PartFile(target)
    lock = target.with_name(f"{target.name}.lock")
    with alone(lock, "this file is being downloaded already"), web_client(way, transport) as client:
        try:
            failure = _Download(
                client, url, part, size_bytes, on_progress, cancel or CancelToken()
            ).run(pause)
            if failure is not None:
                raise network_error(
                    failure, url, proxy=way, remedy=_LOST_REMEDY if part.size else ""
                ) from failure
            _check(part, sha256_prefix, url)
            part.finish()
        finally:
            if not part.size:  # no empty part and no notes of one
                part.remove()
    return target


@dataclass(frozen=True)
class _Download:
    """One download: requests until everything has arrived."""

    client: httpx.Client
    url: str
    part: PartFile
    promised: int
    on_progress: OnProgress
    cancel: CancelToken

    def run(self, pause: Pause) -> httpx.HTTPError | None:
        """Returns the last failure, or None when everything has arrived."""
        if self.part.notes().url != self.url:
            self.part.remove()
        attempts, has_received, furthest = 0, False, self.part.size
        while (failure := self._attempt()) is not None:
            # Bytes that are downloaded again are not counted twice
            came = self.part.size > furthest
            furthest = max(furthest, self.part.size)
            has_received |= came
            attempts = 1 if came else attempts + 1
            may_help = is_passing(failure) and (has_received or not is_unreachable(failure))
            if attempts >= ATTEMPTS or not may_help:
                return failure
            pause(min(_FIRST_PAUSE_S * 2 ** (attempts - 1), _LONGEST_PAUSE_S), self.cancel)
        return None

    def _attempt(self) -> httpx.HTTPError | None:
        """Request the missing bytes; return the error that interrupted it, or None."""
        self.cancel.raise_if_cancelled()
        notes, have = self.part.notes(), self.part.size
        if have and have == notes.total:
            return None  # it had all arrived when the program was ended
        headers = {"Range": f"bytes={have}-"} if have else {}
        if have and notes.validator:
            headers["If-Range"] = notes.validator
        try:
            with self.client.stream("GET", self.url, headers=headers) as answer:
                if have and answer.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                    self.part.remove()  # the part belongs to another version of the file
                    return httpx.ReadError("the file has changed on the server")
                self._receive(answer.raise_for_status(), have)
        except httpx.HTTPError as error:
            return error
        return None

    def _receive(self, answer: httpx.Response, have: int) -> None:
        start, total = self._place(answer, have)
        kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind in {"text/html", "application/xhtml+xml"}:
            raise _web_page(self.url)
        if total:
            self._check_size(total)
        if start == 0:
            self.part.start(PartNotes(self.url, _validator(answer), total))
        self.part.check_space(total - start)
        meter = ProgressMeter(
            total or self.promised, self.on_progress, unit=BYTES, already_done=start
        )
        with (
            self.part.appending() as add,
            suppress(httpx.RemoteProtocolError),
        ):  # cut short: counted below
            for piece in answer.iter_raw():
                self.cancel.raise_if_cancelled()
                if meter.done == 0 and _PAGE.match(piece):
                    raise _web_page(self.url)
                add(piece)
                meter.advance(len(piece))
                self._check_size(max(meter.done, self.promised), is_written=True)
        self.cancel.raise_if_cancelled()
        least = total or max(1, self.promised - self._slack_bytes)
        if meter.done < least:
            raise httpx.RemoteProtocolError(f"{meter.done:,} of {meter.total:,} bytes arrived")

    def _place(self, answer: httpx.Response, have: int) -> tuple[int, int]:
        """Offset of the response in the file, and the file's size; 0 if not reported."""
        if (
            answer.status_code != HTTPStatus.PARTIAL_CONTENT
        ):  # no ranges, or another version of the file
            return 0, int(answer.headers.get("Content-Length", 0))
        place = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        noted = self.part.notes().total
        total = int(place[2]) if place and place[2] != "*" else noted
        if place is None or int(place[1]) != have or (noted and noted != total):
            self.part.remove()
            raise httpx.ReadError("the server sent another part than requested")
        return have, total

    @property
    def _slack_bytes(self) -> int:
        return round(self.promised * _ROUNDING) + _SLACK_BYTES

    def _check_size(self, size: int, *, is_written: bool = False) -> None:
        if self.promised and abs(size - self.promised) > self._slack_bytes:
            if is_written:
                self.part.remove()
            raise NetworkError(
                "the file on {host} does not have the expected size",
                expected="about {promised:.1f} MB",
                found="{arrived:.1f} MB for {url}",
                remedy="try again later, or with a newer version of the program",
                host=urlsplit(self.url).hostname,
                promised=self.promised / 1e6,
                arrived=size / 1e6,
                url=self.url,
            )


def _validator(answer: httpx.Response) -> str:
    """The server's mark of this version; a weak one does not promise the same bytes."""
    mark: str = answer.headers.get("ETag", "")
    return mark if mark and not mark.startswith("W/") else answer.headers.get("Last-Modified", "")


def _check(part: PartFile, sha256_prefix: str, url: str) -> None:
    with part.writing():  # the cache may have been cleared meanwhile
        digits = file_hash(part.path)
    if not digits.startswith(sha256_prefix):
        part.remove()
        what, expected = "the downloaded file is not the published one", f"SHA-256 {sha256_prefix}…"
        found, remedy = "{hash}… from {url}", "it was deleted; run it again"
        shown = digits[: max(8, len(sha256_prefix))]
        raise ModelError(what, expected=expected, found=found, remedy=remedy, hash=shown, url=url)


def _web_page(url: str) -> NetworkError:
    return NetworkError(
        "the server sent a web page instead of the file",
        expected=url,
        found="HTML",
        remedy=(
            "a sign-in page of the network may be in between: open the address in a browser, then "
            "try again"
        ),
    )
