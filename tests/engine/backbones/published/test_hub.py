"""What the hub tells of a file, and the mirror that stands in for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.backbones.published.facts import licence_in_words
from engine.backbones.published.route import Route
from engine.backbones.published.web_client import (
    check_repository,
    file_address,
    query_file,
    read_text,
)
from engine.errors import ModelError, NetworkError, UsageError
from engine.events import CancelToken
from tests.support.hub_server import COMMIT, HubServer, serving_hub

FILE = "timm/tiny.first/model.safetensors"
URL = file_address("timm/tiny.first", "main", "model.safetensors")
DIGITS = "6dd6ee7ed7c6d4e6f0d3ea9d8a0a6c3b9b1fd4e1b7c6c7b5a1f7ec1c6f9d4e20"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The computer's own proxies and mirrors stay out of the tests."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("HF_ENDPOINT", raising=False)


@pytest.fixture
def hub() -> Iterator[HubServer]:
    """A hub with one file."""
    with serving_hub(HubServer({FILE: b"weights"})) as running:
        yield running


def test_the_hub_tells_of_a_file_before_its_bytes(hub: HubServer) -> None:
    """Size, SHA-256 and version come with the redirect, which is not followed."""
    hub.sent_sha256 = DIGITS
    route = Route(mirror=hub.url)
    found = query_file(route.address(URL), route)
    assert found is not None
    assert (found.size_bytes, found.sha256, found.commit) == (7, DIGITS, COMMIT)
    assert found.url == f"{hub.url}/timm/tiny.first/resolve/{COMMIT}/model.safetensors"
    assert hub.asked == ["HEAD /timm/tiny.first/resolve/main/model.safetensors"]


@pytest.mark.parametrize("mark", ["", "b1a9" * 10, "no digits"])
def test_what_is_no_sha256_is_not_compared(hub: HubServer, mark: str) -> None:
    """Small files have marks of another kind."""
    hub.sent_sha256 = mark
    found = query_file(Route(mirror=hub.url).address(URL), Route())
    assert found is not None
    assert found.sha256 == ""


def test_a_file_that_is_not_there(hub: HubServer) -> None:
    """Neither is an error: another name is tried."""
    address = f"{hub.url}/timm/other/resolve/main/model.safetensors"
    assert query_file(address, Route()) is None
    assert read_text(address, Route(), cancel=CancelToken()) is None


@pytest.mark.parametrize("status", [401, 403])
def test_what_is_not_given_to_everybody(hub: HubServer, status: int) -> None:
    """The way out is a download by hand, and the folder as mirror."""
    hub.status = status
    for ask in (
        lambda url: query_file(url, Route()),
        lambda url: read_text(url, Route(), cancel=CancelToken()),
    ):
        with pytest.raises(
            NetworkError,
            match=rf"not give this file without permission.*{status}.*the folder as mirror",
        ):
            ask(Route(mirror=hub.url).address(URL))


def test_the_environment_names_another_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """As hub programs understand it.

    Files from elsewhere are not requested there, a mirror counts more.
    """
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example/")
    assert (
        Route().address(URL) == "https://hub.example/timm/tiny.first/resolve/main/model.safetensors"
    )
    elsewhere = "https://download.pytorch.org/models/resnet50-11ad3fa6.pth"
    assert Route().address(elsewhere) == elsewhere
    assert (
        Route(mirror="https://m.example").address(elsewhere)
        == "https://m.example/models/resnet50-11ad3fa6.pth"
    )
    assert (
        Route(mirror="https://m.example")
        .address(URL)
        .startswith("https://m.example/timm/tiny.first/")
    )


@pytest.mark.parametrize(
    "place",
    [
        "timm/tiny.first/model.safetensors",
        "tiny.first/model.safetensors",
        f"models--timm--tiny.first/snapshots/{COMMIT}/model.safetensors",
    ],
)
def test_a_folder_as_mirror(tmp_path: Path, place: str) -> None:
    """As people download it, or as the hub's own program caches it."""
    path = tmp_path / place
    assert Route(mirror=str(tmp_path)).on_disk(URL) is None
    path.parent.mkdir(parents=True)
    path.write_bytes(b"weights")
    assert Route(mirror=str(tmp_path)).on_disk(URL) == path


def test_torchvision_s_files_lie_in_a_folder_by_name(tmp_path: Path) -> None:
    """The name has the checksum in it."""
    path = tmp_path / "resnet50-11ad3fa6.pth"
    path.touch()
    route = Route(mirror=str(tmp_path))
    assert route.on_disk("https://download.pytorch.org/models/resnet50-11ad3fa6.pth") == path


def test_a_mirror_that_is_nothing_is_refused(tmp_path: Path) -> None:
    """Before anything is asked."""
    with pytest.raises(UsageError, match="the mirror is not a folder"):
        Route(mirror=str(tmp_path / "gone")).check()
    Route(mirror="https://hub.example").check()
    Route(mirror=str(tmp_path)).check()


@pytest.mark.parametrize(
    ("repository", "revision"),
    [
        ("bioclip", "main"),
        ("../a/b", "main"),
        ("a/..", "main"),
        ("a/b/c", "main"),
        ("a/b", "../x"),
        ("a b/c", "main"),
    ],
)
def test_what_is_no_repository_is_refused(repository: str, revision: str) -> None:
    """A name leads to one place on the hub, and to one in a folder."""
    with pytest.raises(ModelError, match="not a network on the hub: expected hf-hub:owner/name"):
        check_repository(repository, revision)
    check_repository("imageomics/bioclip", "main")


@pytest.mark.parametrize(
    ("short", "words"),
    [
        ("apache-2.0", "Apache 2.0"),
        ("cc-by-nc-4.0", "CC-BY-NC 4.0: not for commercial use"),
        ("apple-amlr", "Apple Machine Learning Research Model License: not for commercial use"),
        ("dinov3-license", "dinov3-license; its own terms, see the network's page on the hub"),
        ("unknown", "none named for the weights; see the network's page on the hub"),
        (None, "none named for the weights; see the network's page on the hub"),
    ],
)
def test_licences_in_words(short: str | None, words: str) -> None:
    """What forbids commercial use says so at its end, own terms are named."""
    assert licence_in_words(short) == words
