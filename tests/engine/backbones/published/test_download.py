"""Downloads from a server on this computer.

Broken off, resumed, refused, checked, and never half-kept.
"""

import hashlib
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from filelock import FileLock

from engine.backbones.published.download import ATTEMPTS, download
from engine.errors import Cancelled, ModelError, NetworkError, StorageError, UsageError
from engine.events import CancelToken, Progress
from tests.support.full_disk import full_disk_after
from tests.support.weights_server import WeightsServer, serving

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The computer's own proxies stay out of the tests."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server() -> Iterator[WeightsServer]:
    """A server that hands out `CONTENT`."""
    with serving(WeightsServer(CONTENT)) as running:
        yield running


def at_once(_seconds: float, cancel: CancelToken) -> None:
    """Wait for nothing."""
    cancel.raise_if_cancelled()


def fetched(server: WeightsServer, target: Path, *, cancel: CancelToken | None = None) -> bytes:
    """Download with the right checksum and size; the content of the file."""
    path = download(
        server.url,
        target,
        size_bytes=len(CONTENT),
        sha256_prefix=SHA256[:8],
        cancel=cancel,
        pause=at_once,
    )
    return path.read_bytes()


def left(folder: Path) -> set[str]:
    """Names of what a download left, its lock aside."""
    return {path.name for path in folder.iterdir() if path.suffix != ".lock"}


def test_a_file_arrives_whole_with_progress(server: WeightsServer, tmp_path: Path) -> None:
    """Bytes done and in all, a rate, and at the end nothing but the file."""
    as_full_disk: list[Progress] = []
    target = tmp_path / "downloads" / "w.pth"
    download(server.url, target, sha256_prefix=SHA256[:8], on_progress=as_full_disk.append)
    assert target.read_bytes() == CONTENT
    assert (as_full_disk[0].done, as_full_disk[0].total, as_full_disk[0].unit) == (
        0,
        len(CONTENT),
        "bytes",
    )
    assert (as_full_disk[-1].done, as_full_disk[-1].seconds_left) == (len(CONTENT), 0)
    assert as_full_disk[-1].rate_per_s > 0
    assert left(target.parent) == {"w.pth"}


def test_what_is_there_already_is_not_asked_for(server: WeightsServer, tmp_path: Path) -> None:
    """A file with the right checksum costs no request; one with the wrong one is replaced."""
    target = tmp_path / "w.pth"
    target.write_bytes(CONTENT)
    assert fetched(server, target) == CONTENT
    assert server.ranges == []
    target.write_bytes(b"other")
    assert fetched(server, target) == CONTENT
    assert server.ranges == [None]


def test_a_broken_connection_goes_on_where_it_broke(server: WeightsServer, tmp_path: Path) -> None:
    """Cut twice, the same call asks for the rest and no byte twice."""
    server.breaks_after = [100_000, 150_000]
    assert fetched(server, tmp_path / "w.pth") == CONTENT
    assert server.ranges == [None, "bytes=100000-", "bytes=250000-"]


def test_a_second_run_goes_on_where_the_first_stopped(
    server: WeightsServer, tmp_path: Path
) -> None:
    """A cancelled download keeps what arrived.

    The next run counts it as done from its first report.
    """
    cancel, target = CancelToken(), tmp_path / "w.pth"

    def stop(progress: Progress) -> None:
        if progress.done:
            cancel.cancel()

    with pytest.raises(Cancelled):
        download(server.url, target, sha256_prefix=SHA256[:8], on_progress=stop, cancel=cancel)
    part = target.with_name("w.pth.part")
    have = part.stat().st_size
    assert 0 < have <= len(CONTENT)
    part.write_bytes(CONTENT[:1000])  # however little arrived before it was stopped
    as_full_disk: list[Progress] = []
    download(server.url, target, sha256_prefix=SHA256[:8], on_progress=as_full_disk.append)
    assert target.read_bytes() == CONTENT
    assert server.ranges[-1] == "bytes=1000-"
    assert as_full_disk[0].done == 1000
    assert left(tmp_path) == {"w.pth"}


def test_a_server_without_ranges_starts_anew(server: WeightsServer, tmp_path: Path) -> None:
    """A server that sends everything again gets a clean start.

    Nothing of the old part stays in the file.
    """
    server.breaks_after, server.knows_ranges = [100_000], False
    assert fetched(server, tmp_path / "w.pth") == CONTENT
    assert server.ranges == [None, "bytes=100000-"]


