"""Downloads one file: goes on where it stopped, and keeps nothing that is not what was promised."""

import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPResponse
from pathlib import Path
from typing import Final, final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request

from filelock import FileLock, Timeout

from engine import __version__
from engine.backbones.published.part_file import PartFile, PartNotes
from engine.backbones.published.web_request import (
    FAILURES,
    Failure,
    OpenUrl,
    check_address,
    is_passing,
    is_without_way,
    network_error,
    opener,
)
from engine.errors import ModelError, NetworkError, StorageError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.model_card import file_hash
from engine.new_file import private_folder

TIMEOUT_S: Final = 30.0
ATTEMPTS: Final = 5
"""Requests in a row that may bring nothing new before the download gives up; each that gets further starts anew."""
_FIRST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 16.0
_PAUSE_STEP_S: Final = 0.1
_CHUNK: Final = 1 << 16
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
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
    open_url: OpenUrl | None = None,
    pause: Pause | None = None,
) -> Path:
    """Download a file, or finish a download that was broken off.

    Args:
        url: https, or http on this computer.
        target: where the file goes; what has arrived of it lies beside it in a `.part` file. A file that is there
            already and has the right checksum is not asked for again.
        size_bytes: about how large the file is; 0 while unknown.
        sha256_prefix: first digits of its SHA-256 in hex; empty: not known.
        on_progress: told the bytes done and in all, bytes a second and seconds left.
        cancel: stops between two pieces of the file; what has arrived stays.
        open_url: sends requests; by default through the proxies of the environment.
        pause: waits before another attempt, some seconds unless cancelled.

    Returns:
        `target`.

    Raises:
        NetworkError: no connection, the server refuses, or what it sends is another file.
        ModelError: the checksum is wrong; the file is deleted.
        StorageError: the disk refuses or is full, nothing of the file is kept; or another program downloads it now.
        Cancelled: stopped by the person; what has arrived is kept.
    """
    check_address(url)
    if target.is_file() and sha256_prefix and file_hash(target).startswith(sha256_prefix):
        return target
    part = PartFile(target)
    with _alone(part, target):
        _Download(url, part, size_bytes, on_progress=on_progress, cancel=cancel or CancelToken()).run(
            open_url or opener(), pause or _wait
        )
        _check(part, sha256_prefix, url)
        part.finish()
    return target


@final
class _Download:
    """One download: asks until everything has arrived."""

    def __init__(
        self, url: str, part: PartFile, size_bytes: int, *, on_progress: OnProgress, cancel: CancelToken
    ) -> None:
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

    def run(self, open_url: OpenUrl, pause: Pause) -> None:
        attempts_left, has_received, furthest = ATTEMPTS, False, self._part.size
        while True:
            failure = self._attempt(open_url)
            if failure is None:
                return
            came = self._part.size > furthest  # what was thrown away and arrived again is nothing new
            furthest = max(furthest, self._part.size)
            has_received |= came
            attempts_left = ATTEMPTS - 1 if came else attempts_left - 1
            may_help = is_passing(failure) and (has_received or not is_without_way(failure))
            if attempts_left <= 0 or not may_help:
                raise network_error(failure, self._url, remedy=_LOST if self._part.size else "") from failure
            pause(min(_FIRST_PAUSE_S * 2 ** (ATTEMPTS - 1 - attempts_left), _LONGEST_PAUSE_S), self._cancel)

    def _attempt(self, open_url: OpenUrl) -> Failure | None:
        """Ask once for what is missing; returns what broke it off, or None when everything is there."""
        self._cancel.raise_if_cancelled()
        notes, have = self._part.notes(), self._part.size
        if notes is not None and have and have == notes.total:
            return None  # it had all arrived when the program was ended
        try:
            with open_url(self._request(notes, have), TIMEOUT_S) as answer:
                self._receive(answer, have)
        except HTTPError as error:
            error.close()
            if error.code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not have:
                return error
            self._part.remove()  # the part belongs to another version of the file
            return ConnectionError("the file has changed on the server")
        except FAILURES as error:
            return error
        return None

    def _request(self, notes: PartNotes | None, have: int) -> Request:
        headers = {"User-Agent": f"protoleaf/{__version__}", "Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
            if notes is not None and notes.validator:
                headers["If-Range"] = notes.validator
        return Request(self._url, headers=headers)  # noqa: S310 (the scheme was checked)

    def _receive(self, answer: HTTPResponse, have: int) -> None:
        start, total = self._place(answer, have)
        self._check_promises(answer, total)
        if start == 0:
            self._part.start(PartNotes(self._url, _validator(answer), total))
        self._part.check_room(total - start)
        meter = ProgressMeter(total or self._promised, self._on_progress, unit="bytes", already_done=start)
        with self._part.appending() as add:
            for piece in self._pieces(answer):
                if meter.done == 0 and _PAGE.match(piece):
                    raise _web_page(self._url)
                add(piece)
                meter.advance(len(piece))
                self._check_size(meter.done)
        if meter.done < (total or self._least):
            raise ConnectionError(f"{meter.done:,} of {meter.total:,} bytes arrived")

    def _pieces(self, answer: HTTPResponse) -> Iterator[bytes]:
        while True:
            self._cancel.raise_if_cancelled()
            piece = answer.read1(_CHUNK)
            if not piece:
                return
            yield piece

    def _place(self, answer: HTTPResponse, have: int) -> tuple[int, int]:
        """Where in the file the answer starts, and the file's size; 0 when the server does not say."""
        if answer.status != HTTPStatus.PARTIAL_CONTENT:  # a server that knows no ranges, or another version of the file
            return 0, answer.length or 0
        place = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        notes = self._part.notes()
        noted = notes.total if notes else 0
        total = int(place[2]) if place and place[2] != "*" else noted
        if place is None or int(place[1]) != have or (noted and noted != total):
            self._part.remove()
            raise ConnectionError("the server sent another part than was asked for")
        return have, total

    def _check_promises(self, answer: HTTPResponse, total: int) -> None:
        if answer.headers.get_content_type() in {"text/html", "application/xhtml+xml"}:
            raise _web_page(self._url)
        if total and not self._least <= total <= self._most:
            raise _other_size(self._url, self._promised, total)

    def _check_size(self, done: int) -> None:
        if done > self._most:
            self._part.remove()
            raise _other_size(self._url, self._promised, done)


def _validator(answer: HTTPResponse) -> str:
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
