"""Network access happens only for downloads that a user requested."""

import socket
from pathlib import Path
from typing import NoReturn

import pytest

from engine.cli.main import main
from tests.support.collections import cache_of_test
from tests.support.command_line import done
from tests.support.published_networks import facts_of, keep_in_list
from tests.support.unread import unread_collection


class Reached(AssertionError):  # noqa: N818 (an event)
    """Raised at network access."""


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections and name lookups fail the test."""

    def reached(*arguments: object, **_options: object) -> NoReturn:
        raise Reached(arguments)

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, reached)
    for name in ("create_connection", "getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        monkeypatch.setattr(socket, name, reached)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.slow
def test_everyday_commands_ask_for_nothing(
    own_caches: None, tmp_path: Path, no_network: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Creating, filling, embedding and classifying a project.

    Lists and `doctor` as well.
    """
    collection = unread_collection(tmp_path / "unread", cache_of_test())
    keep_in_list(cache_of_test(), [facts_of("resnet50")])
    project = tmp_path / "own.protoleaf"
    done(capsys, "new", project)
    done(capsys, "import-images", project, collection.folder)
    done(capsys, "embed", project, "--device", "cpu")
    done(capsys, "check", project)
    done(capsys, "doctor")
    done(capsys, "backbone", "list")
    done(capsys, "backbone", "list", "--published")


def test_describing_published_networks_asks_for_nothing(
    own_caches: None, no_network: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also without a list: torchvision has sizes, licences and checksums."""
    assert main(["backbone", "add", "torchvision:squeezenet1_1"]) == 2
    assert "5.0 MB" in capsys.readouterr().err


def test_the_tripwire_holds(own_caches: None, no_network: None) -> None:
    """A confirmed download does connect, which the tests above would have noticed."""
    with pytest.raises(Reached):
        main(["backbone", "add", "torchvision:squeezenet1_1", "--yes"])