def test_another_version_on_the_server_starts_anew(server: WeightsServer, tmp_path: Path) -> None:
    """A part of the old version is not continued with the new one."""
    old, target = server.content, tmp_path / "w.pth"
    server.content, server.etag = b"\1" * len(CONTENT), '"zeroth"'
    server.breaks_after = [1000] + [0] * ATTEMPTS
    with pytest.raises(NetworkError, match=r"[Ww]hat was downloaded is kept"):
        fetched(server, target)
    server.content, server.etag, server.breaks_after = old, '"first"', []
    assert fetched(server, target) == CONTENT


def test_a_part_that_is_too_long_starts_anew(server: WeightsServer, tmp_path: Path) -> None:
    """The server has nothing behind what the part holds: the part is none of this file."""
    target = tmp_path / "w.pth"
    server.breaks_after = [1000] + [0] * ATTEMPTS
    with pytest.raises(NetworkError):
        fetched(server, target)
    server.breaks_after = []
    target.with_name("w.pth.part").write_bytes(CONTENT + b"more")
    assert fetched(server, target) == CONTENT


def test_a_part_that_is_whole_is_only_checked(server: WeightsServer, tmp_path: Path) -> None:
    """Killed between the last byte and the checksum: nothing is requested again."""
    target = tmp_path / "w.pth"
    server.breaks_after = [1000] + [0] * ATTEMPTS
    with pytest.raises(NetworkError):
        fetched(server, target)
    asked = len(server.ranges)
    target.with_name("w.pth.part").write_bytes(CONTENT)
    assert fetched(server, target) == CONTENT
    assert len(server.ranges) == asked


def test_a_part_of_another_address_is_not_used(server: WeightsServer, tmp_path: Path) -> None:
    """Notes without which nobody knows what a part is of: it goes."""
    target = tmp_path / "w.pth"
    target.with_name("w.pth.part").write_bytes(b"what is this")
    assert fetched(server, target) == CONTENT
    assert server.ranges == [None]


def test_a_file_of_unknown_size_arrives(server: WeightsServer, tmp_path: Path) -> None:
    """A server that does not report the size is judged by checksum and by the promised size."""
    server.says_length = False
    server.breaks_after = [100_000]
    assert fetched(server, tmp_path / "w.pth") == CONTENT


def test_a_wrong_checksum_deletes_the_file(server: WeightsServer, tmp_path: Path) -> None:
    """Expected and found are named, and nothing stays."""
    server.content = CONTENT[:-1] + b"?"
    with pytest.raises(ModelError, match=f"expected SHA-256 {SHA256[:8]}.*found [0-9a-f]{{8}}"):
        fetched(server, tmp_path / "w.pth")
    assert left(tmp_path) == set()


@pytest.mark.parametrize("content_type", ["text/html; charset=utf-8", "application/octet-stream"])
def test_a_web_page_is_recognised(content_type: str, tmp_path: Path) -> None:
    """A sign-in page of a hotel's network is no network of ours, whatever the server calls it."""
    page = b"\n<!DOCTYPE html><html>Please sign in</html>"
    with (
        serving(WeightsServer(page, content_type)) as server,
        pytest.raises(NetworkError, match="web page"),
    ):
        download(server.url, tmp_path / "w.pth", sha256_prefix=SHA256[:8])
    assert left(tmp_path) == set()


def test_a_web_page_in_between_does_not_cost_the_part(
    server: WeightsServer, tmp_path: Path
) -> None:
    """Broken off by a sign-in page, the download goes on after the sign-in."""
    target = tmp_path / "w.pth"
    server.breaks_after = [1000] + [0] * ATTEMPTS
    with pytest.raises(NetworkError):
        fetched(server, target)
    server.content_type, server.breaks_after = "text/html", []
    with pytest.raises(NetworkError, match="web page"):
        fetched(server, target)
    server.content_type = "application/octet-stream"
    assert fetched(server, target) == CONTENT
    assert server.ranges[-1] == "bytes=1000-"


@pytest.mark.parametrize(
    ("status", "words"), [(404, "404 .*moved"), (403, "403 "), (407, "407 .*proxy's address")]
)
def test_a_refusal_is_reported_at_once(
    server: WeightsServer, tmp_path: Path, status: int, words: str
) -> None:
    """Status and address are named, without another attempt."""
    server.statuses = [status]
    with pytest.raises(NetworkError, match=words):
        fetched(server, tmp_path / "w.pth")
    assert len(server.ranges) == 1
    assert left(tmp_path) == set()


