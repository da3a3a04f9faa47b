"""A local Hugging Face hub: files below owner/name/resolve/revision with their headers."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.support.local_web import QuietHandler, answering

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class HubServer:
    """Files of the hub and received requests.

    Attributes:
        files: content by path: "timm/test_vit.r160_in1k/model.safetensors".
        sent_sha256: instead of the true one; empty: none is sent.
        status: of every response if not 200.
        asked: method and path of every request.
        port: of the server.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    sent_sha256: str | None = None
    status: int = 200
    asked: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        """Its URL."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving_hub(server: HubServer) -> Iterator[HubServer]:
    """Run the hub on a free port for the time of the block."""
    with answering(_Handler, hub=server) as server.port:
        yield server


class _Handler(QuietHandler):
    """Answers like the hub: small files directly, large ones by a redirect with their headers."""

    hub: HubServer

    def do_HEAD(self) -> None:
        self.hub.asked.append(f"HEAD {self.path}")
        content = self._content()
        if content is None:
            self._answer(self.hub.status if self.hub.status != 200 else 404, b"")
            return
        digits = (
            hashlib.sha256(content).hexdigest()
            if self.hub.sent_sha256 is None
            else self.hub.sent_sha256
        )
        marks = {"X-Linked-Etag": f'"{digits}"'} if digits else {}
        self._answer(
            302,
            b"",
            Location="http://127.0.0.1:1/bytes",
            X_Repo_Commit=COMMIT,
            X_Linked_Size=str(len(content)),
            **marks,
        )

    def do_GET(self) -> None:
        self.hub.asked.append(f"GET {self.path}")
        content = self._content()
        if content is None:
            self._answer(self.hub.status if self.hub.status != 200 else 404, b"")
            return
        wanted = self.headers.get("Range")
        if wanted is None:
            self._answer(200, content, ETag='"mark"')
        else:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            place = f"bytes {start}-{len(content) - 1}/{len(content)}"
            self._answer(206, content[start:], ETag='"mark"', Content_Range=place)

    def _content(self) -> bytes | None:
        owner, name, _, _, *rest = self.path.strip("/").split("/")
        return (
            self.hub.files.get("/".join((owner, name, *rest))) if self.hub.status == 200 else None
        )

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.tell_length(body)
        self.tell(headers)
        self.wfile.write(body)
