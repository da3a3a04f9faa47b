"""Requests to a web server, and what can go wrong with them in sentences. Nothing here runs unless a person asked."""

import errno
import http.client
import socket
import ssl
from collections.abc import Callable, Mapping
from email.message import Message
from http import HTTPStatus
from typing import IO, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from engine.backbones.published.proxy_address import check_proxy, in_full, without_password
from engine.errors import NetworkError

OpenUrl = Callable[[Request, float], http.client.HTTPResponse]
"""Sends a request; the second argument is how many seconds a silent server is waited for."""

Failure = OSError | http.client.HTTPException
"""What Python's web client raises; its `URLError` and `HTTPError` are `OSError`s."""
FAILURES: Final = (OSError, http.client.HTTPException)

_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_PASSING: Final = frozenset(
    {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
"""What a server says when the same request may succeed a little later."""
_NO_WAY: Final = frozenset({errno.ECONNREFUSED, errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})
_PROXY_REMEDY: Final = "put name and password into the proxy's address: http://name:password@host:port"
_REMEDIES: Final[Mapping[int, str]] = {
    HTTPStatus.NOT_FOUND: "the file has been moved; a newer version of the program may know where to",
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED: _PROXY_REMEDY,
}


def opener(proxy: str = "") -> OpenUrl:
    """Make the function that sends requests.

    Args:
        proxy: address of a proxy such as "http://proxy.example:3128"; empty: what the environment or the system says.

    Raises:
        UsageError: `proxy` is no address of a web proxy.
    """
    check_proxy(proxy)
    proxy = in_full(proxy) if proxy else ""
    proxies = {"http": proxy, "https": proxy} if proxy else None
    director = build_opener(ProxyHandler(proxies), _WatchedRedirects)

    def open_url(request: Request, timeout_s: float) -> http.client.HTTPResponse:
        check_address(request.full_url)
        try:
            answer: http.client.HTTPResponse = director.open(request, timeout=timeout_s)
        except (ValueError, OverflowError, http.client.InvalidURL) as error:  # of a redirect, or of the system's proxy
            raise NetworkError(
                "an address on the way to the file is none", found=str(error), remedy="check the proxy's address"
            ) from error
        except OSError as error:
            if is_without_way(error) and _is_sent_to_proxy(request):
                raise ProxyUnreachableError(error, without_password(proxy) or f"http://{request.host}") from error
            raise
        return answer

    return open_url


class ProxyUnreachableError(URLError):
    """There is no way to the proxy itself.

    Args:
        failure: what the web client raised.
        address: of the proxy, without a password.
    """

    def __init__(self, failure: OSError, address: str) -> None:
        cause = _cause(failure)
        super().__init__(cause if isinstance(cause, OSError) else failure)
        self.address = address


def _is_sent_to_proxy(request: Request) -> bool:
    """Whether the web client gave the request the host of a proxy, that of the setting or of the system."""
    return request.host != urlsplit(request.full_url).netloc


def check_address(url: str) -> None:
    """Refuse an address that anybody on the way could answer for.

    Raises:
        NetworkError: it is neither https nor on this computer.
    """
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return
    raise NetworkError("only encrypted addresses are downloaded from", expected="https://", found=url)


class _WatchedRedirects(HTTPRedirectHandler):
    """Follows a redirect only to where a request might have gone in the first place."""

    def redirect_request(  # noqa: PLR0917 (the overridden method's arguments)
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> Request | None:
        check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def is_passing(failure: Failure) -> bool:
    """Whether the same request may succeed a little later."""
    if isinstance(failure, HTTPError):
        return failure.code in _PASSING
    return not _is_unsafe(_cause(failure)) and not _is_refused_by_proxy(failure)


def is_without_way(failure: Failure) -> bool:
    """Whether the server could not even be reached: no name, no network, or nobody listens."""
    cause = _cause(failure)
    return isinstance(cause, socket.gaierror) or (isinstance(cause, OSError) and cause.errno in _NO_WAY)


def network_error(failure: Failure, url: str, *, remedy: str = "") -> NetworkError:
    """Say what happened in a sentence.

    Args:
        failure: what the web client raised.
        url: what was asked for.
        remedy: what to do about a lost connection.
    """
    host = urlsplit(url).hostname
    if isinstance(failure, HTTPError):
        return NetworkError(
            "the server does not hand out the file",
            found=f"{failure.code} {failure.reason} for {url}",
            remedy=_REMEDIES.get(failure.code, "try again later"),
        )
    cause = _cause(failure)
    if _is_unsafe(cause):
        return NetworkError(
            f"the connection to {host} is not safe",
            found=str(getattr(cause, "verify_message", "") or cause),
            remedy="check this computer's clock, and whether a proxy or a sign-in page of the network is in between",
        )
    if _is_refused_by_proxy(failure):
        return NetworkError(f"the proxy gives no way to {host}", found=_words(cause), remedy=_PROXY_REMEDY)
    if isinstance(failure, ProxyUnreachableError):
        return NetworkError(
            f"the proxy {failure.address} cannot be reached", found=_words(cause), remedy="check the proxy's address"
        )
    if is_without_way(failure):
        return NetworkError(
            f"{host} cannot be reached",
            found=_words(cause),
            remedy=remedy or "check the network, or name the proxy that leads out of it",
        )
    return NetworkError(f"the connection to {host} was lost", found=_words(cause), remedy=remedy or "try again")


def _is_unsafe(cause: object) -> bool:
    """Whether the encryption itself failed; a connection that ends while it is agreed on was only lost."""
    return isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError)


def _is_refused_by_proxy(failure: Failure) -> bool:
    """Whether a proxy answered in the server's place; the web client tells it in words only."""
    return str(_cause(failure)).startswith("Tunnel connection failed")


def _cause(failure: Failure) -> object:
    """What lies behind; `URLError` wraps what the socket said."""
    return failure.reason if isinstance(failure, URLError) and not isinstance(failure, HTTPError) else failure


def _words(cause: object) -> str:
    if isinstance(cause, TimeoutError):
        return "no answer in time"
    return (cause.strerror if isinstance(cause, OSError) else "") or str(cause) or type(cause).__name__
