"""Requests to web servers and to the Hugging Face hub; nothing here runs unless a person asked."""

import errno
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote, unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from engine import __version__
from engine.backbones.published.route import ProxyAddress, Route, proxy_address
from engine.errors import ModelError, NetworkError, UsageError, found_at
from engine.events import CancelToken
from engine.texts import Message, marked

TIMEOUT_S = 30.0
HUB = "https://huggingface.co"
LARGEST_TEXT_BYTES = 4_000_000
"""Descriptions take a few thousand; some list every class of a data set."""
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
_REVISION = re.compile(r"[A-Za-z0-9][\w./-]{0,95}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PINNABLE = re.compile(r"/resolve/[^/]+/")
_MOST_REDIRECTS = 5  # renamed repositories lead on once
_LOCKED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""Too slow, too busy or out of order: a retry may succeed."""
_UNREACHABLE = frozenset(
    {errno.ECONNREFUSED, errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN}
)
_PROXY_REMEDY = "put name and password into the proxy's address: http://name:password@host:port"
_REMEDIES = {
    404: "the file has been moved; a newer version of the program may find it",
    407: _PROXY_REMEDY,
}


@dataclass(frozen=True)
class RemoteFile:
    """A file as its server describes it."""

    url: str  # of this very version where the server names one
    size_bytes: int = 0  # 0 where unknown
    sha256: str = ""  # of the whole file, in hex; empty where unknown
    commit: str = ""  # the version; empty where unknown


def check_repository(repository: str, revision: str) -> None:
    """Refuse what cannot be the name of a repository on the hub, or of one of its revisions.

    Raises:
        ModelError: with how one is written.
    """
    if (
        not _REPOSITORY.fullmatch(repository)
        or not _REVISION.fullmatch(revision)
        or ".." in repository + revision
    ):
        raise ModelError(
            "this is not a network on the hub",
            expected="hf-hub:owner/name or hf-hub:owner/name@revision",
            found=f"“hf-hub:{repository}{f'@{revision}' if revision != 'main' else ''}”",
        )


def file_address(repository: str, revision: str, name: str) -> str:
    """Address of a file on the hub."""
    return f"{HUB}/{repository}/resolve/{quote(revision, safe='')}/{quote(name)}"


def page_address(repository: str) -> str:
    """Address of a repository's page, for people."""
    return f"{HUB}/{repository}"


def query_file(url: str, route: Route) -> RemoteFile | None:
    """Ask a server for size and checksum of a file; None where there is none.

    The hub answers with a redirect to the bytes, and with size, SHA-256 and version in the answer
    itself; so redirects to other hosts are not followed here.

    Raises:
        NetworkError: no connection, or the server refuses.
        UsageError: the route's proxy is not the address of a proxy.
    """
    with _asking(url, route) as client:
        answer = client.head(url, follow_redirects=False)
        for _ in range(_MOST_REDIRECTS):
            if not _leads_on(answer):
                break
            answer = client.head(
                urljoin(str(answer.url), answer.headers["Location"]), follow_redirects=False
            )
        if _is_missing(answer, url):
            return None
        if not answer.has_redirect_location:
            answer.raise_for_status()
    return _remote_file(answer)


def read_text(url: str, route: Route, *, cancel: CancelToken) -> str | None:
    """Read a small text file; None where there is none.

    Raises:
        NetworkError: no connection, the server refuses, or the file is not a small text file.
        UsageError: the route's proxy is not the address of a proxy.
    """
    content = bytearray()
    with _asking(url, route) as client, client.stream("GET", url) as answer:
        if _is_missing(answer, url):
            return None
        for piece in answer.raise_for_status().iter_raw():
            cancel.raise_if_cancelled()
            content += piece
            if len(content) > LARGEST_TEXT_BYTES:
                raise _no_description(
                    url, Message("more than {size:,} bytes", {"size": LARGEST_TEXT_BYTES})
                )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _no_description(url, marked("no text")) from error


@contextmanager
def _asking(url: str, route: Route) -> Iterator[httpx.Client]:
    """A client for one request; its failures become a `NetworkError`."""
    check_address(url)
    way = proxy_for(url, route.proxy)
    with web_client(way) as client:
        try:
            yield client
        except httpx.HTTPError as error:
            raise network_error(error, url, proxy=way) from error


def _leads_on(answer: httpx.Response) -> bool:
    """Whether a redirect stays on the host, as that of a renamed repository does."""
    if not answer.has_redirect_location or "X-Linked-Etag" in answer.headers:
        return False
    return (
        urlsplit(urljoin(str(answer.url), answer.headers["Location"])).netloc
        == answer.url.netloc.decode()
    )


def _remote_file(answer: httpx.Response) -> RemoteFile:
    url, headers = str(answer.url), answer.headers
    mark = (
        (headers.get("X-Linked-Etag") or headers.get("ETag", ""))
        .removeprefix("W/")
        .strip('"')
        .lower()
    )
    commit = headers.get("X-Repo-Commit", "")
    size = (
        headers.get("X-Linked-Size")
        or (headers.get("Content-Length") if answer.is_success else None)
        or "0"
    )
    return RemoteFile(
        url=_PINNABLE.sub(f"/resolve/{commit}/", url, count=1) if commit.isalnum() else url,
        size_bytes=int(size) if size.isdecimal() else 0,
        sha256=mark if _SHA256.fullmatch(mark) else "",
        commit=commit,
    )


def _is_missing(answer: httpx.Response, url: str) -> bool:
    """Whether there is no such file; refuses one that needs an account."""
    status = answer.status_code
    if status in _LOCKED:
        raise NetworkError(
            "the hub does not give this file without permission",
            found="{status} {phrase} for {url}",
            remedy=(
                "check the name; or agree to its terms on its page, download it there, and name "
                "the folder as mirror"
            ),
            status=status,
            phrase=HTTPStatus(status).phrase,
            url=url,
        )
    return status == HTTPStatus.NOT_FOUND


def _no_description(url: str, found: str) -> NetworkError:
    return NetworkError("the hub's description cannot be read", expected=url, found=found)


def proxy_for(url: str, proxy: str = "") -> ProxyAddress | None:
    """The proxy for a request: the chosen one, else that of the environment or the system.

    Raises:
        UsageError: `proxy` is not the address of a proxy.
        NetworkError: that of the environment or the system cannot be used.
    """
    if proxy:
        return proxy_address(proxy)
    parts, proxies = urlsplit(url), getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all", "")
    if not found or proxy_bypass(parts.netloc):
        return None
    try:
        return proxy_address(found)
    except UsageError as error:
        raise NetworkError(
            "the system's proxy cannot be used",
            found=error.found,
            remedy="check the proxy's address",
        ) from error


def web_client(
    proxy: ProxyAddress | None, transport: httpx.BaseTransport | None = None
) -> httpx.Client:
    """A client with the system's certificates that follows only safe redirects."""
    trusted, through = ssl.create_default_context(), None
    if proxy is not None:
        person = proxy.person and (unquote(proxy.person[0]), unquote(proxy.person[1]))
        is_encrypted = proxy.url.startswith("https:")
        through = httpx.Proxy(proxy.url, auth=person, ssl_context=trusted if is_encrypted else None)
    return httpx.Client(
        proxy=through,
        transport=transport,
        verify=trusted,
        trust_env=False,
        timeout=TIMEOUT_S,
        follow_redirects=True,
        event_hooks={"response": [_check_redirect]},
        headers={"User-Agent": f"protoleaf/{__version__}", "Accept-Encoding": "identity"},
    )


def check_address(url: str, *, base: str = "") -> None:
    """Refuse an address, maybe relative to `base`, that is neither https nor on this computer.

    Raises:
        NetworkError: with the address.
    """
    try:
        parts = urlsplit(urljoin(base, url))
        (parts.hostname or "").encode("idna")
        _ = parts.port
    except ValueError as error:
        raise NetworkError(
            "a redirect leads to an invalid address",
            found=found_at(url, error),
            remedy="check the proxy's address",
        ) from error
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise NetworkError("downloads need an encrypted address", expected="https://", found=url)


def _check_redirect(answer: httpx.Response) -> None:
    if answer.has_redirect_location:
        check_address(answer.headers["Location"], base=str(answer.url))


def is_passing(failure: httpx.HTTPError) -> bool:
    """Whether a retry may succeed a little later."""
    if isinstance(failure, httpx.HTTPStatusError):
        return failure.response.status_code in _PASSING
    is_refused = isinstance(failure, httpx.ProxyError) or _is_unsafe(failure)
    return isinstance(failure, httpx.TransportError) and not is_refused


def is_unreachable(failure: httpx.HTTPError) -> bool:
    """Whether the server was unreachable: unknown name, no network, or connection refused."""
    cause = _cause(failure)
    return isinstance(cause, socket.gaierror) or (
        isinstance(cause, OSError) and cause.errno in _UNREACHABLE
    )


def network_error(
    failure: httpx.HTTPError, url: str, *, proxy: ProxyAddress | None = None, remedy: str = ""
) -> NetworkError:
    """The error for a download of `url` that failed; `remedy` is for a lost connection."""
    host, found = urlsplit(url).hostname, _words(failure)
    if isinstance(failure, httpx.HTTPStatusError):
        status = failure.response.status_code
        what, found = (
            "the server did not deliver the file",
            f"{status} {failure.response.reason_phrase} for {url}",
        )
        remedy = _REMEDIES.get(status, marked("try again later"))
    elif _is_unsafe(failure):
        what = "the connection to {host} is not safe"
        remedy = (
            "check this computer's clock, and whether a proxy or a sign-in page of the network is "
            "in between"
        )
    elif isinstance(failure, httpx.ProxyError):
        what, remedy = "the proxy refused to connect to {host}", _PROXY_REMEDY
    elif is_unreachable(failure) and proxy is not None:
        what, remedy = "the proxy {proxy} cannot be reached", "check the proxy's address"
    elif is_unreachable(failure):
        what = "{host} cannot be reached"
        remedy = remedy or "check the network, or set its proxy"
    else:
        what, remedy = "the connection to {host} was lost", remedy or "try again"
    return NetworkError(
        what, found=found, remedy=remedy, host=host, proxy=proxy.shown if proxy else ""
    )


def _is_unsafe(failure: httpx.HTTPError) -> bool:
    """Whether TLS itself failed; a connection that ends during the handshake was only lost."""
    cause = _cause(failure)
    return isinstance(cause, ssl.SSLError) and not isinstance(
        cause, ssl.SSLEOFError | ssl.SSLZeroReturnError
    )


def _cause(failure: BaseException) -> BaseException:
    """The socket's own error; the web client wraps it, and drops some causes ("from None")."""
    while (behind := failure.__cause__ or failure.__context__) is not None:
        failure = behind
    return failure


def _words(failure: httpx.HTTPError) -> str:
    if isinstance(failure, httpx.TimeoutException):
        return Message("no answer in time")
    cause = _cause(failure)
    words = getattr(cause, "verify_message", "") or (
        cause.strerror if isinstance(cause, OSError) else ""
    )
    return str(words or failure) or type(failure).__name__
