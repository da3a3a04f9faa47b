"""Downloads one file: goes on where it stopped, and keeps nothing that is not what was promised."""

import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final, final
from urllib.parse import urlsplit

import httpx
from filelock import FileLock, Timeout

from engine.backbones.published.part_file import PartFile, PartNotes
from engine.backbones.published.web_client import (
    check_address,
    is_passing,
    is_unreachable,
    network_error,
    proxy_for,
    web_client,
)
from engine.errors import ModelError, NetworkError, StorageError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.model_card import file_hash
from engine.new_file import private_folder

ATTEMPTS: Final = 5
"""Requests in a row that may bring nothing new before the download gives up; each that gets further starts anew."""
_FIRST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 16.0
_PAUSE_STEP_S: Final = 0.1
_FACTOR: Final = 1.01
_SLACK_BYTES: Final = 1 << 16
"""Promised sizes are rounded, and a file is not judged by them: only what is far off is not asked for at all."""
_LOST: Final = "what has arrived is kept: run it again to go on from there"
_RANGE: Final = re.compile(r"bytes (\d{1,18})-\d+/(\d{1,18}|\*)")
_PAGE: Final = re.compile(rb"\s*<(!doctype|html|\?xml|head|body)", re.IGNORECASE)

Pause = Callable[[float, CancelToken], None]


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
    pause: Pause | None = None,
) -> Path:
    """Download a file, or finish a download that was broken off.

    Args:
        url: https, or http on this computer.
        target: where the file goes; what has arrived of it lies beside it in a `.part` file. A file that is there
            already and has the right checksum is not asked for again.
        size_bytes: about how large the file is; 0 while unknown.
        sha256_prefix: first digits of its SHA-256 in hex; empty: not known.
        proxy: address of a proxy; empty: that of the environment or the system, if any.
        on_progress: told the bytes done and in all, bytes a second and seconds left.
        cancel: stops between two pieces of the file; what has arrived stays.
        transport: sends requests; by default over the network.
        pause: waits before another attempt, some seconds unless cancelled.

    Returns:
        `target`.

    Raises:
        UsageError: `proxy` is not the address of a proxy.
        NetworkError: no connection, the server refuses, or what it sends is another file.
        ModelError: the checksum is wrong; the file is deleted.
        StorageError: the disk refuses or is full, nothing of the file is kept; or another program downloads it now.
        Cancelled: stopped by the person; what has arrived is kept.
    """
    check_address(url)
    way = proxy_for(url, proxy)
    if target.is_file() and sha256_prefix and file_hash(target).startswith(sha256_prefix):
        return target
    part = PartFile(target)
    with _alone(part, target), web_client(way, transport) as client:
        job = _Download(client, url, part, size_bytes, on_progress=on_progress, cancel=cancel or CancelToken())
        failure = job.run(pause or _wait)
        if failure is not None:
            raise network_error(failure, url, proxy=way, remedy=_LOST if part.size else "") from failure
        _check(part, sha256_prefix, url)
        part.finish()
    return target


