"""A local web server of one file, which misbehaves as instructed."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.support.local_web import QuietHandler, answering


@dataclass
class WeightsServer:
    """Behaviour of the server, changed by tests while it runs, and received requests.

    Attributes:
        content: the file.
        content_type: of the file.
        etag: its ETag; empty: none.
        knows_ranges: whether it supports range requests.
        says_length: whether it sends the content length.
        statuses: of the next responses, with an empty body.
        breaks_after: bytes of each of the next responses after which the connection is cut.
        location: of a redirect; empty: none.
        ranges: the Range header of every request so far; None for none.
        paths: of the requests; the whole URL for a proxy.
        people: proxy users, as "name:password"; empty for none.
    """

    content: bytes
    content_type: str = "application/octet-stream"
    etag: str = '"first"'
    knows_ranges: bool = True
    says_length: bool = True
    statuses: list[int] = field(default_factory=list)
    breaks_after: list[int] = field(default_factory=list)
    location: str = ""
    ranges: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    people: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        """URL of the file."""
        return f"http://127.0.0.1:{self.port}/weights.pth"


@contextmanager
def serving(server: WeightsServer) -> Iterator[WeightsServer]:
    """Run the server on a free port within the block."""
    with answering(_Handler, shown=server) as server.port:
        yield server


class _Handler(QuietHandler):
    shown: WeightsServer

    def do_GET(self) -> None:
        shown = self.shown
        wanted = self.headers.get("Range")
        shown.ranges.append(wanted)
        shown.paths.append(self.path)
        credentials = self.headers.get("Proxy-Authorization", "").removeprefix("Basic ")
        shown.people.append(base64.b64decode(credentials).decode())
        if shown.statuses:
            self._answer(shown.statuses.pop(0), b"")
        elif shown.location:
            self._answer(302, b"", Location=shown.location)
        elif wanted is None or not shown.knows_ranges or self._is_other_version():
            self._answer(200, shown.content)
        else:
            self._answer_rest(int(wanted.removeprefix("bytes=").removesuffix("-")))

    def do_CONNECT(self) -> None:
        self.do_GET()

    def _is_other_version(self) -> bool:
        known = self.headers.get("If-Range")
        return known is not None and known != self.shown.etag

    def _answer_rest(self, start: int) -> None:
        size = len(self.shown.content)
        if start >= size:
            self._answer(416, b"", Content_Range=f"bytes */{size}")
        else:
            self._answer(
                206, self.shown.content[start:], Content_Range=f"bytes {start}-{size - 1}/{size}"
            )

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", self.shown.content_type)
        if self.shown.says_length:
            self.tell_length(body)
        if self.shown.etag:
            self.send_header("ETag", self.shown.etag)
        self.tell(headers)
        cut = self.shown.breaks_after.pop(0) if self.shown.breaks_after and body else len(body)
        self.wfile.write(body[:cut])
