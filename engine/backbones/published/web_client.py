"""Requests to a web server, and what can go wrong with them in sentences. Nothing here runs unless a person asked."""

import errno
import socket
import ssl
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from engine import __version__
from engine.backbones.published.route import ProxyAddress, proxy_address
from engine.errors import NetworkError, UsageError

TIMEOUT_S: Final = 30.0
"""How long a silent server is waited for."""
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_PASSING: Final = frozenset({408, 429, 500, 502, 503, 504})
"""What a server says when it is too slow, too busy or out of order: the same request may succeed a little later."""
_UNREACHABLE: Final = frozenset({errno.ECONNREFUSED, errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})
_PROXY_REMEDY: Final = "put name and password into the proxy's address: http://name:password@host:port"
_REMEDIES: Final = {
    404: "the file has been moved; a newer version of the program may know where to",
    407: _PROXY_REMEDY,
}


def proxy_for(url: str, proxy: str = "") -> ProxyAddress | None:
    """The proxy that requests go through: the one that was named, else that of the environment or the system.

    Raises:
        UsageError: `proxy` is not the address of a proxy.
        NetworkError: that of the environment or the system is none.
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
            "the system's proxy cannot be used", found=error.found, remedy="check the proxy's address"
        ) from error


def web_client(proxy: ProxyAddress | None, transport: httpx.BaseTransport | None = None) -> httpx.Client:
    """A client that trusts the system's certificates and follows only redirects to safe addresses."""
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
    """Refuse an address that anybody on the way could answer for; it may be relative to `base`.

    Raises:
        NetworkError: it is neither https nor on this computer, or no address at all.
    """
    try:
        parts = urlsplit(urljoin(base, url))
        (parts.hostname or "").encode("idna")
        _ = parts.port
    except ValueError as error:
        raise NetworkError(
            "a redirect leads to an invalid address", found=f"{url}: {error}", remedy="check the proxy's address"
        ) from error
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise NetworkError("downloads need an encrypted address", expected="https://", found=url)


def _check_redirect(answer: httpx.Response) -> None:
    if answer.has_redirect_location:
        check_address(answer.headers["Location"], base=str(answer.url))


def is_passing(failure: httpx.HTTPError) -> bool:
    """Whether the same request may succeed a little later."""
    if isinstance(failure, httpx.HTTPStatusError):
        return failure.response.status_code in _PASSING
    is_refused = isinstance(failure, httpx.ProxyError) or _is_unsafe(failure)
    return isinstance(failure, httpx.TransportError) and not is_refused


def is_unreachable(failure: httpx.HTTPError) -> bool:
    """Whether the server could not even be reached: no name, no network, or nobody listens."""
    cause = _cause(failure)
    return isinstance(cause, socket.gaierror) or (isinstance(cause, OSError) and cause.errno in _UNREACHABLE)


def network_error(
    failure: httpx.HTTPError, url: str, *, proxy: ProxyAddress | None = None, remedy: str = ""
) -> NetworkError:
    """Say in a sentence why `url` did not arrive; `remedy` is for a lost connection."""
    host, found = urlsplit(url).hostname, _words(failure)
    if isinstance(failure, httpx.HTTPStatusError):
        status = failure.response.status_code
        what, found = "the server did not deliver the file", f"{status} {failure.response.reason_phrase} for {url}"
        remedy = _REMEDIES.get(status, "try again later")
    elif _is_unsafe(failure):
        what = "the connection to {host} is not safe"
        remedy = "check this computer's clock, and whether a proxy or a sign-in page of the network is in between"
    elif isinstance(failure, httpx.ProxyError):
        what, remedy = "the proxy refused to connect to {host}", _PROXY_REMEDY
    elif is_unreachable(failure) and proxy is not None:
        what, remedy = "the proxy {proxy} cannot be reached", "check the proxy's address"
    elif is_unreachable(failure):
        what = "{host} cannot be reached"
        remedy = remedy or "check the network, or name the proxy that leads out of it"
    else:
        what, remedy = "the connection to {host} was lost", remedy or "try again"
    return NetworkError(what, found=found, remedy=remedy, host=host, proxy=proxy.shown if proxy else "")


def _is_unsafe(failure: httpx.HTTPError) -> bool:
    """Whether the encryption itself failed; a connection that ends while it is agreed on was only lost."""
    cause = _cause(failure)
    return isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError)


def _cause(failure: BaseException) -> BaseException:
    """What the socket said; the web client wraps it, and forgets some causes on the way ("from None")."""
    while (behind := failure.__cause__ or failure.__context__) is not None:
        failure = behind
    return failure


def _words(failure: httpx.HTTPError) -> str:
    if isinstance(failure, httpx.TimeoutException):
        return "no answer in time"
    cause = _cause(failure)
    words = getattr(cause, "verify_message", "") or (cause.strerror if isinstance(cause, OSError) else "")
    return str(words or failure) or type(failure).__name__
