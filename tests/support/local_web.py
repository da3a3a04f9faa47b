"""A local web server for tests."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class QuietHandler(BaseHTTPRequestHandler):
    """Base of handlers, without logging."""

    def tell(self, headers: dict[str, str]) -> None:
        """Send headers; underscores in names become dashes."""
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def tell_length(self, body: bytes) -> None:
        """Send the content length."""
        self.send_header("Content-Length", str(len(body)))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (overrides)
        """Log nothing."""


@contextmanager
def answering(handler: type[QuietHandler], **attributes: object) -> Iterator[int]:
    """Serve on a free port within the block.

    Args:
        handler: its subclass gets the attributes.
        attributes: state of the server.
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