def test_what_is_lost_again_and_again_comes_to_an_end(
    server: WeightsServer, tmp_path: Path
) -> None:
    """A server that promises more than it has.

    Each time the same bytes arrive, and the rest is refused.
    """

    class NoRanges(httpx.HTTPTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            return (
                httpx.Response(416)
                if "Range" in request.headers
                else super().handle_request(request)
            )

    server.breaks_after = [100_000] * 50
    with pytest.raises(NetworkError, match="100,000 of 512,000 bytes arrived"):
        download(server.url, tmp_path / "w.pth", transport=NoRanges(), pause=at_once)
    assert len(server.ranges) <= ATTEMPTS


def test_a_cache_that_is_cleared_meanwhile(server: WeightsServer, tmp_path: Path) -> None:
    """Somebody takes the part away before it is whole: a sentence, and nothing is left."""

    def clear(progress: Progress) -> None:
        if progress.done:
            (tmp_path / "w.pth.part").unlink(missing_ok=True)

    with pytest.raises(StorageError, match="cannot be written"):
        download(server.url, tmp_path / "w.pth", sha256_prefix=SHA256, on_progress=clear)
    assert left(tmp_path) == set()


def test_a_busy_server_is_asked_again(server: WeightsServer, tmp_path: Path) -> None:
    """500 and 503 pass: asked again after longer and longer pauses, and not for ever."""
    pauses: list[float] = []

    def pause(seconds: float, _cancel: CancelToken) -> None:
        pauses.append(seconds)

    server.statuses = [503, 500, 429]
    download(server.url, tmp_path / "w.pth", sha256_prefix=SHA256, pause=pause)
    assert pauses == [1, 2, 4]
    server.statuses = [503] * 100
    with pytest.raises(NetworkError, match="503"):
        download(server.url, tmp_path / "v.pth", pause=pause)
    assert len(server.statuses) == 100 - ATTEMPTS


def test_a_pause_can_be_cancelled(server: WeightsServer, tmp_path: Path) -> None:
    """Nobody waits for a server that the person has given up on."""
    cancel = CancelToken()

    def pause(_seconds: float, token: CancelToken) -> None:
        token.cancel()

    server.statuses = [503]
    with pytest.raises(Cancelled):
        download(server.url, tmp_path / "w.pth", cancel=cancel, pause=pause)


def test_nobody_listens(tmp_path: Path) -> None:
    """A server that is not there is reported at once."""
    with serving(WeightsServer(CONTENT)) as server:
        url = server.url
    with pytest.raises(NetworkError, match=r"127\.0\.0\.1 cannot be reached.*set its proxy"):
        download(url, tmp_path / "w.pth")


class Failing(httpx.BaseTransport):
    """Every connection fails like this."""

    def __init__(self, cause: OSError) -> None:
        self.cause = cause
        self.asked = 0

    def handle_request(self, _request: httpx.Request) -> httpx.Response:  # noqa: D102
        self.asked += 1
        raise httpx.ConnectError(str(self.cause)) from self.cause


def test_an_unsafe_connection_is_not_tried_again(tmp_path: Path) -> None:
    """A certificate that does not hold is named with what may be behind it."""
    failing = Failing(ssl.SSLCertVerificationError(1, "self-signed certificate"))
    with pytest.raises(NetworkError, match=r"not safe.*self-signed.*clock"):
        download("https://example.invalid/w.pth", tmp_path / "w.pth", transport=failing)
    assert failing.asked == 1


def test_a_connection_that_ends_while_it_is_made_safe_is_tried_again(tmp_path: Path) -> None:
    """A server that hangs up at once says nothing about certificates and clocks."""
    failing = Failing(ssl.SSLEOFError(8, "EOF occurred in violation of protocol"))
    with pytest.raises(NetworkError, match=r"was lost.*[Tt]ry again"):
        download(
            "https://example.invalid/w.pth", tmp_path / "w.pth", transport=failing, pause=at_once
        )
    assert failing.asked == ATTEMPTS


@pytest.mark.parametrize(
    "location",
    [
        "https://[::1/w",
        "https://[zz]/w",
        f"https://{'a' * 70}.example/w",
        "http://127.0.0.1:port/w",
    ],
)
def test_a_redirect_to_no_address(server: WeightsServer, tmp_path: Path, location: str) -> None:
    """It is reported at once, in a sentence."""
    server.location = location
    with pytest.raises(NetworkError, match="invalid address"):
        fetched(server, tmp_path / "w.pth")
    assert left(tmp_path) == set()


def test_a_system_proxy_that_is_none(
    server: WeightsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken variable of the environment is named as what to look at."""
    monkeypatch.setenv("http_proxy", "http:/here")
    with pytest.raises(NetworkError, match="proxy's address"):
        fetched(server, tmp_path / "w.pth")


@pytest.mark.parametrize(
    "url", ["http://example.invalid/w.pth", "ftp://127.0.0.1/w", "file:///w.pth"]
)
def test_only_safe_addresses(url: str, tmp_path: Path) -> None:
    """Anything but https is refused before a request, but for this computer."""
    with pytest.raises(NetworkError, match="encrypted address"):
        download(url, tmp_path / "w.pth")
    assert left(tmp_path) == set()


def test_a_redirect_to_an_unsafe_address_is_not_followed(
    server: WeightsServer, tmp_path: Path
) -> None:
    """What may not be requested directly may not be requested by a detour."""
    server.location = "http://example.invalid/w.pth"
    with pytest.raises(NetworkError, match="encrypted address"):
        fetched(server, tmp_path / "w.pth")


def test_a_file_of_another_size_is_not_taken(server: WeightsServer, tmp_path: Path) -> None:
    """Far from what was shown to the person.

    Not downloaded, whether the server tells the size or not.
    """
    for says_length in (True, False):
        server.says_length = says_length
        with pytest.raises(NetworkError, match=r"does not have the expected size.*about 0\.1 MB"):
            download(server.url, tmp_path / "w.pth", size_bytes=100_000)
        assert left(tmp_path) == set()


def test_a_full_disk_keeps_nothing(server: WeightsServer, tmp_path: Path) -> None:
    """The disk fills up on the way: a sentence, and no part."""
    with (
        full_disk_after(100_000),
        pytest.raises(StorageError, match=r"cannot be written.*[Ff]ree some disk space"),
    ):
        fetched(server, tmp_path / "w.pth")
    assert left(tmp_path) == set()


def test_too_little_room_is_reported_before_anything_is_written(
    server: WeightsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Needed and free are named."""
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: type("Usage", (), {"free": 1000}))
    with pytest.raises(
        StorageError, match=r"the disk is full: expected 512\.0 kB free, found 1\.0 kB"
    ):
        fetched(server, tmp_path / "w.pth")
    assert left(tmp_path) == set()


def test_two_programs_do_not_share_a_part(server: WeightsServer, tmp_path: Path) -> None:
    """The second one is refused because the first is at it, and takes nothing away."""
    part = tmp_path / "w.pth.part"
    part.write_bytes(b"the other one's")
    with FileLock(tmp_path / "w.pth.lock"), pytest.raises(StorageError, match="already"):
        fetched(server, tmp_path / "w.pth")
    assert part.read_bytes() == b"the other one's"


def test_a_proxy_is_asked(
    server: WeightsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By setting and by environment: the request with its whole address goes to the proxy."""
    wanted = "http://localhost:9/weights.pth"
    proxy = f"http://127.0.0.1:{server.port}"
    download(wanted, tmp_path / "by_setting", sha256_prefix=SHA256[:8], proxy=proxy)
    monkeypatch.setenv("http_proxy", proxy)
    download(wanted, tmp_path / "by_environment", sha256_prefix=SHA256[:8])
    assert server.paths == [wanted, wanted]


@pytest.mark.parametrize("proxy", ["socks5://here:1", "a b", "http://"])
def test_what_is_no_proxy_is_refused(proxy: str, server: WeightsServer, tmp_path: Path) -> None:
    """Before anything is requested."""
    with pytest.raises(UsageError, match="proxy's address"):
        download(server.url, tmp_path / "w.pth", proxy=proxy)
    assert server.ranges == []


@pytest.mark.parametrize("is_by_setting", [True, False])
def test_a_proxy_that_is_not_there_is_named(
    is_by_setting: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its whole address as it was understood, without the password.

    It is not the server that is missing.
    """
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        if not is_by_setting:
            monkeypatch.setenv("https_proxy", f"http://anna:secret@{address}")
        proxy = f"anna:secret@{address}" if is_by_setting else ""
        with pytest.raises(NetworkError) as refusal:
            download("https://example.invalid/w.pth", tmp_path / "w.pth", proxy=proxy)
    assert refusal.value.what == f"the proxy http://anna@{address} cannot be reached"
    assert "secret" not in str(refusal.value)


def test_a_proxy_that_refuses_is_named(server: WeightsServer, tmp_path: Path) -> None:
    """407 to the tunnel: whose answer it is, and what to do.

    The password reaches the proxy and no message.
    """
    server.statuses = [407]
    proxy = f"anna:s@c#r?e[t@127.0.0.1:{server.port}"
    with pytest.raises(
        NetworkError, match=r"proxy refused to connect to example\.invalid.*407.*name and password"
    ) as refusal:
        download("https://example.invalid/w.pth", tmp_path / "w.pth", proxy=proxy)
    assert (server.paths, server.people) == (["example.invalid:443"], ["anna:s@c#r?e[t"])
    assert "s@c" not in str(refusal.value)
