"""Downloads one file: goes on where it stopped, and keeps nothing that is not what was promised."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx

from engine.backbones.published.part_file import PartFile, PartNotes, alone
from engine.backbones.published.web_client import (
    check_address,
    is_passing,
    is_unreachable,
    network_error,
    proxy_for,
    web_client,
)
from engine.errors import ModelError, NetworkError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.model_card import file_hash

ATTEMPTS: Final = 5
"""Requests in a row that may bring nothing new before the download gives up; each that gets further starts anew."""
_FIRST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 16.0
_PAUSE_STEP_S: Final = 0.1
_ROUNDING: Final = 0.01
_SLACK_BYTES: Final = 1 << 16
"""Promised sizes are rounded, and a file is not judged by them: only what is far off is not asked for at all."""
_LOST: Final = "what was downloaded is kept: run it again to resume"
_RANGE: Final = re.compile(r"bytes (\d{1,18})-\d+/(\d{1,18}|\*)")
_PAGE: Final = re.compile(rb"\s*<(!doctype|html|\?xml|head|body)", re.IGNORECASE)

Pause = Callable[[float, CancelToken], None]


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
    """Download a file to `target`, which is returned, or finish a download that was broken off.

    Args:
        url: https, or http on this computer.
        target: where the file goes; what has arrived of it lies beside it in a `.part` file. A file that is there
            already and has the right checksum is not asked for again.
        size_bytes: about how large the file is; 0 while unknown.
        sha256_prefix: first digits of its SHA-256 in hex; empty: not known.
        proxy: address of a proxy; empty: that of the environment or the system, if any.
        on_progress: called with the bytes done and in all, bytes a second and seconds left.
        cancel: stops between two pieces of the file; what has arrived stays.

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
    lock = target.with_name(f"{target.name}.lock")
    with alone(lock, "this file is being downloaded already"), web_client(way, transport) as client:
        try:
            failure = _Download(client, url, part, size_bytes, on_progress, cancel or CancelToken()).run(pause)
            if failure is not None:
                raise network_error(failure, url, proxy=way, remedy=_LOST if part.size else "") from failure
            _check(part, sha256_prefix, url)
            part.finish()
        finally:
            if not part.size:  # no empty part and no notes of one
                part.remove()
    return target


@dataclass(frozen=True)
class _Download:
    """One download: asks until everything has arrived."""

    client: httpx.Client
    url: str
    part: PartFile
    promised: int
    on_progress: OnProgress
    cancel: CancelToken

    def run(self, pause: Pause) -> httpx.HTTPError | None:
        """Returns what went wrong at last, or None when everything is there."""
        if self.part.notes().url != self.url:
            self.part.remove()
        attempts, has_received, furthest = 0, False, self.part.size
        while (failure := self._attempt()) is not None:
            came = self.part.size > furthest  # what was thrown away and arrived again is nothing new
            furthest = max(furthest, self.part.size)
            has_received |= came
            attempts = 1 if came else attempts + 1
            may_help = is_passing(failure) and (has_received or not is_unreachable(failure))
            if attempts >= ATTEMPTS or not may_help:
                return failure
            pause(min(_FIRST_PAUSE_S * 2 ** (attempts - 1), _LONGEST_PAUSE_S), self.cancel)
        return None

    def _attempt(self) -> httpx.HTTPError | None:
        """Ask once for what is missing; returns what broke it off, or None when everything is there."""
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
        self.part.check_room(total - start)
        meter = ProgressMeter(total or self.promised, self.on_progress, unit="bytes", already_done=start)
        with self.part.appending() as add, suppress(httpx.RemoteProtocolError):  # cut short: counted below
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
        """Where in the file the answer starts, and the file's size; 0 when the server does not say."""
        if answer.status_code != HTTPStatus.PARTIAL_CONTENT:  # it knows no ranges, or has another version of the file
            return 0, int(answer.headers.get("Content-Length", 0))
        place = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        noted = self.part.notes().total
        total = int(place[2]) if place and place[2] != "*" else noted
        if place is None or int(place[1]) != have or (noted and noted != total):
            self.part.remove()
            raise httpx.ReadError("the server sent another part than was asked for")
        return have, total

    @property
    def _slack_bytes(self) -> int:
        return round(self.promised * _ROUNDING) + _SLACK_BYTES

    def _check_size(self, found: int, *, is_written: bool = False) -> None:
        if self.promised and abs(found - self.promised) > self._slack_bytes:
            if is_written:
                self.part.remove()
            raise NetworkError(
                "the file on {host} is not the expected one",
                expected="about {promised:.1f} MB",
                found="{arrived:.1f} MB for {url}",
                remedy="try again later; a newer version of the program may know the file",
                host=urlsplit(self.url).hostname,
                promised=self.promised / 1000000.0,
                arrived=found / 1000000.0,
                url=self.url,
            )


def _validator(answer: httpx.Response) -> str:
    """The mark by which a server knows this version again; a weak one does not promise the same bytes."""
    mark: str = answer.headers.get("ETag", "")
    return mark if mark and not mark.startswith("W/") else answer.headers.get("Last-Modified", "")


def _check(part: PartFile, sha256_prefix: str, url: str) -> None:
    with part.writing():  # somebody who clears the cache takes it away
        found = file_hash(part.path)
    if not found.startswith(sha256_prefix):
        part.remove()
        raise ModelError(
            "the downloaded file is not the published one",
            expected=f"SHA-256 {sha256_prefix}…",
            found="{hash}… from {url}",
            remedy="it was deleted; run it again",
            hash=found[: max(8, len(sha256_prefix))],
            url=url,
        )


def _web_page(url: str) -> NetworkError:
    return NetworkError(
        "the server sent a web page instead of the file",
        expected=url,
        found="HTML",
        remedy="a sign-in page of the network may be in between: open the address in a browser, then try again",
    )