@final
class _Download:
    """One download: asks until everything has arrived."""

    def __init__(
        self,
        client: httpx.Client,
        url: str,
        part: PartFile,
        size_bytes: int,
        *,
        on_progress: OnProgress,
        cancel: CancelToken,
    ) -> None:
        self._client = client
        self._url = url
        self._part = part
        self._promised = size_bytes
        self._least = max(1, round(size_bytes / _FACTOR) - _SLACK_BYTES)
        self._most = size_bytes * _FACTOR + _SLACK_BYTES if size_bytes else math.inf
        self._on_progress = on_progress
        self._cancel = cancel
        notes = part.notes()
        if notes is None or notes.url != url:
            part.remove()

    def run(self, pause: Pause) -> httpx.HTTPError | None:
        """Returns what went wrong at last, or None when everything is there."""
        attempts_left, has_received, furthest = ATTEMPTS, False, self._part.size
        while True:
            failure = self._attempt()
            if failure is None:
                return None
            came = self._part.size > furthest  # what was thrown away and arrived again is nothing new
            furthest = max(furthest, self._part.size)
            has_received |= came
            attempts_left = ATTEMPTS - 1 if came else attempts_left - 1
            may_help = is_passing(failure) and (has_received or not is_unreachable(failure))
            if attempts_left <= 0 or not may_help:
                return failure
            pause(min(_FIRST_PAUSE_S * 2 ** (ATTEMPTS - 1 - attempts_left), _LONGEST_PAUSE_S), self._cancel)

    def _attempt(self) -> httpx.HTTPError | None:
        """Ask once for what is missing; returns what broke it off, or None when everything is there."""
        self._cancel.raise_if_cancelled()
        notes, have = self._part.notes(), self._part.size
        if notes is not None and have and have == notes.total:
            return None  # it had all arrived when the program was ended
        headers = {"Range": f"bytes={have}-"} if have else {}
        if have and notes is not None and notes.validator:
            headers["If-Range"] = notes.validator
        try:
            with self._client.stream("GET", self._url, headers=headers) as answer:
                if have and answer.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                    self._part.remove()  # the part belongs to another version of the file
                    return httpx.ReadError("the file has changed on the server")
                self._receive(answer.raise_for_status(), have)
        except httpx.HTTPError as error:
            return error
        return None

    def _receive(self, answer: httpx.Response, have: int) -> None:
        start, total = self._place(answer, have)
        self._check_promises(answer, total)
        if start == 0:
            self._part.start(PartNotes(self._url, _validator(answer), total))
        self._part.check_room(total - start)
        meter = ProgressMeter(total or self._promised, self._on_progress, unit="bytes", already_done=start)
        with self._part.appending() as add, suppress(httpx.RemoteProtocolError):  # cut short: counted below
            for piece in answer.iter_raw():
                self._cancel.raise_if_cancelled()
                if meter.done == 0 and _PAGE.match(piece):
                    raise _web_page(self._url)
                add(piece)
                meter.advance(len(piece))
                self._check_size(meter.done)
        self._cancel.raise_if_cancelled()
        if meter.done < (total or self._least):
            raise httpx.RemoteProtocolError(f"{meter.done:,} of {meter.total:,} bytes arrived")

    def _place(self, answer: httpx.Response, have: int) -> tuple[int, int]:
        """Where in the file the answer starts, and the file's size; 0 when the server does not say."""
        if answer.status_code != HTTPStatus.PARTIAL_CONTENT:  # it knows no ranges, or has another version of the file
            return 0, int(answer.headers.get("Content-Length", 0))
        place = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        notes = self._part.notes()
        noted = notes.total if notes else 0
        total = int(place[2]) if place and place[2] != "*" else noted
        if place is None or int(place[1]) != have or (noted and noted != total):
            self._part.remove()
            raise httpx.ReadError("the server sent another part than was asked for")
        return have, total

    def _check_promises(self, answer: httpx.Response, total: int) -> None:
        kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind in {"text/html", "application/xhtml+xml"}:
            raise _web_page(self._url)
        if total and not self._least <= total <= self._most:
            raise _other_size(self._url, self._promised, total)

    def _check_size(self, done: int) -> None:
        if done > self._most:
            self._part.remove()
            raise _other_size(self._url, self._promised, done)


def _validator(answer: httpx.Response) -> str:
    """The mark by which a server knows this version again; a weak one does not promise the same bytes."""
    mark: str = answer.headers.get("ETag", "")
    return mark if mark and not mark.startswith("W/") else answer.headers.get("Last-Modified", "")


@contextmanager
def _alone(part: PartFile, target: Path) -> Iterator[None]:
    """Keep other programs of ours away from the same part."""
    lock = FileLock(f"{target}.lock")
    with part.writing():
        private_folder(target.parent)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise StorageError(
                "this file is being downloaded already", found=str(target), remedy="wait for it, or stop it there"
            ) from error
    try:
        yield
    finally:
        if not part.size:
            part.remove()
        lock.release()


def _check(part: PartFile, sha256_prefix: str, url: str) -> None:
    with part.writing():  # somebody who clears the cache takes it away
        found = file_hash(part.path)
    if not found.startswith(sha256_prefix):
        part.remove()
        raise ModelError(
            "the downloaded file is not the one that was published",
            expected=f"SHA-256 {sha256_prefix}…",
            found=f"{found[: max(8, len(sha256_prefix))]}… from {url}",
            remedy="it was deleted; run it again",
        )


def _web_page(url: str) -> NetworkError:
    return NetworkError(
        "a web page came instead of the file",
        expected=url,
        found="HTML",
        remedy="a sign-in page of the network may be in between: open the address in a browser, then try again",
    )


def _other_size(url: str, promised: int, found: int) -> NetworkError:
    return NetworkError(
        f"{urlsplit(url).hostname} offers another file",
        expected=f"about {promised / 1e6:.1f} MB",
        found=f"{found / 1e6:.1f} MB for {url}",
        remedy="try again later; a newer version of the program may know the file",
    )


def _wait(seconds: float, cancel: CancelToken) -> None:
    until_s = time.monotonic() + seconds
    while (left_s := until_s - time.monotonic()) > 0:
        cancel.raise_if_cancelled()
        time.sleep(min(_PAUSE_STEP_S, left_s))
