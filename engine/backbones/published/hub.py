"""Addresses of files on the Hugging Face hub, and what its server tells of a file before it is downloaded."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

import httpx

from engine.backbones.published.route import Route
from engine.backbones.published.web_client import check_address, network_error, proxy_for, web_client
from engine.errors import ModelError, NetworkError
from engine.events import CancelToken

HUB: Final = "https://huggingface.co"
LARGEST_TEXT_BYTES: Final = 4_000_000
"""Descriptions take a few thousand; some list every class of a data set."""
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
_REVISION: Final = re.compile(r"[A-Za-z0-9][\w./-]{0,95}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_PINNABLE: Final = re.compile(r"/resolve/[^/]+/")
_MOST_REDIRECTS: Final = 5  # renamed repositories lead on once
_LOCKED: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


@dataclass(frozen=True)
class RemoteFile:
    """A file as its server tells of it."""

    url: str  # of this very version where the server names one
    size_bytes: int = 0  # 0 where it is not told
    sha256: str = ""  # of the whole file, in hex; empty where it is not told
    commit: str = ""  # the version; empty where it is not told


def check_repository(repository: str, revision: str) -> None:
    """Refuse what cannot be the name of a repository on the hub, or of one of its revisions.

    Raises:
        ModelError: with how one is written.
    """
    if not _REPOSITORY.fullmatch(repository) or not _REVISION.fullmatch(revision) or ".." in repository + revision:
        raise ModelError(
            "this is no network on the hub", expected="hf-hub:owner/name or hf-hub:owner/name@revision",
            found=f"“hf-hub:{repository}{f'@{revision}' if revision != 'main' else ''}”",
        )  # fmt: skip


def file_address(repository: str, revision: str, name: str) -> str:
    """Where the hub has a file."""
    return f"{HUB}/{repository}/resolve/{quote(revision, safe='')}/{quote(name)}"


def page_address(repository: str) -> str:
    """The page that a person reads about a repository."""
    return f"{HUB}/{repository}"


def ask_about(url: str, route: Route) -> RemoteFile | None:
    """What the server tells of a file; None where there is none.

    The hub answers with a redirect to where the bytes are, and tells size, SHA-256 and version in the answer itself;
    so redirects to other hosts are not followed here.

    Raises:
        NetworkError: no connection, or the server refuses.
        UsageError: the route's proxy is not the address of a proxy.
    """
    with _asking(url, route) as client:
        answer = client.head(url, follow_redirects=False)
        for _ in range(_MOST_REDIRECTS):
            if not _leads_on(answer):
                break
            answer = client.head(urljoin(str(answer.url), answer.headers["Location"]), follow_redirects=False)
        if answer.status_code == HTTPStatus.NOT_FOUND:
            return None
        if answer.status_code in _LOCKED:
            raise _locked(url, answer.status_code)
        if not answer.has_redirect_location:
            answer.raise_for_status()
    return _remote_file(answer)


def read_text(url: str, route: Route, *, cancel: CancelToken) -> str | None:
    """Read a small text file; None where there is none.

    Raises:
        NetworkError: no connection, the server refuses, or the file is no small text.
        UsageError: the route's proxy is not the address of a proxy.
    """
    content = bytearray()
    with _asking(url, route) as client, client.stream("GET", url) as answer:
        if answer.status_code == HTTPStatus.NOT_FOUND:
            return None
        if answer.status_code in _LOCKED:
            raise _locked(url, answer.status_code)
        for piece in answer.raise_for_status().iter_raw():
            cancel.raise_if_cancelled()
            content += piece
            if len(content) > LARGEST_TEXT_BYTES:
                raise _no_description(url, f"more than {LARGEST_TEXT_BYTES:,} bytes")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _no_description(url, "no text") from error


@contextmanager
def _asking(url: str, route: Route) -> Iterator[httpx.Client]:
    """A client for one question; what goes wrong with it is said in a sentence."""
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
    return urlsplit(urljoin(str(answer.url), answer.headers["Location"])).netloc == answer.url.netloc.decode()


def _remote_file(answer: httpx.Response) -> RemoteFile:
    url, headers = str(answer.url), answer.headers
    mark = (headers.get("X-Linked-Etag") or headers.get("ETag", "")).removeprefix("W/").strip('"').lower()
    commit = headers.get("X-Repo-Commit", "")
    size = headers.get("X-Linked-Size") or (headers.get("Content-Length") if answer.is_success else None) or "0"
    return RemoteFile(
        url=_PINNABLE.sub(f"/resolve/{commit}/", url, count=1) if commit.isalnum() else url,
        size_bytes=int(size) if size.isdecimal() else 0,
        sha256=mark if _SHA256.fullmatch(mark) else "",
        commit=commit,
    )


def _locked(url: str, status: int) -> NetworkError:
    return NetworkError(
        "the hub does not give this file to everybody",
        found="{status} {phrase} for {url}",
        remedy="check the name; or agree to its terms on its page, download it there, and name the folder as mirror",
        status=status,
        phrase=HTTPStatus(status).phrase,
        url=url,
    )


def _no_description(url: str, found: str) -> NetworkError:
    return NetworkError("the hub's description cannot be read", expected=url, found=found)
