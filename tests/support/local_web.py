"""A web server on this computer: what servers of tests have in common."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class QuietHandler(BaseHTTPRequestHandler):
    """Base of handlers; says nothing of its own."""

    def tell(self, headers: dict[str, str]) -> None:
        """Send headers, of which underscores in names are dashes."""
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def tell_length(self, body: bytes) -> None:
        """Send how long the answer is."""
        self.send_header("Content-Length", str(len(body)))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the overridden method's name)
        """Say nothing."""


@contextmanager
def answering(handler: type[QuietHandler], **attributes: object) -> Iterator[int]:
    """Answer on a free port for the time of the block.

    Args:
        handler: answers; a subclass of it gets the attributes.
        attributes: such as what the server knows.
    """
    web = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (handler,), attributes))
    web.daemon_threads = False
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield web.server_port
    finally:
        web.shutdown()
        thread.join()
        web.server_close()
