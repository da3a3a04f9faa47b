"""Published networks on the command line and in the worker: shown, confirmed, downloaded."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from engine.backbones.library import BackboneLibrary
from engine.backbones.messages import AddedBackbone, AddPublished, ListPublished
from engine.backbones.published import export
from engine.backbones.published.facts import PublishedNetwork
from engine.backbones.published.route import weights_path
from engine.worker.protocol import Stopped
from tests.support.collections import cache_of_test
from tests.support.command_line import done, protoleaf, refused
from tests.support.published_networks import SMALL, facts_of, keep_in_list, random_state, saved
from tests.support.served import served
from tests.support.weights_server import WeightsServer, serving

NAME = "torchvision-squeezenet1_1-imagenet1k_v1"
SOURCE = "torchvision:squeezenet1_1"


@pytest.fixture(scope="module")
def content() -> bytes:
    """Random weights of the small network."""
    return saved(random_state(SMALL))


@pytest.fixture
def server(
    own_caches: None, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WeightsServer]:
    """A server with the weights, and a list of networks that refers to it."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(WeightsServer(content)) as running:
        keep_in_list(cache_of_test(), [facts_of(SMALL, content, running.url)])
        yield running


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the export by a fast one that writes another file without comparison."""
    from engine.training.export import Agreement

    def at_once(
        _network: object, facts: PublishedNetwork, path: Any, **_options: object
    ) -> Agreement:
        from tests.support.backbones import write_tiny_backbone

        write_tiny_backbone(path, width=facts.embedding_width)
        return Agreement(1e-6, 1e-3, 2)

    monkeypatch.setattr(export, "export_published", at_once)


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, answer: bool) -> list[str]:
    """Simulate a terminal with answers; return the questions."""
    asked: list[str] = []

    def confirm(text: str, **_options: object) -> bool:
        asked.append(text)
        if not answer:
            raise typer.Abort
        return True

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(typer, "confirm", confirm)
    return asked


def test_nobody_to_ask_is_refused_with_size_and_licence(
    server: WeightsServer, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    """Without a terminal and --yes nothing is downloaded.

    Size, licence and the option are shown.
    """
    for command in (
        ["backbone", "add", SOURCE],
        ["new", tmp_path / "p.protoleaf", "--backbone", SOURCE],
    ):
        line = refused(capsys, *command, status=2)
        assert "squeezenet1_1 with weights IMAGENET1K_V1" in line
        assert "5.0 MB" in line
        assert "BSD-3-Clause" in line
        assert "--yes" in line
    assert server.ranges == []


@pytest.mark.slow
def test_a_person_at_the_terminal_is_asked(
    server: WeightsServer,
    quick: None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Declined: nothing happens. Confirmed: it is downloaded."""
    at_a_terminal(monkeypatch, answer=False)
    answer = protoleaf(capsys, "backbone", "add", SOURCE)
    assert answer.status == 130
    assert server.ranges == []
    asked = at_a_terminal(monkeypatch, answer=True)
    answer = protoleaf(capsys, "backbone", "add", SOURCE)
    assert (answer.status, asked) == (0, ["Download it?"])
    assert answer.err.startswith(
        "squeezenet1_1 with weights IMAGENET1K_V1 must be downloaded: 5.0 MB; licence: "
    )
    assert ", from 127.0.0.1\n" in answer.err
    assert f"Added {NAME}: 224 pixels, embeddings of width 512" in answer.out


@pytest.mark.slow
def test_a_project_on_a_published_network(
    server: WeightsServer, quick: None, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    """`new` downloads once with --yes.

    The second project uses the local copy without a question.
    """
    first = protoleaf(
        capsys, "new", tmp_path / "a.protoleaf", "--backbone", SOURCE, "--yes", "--json"
    )
    assert first.status == 0
    assert "5.0 MB" in first.err
    second = done(capsys, "new", tmp_path / "b.protoleaf", "--backbone", SOURCE, "--json")
    assert second.fields["backbone"] == first.fields["backbone"] == NAME
    assert len(server.ranges) == 1


@pytest.mark.slow
def test_a_project_s_network_comes_through_a_proxy(
    server: WeightsServer,
    quick: None,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Any,
    content: bytes,
) -> None:
    """The proxy gets the full URL; an invalid proxy is refused before any request."""
    elsewhere = "http://localhost:1/weights.pth"
    keep_in_list(cache_of_test(), [facts_of(SMALL, content, elsewhere)])
    new = ("new", tmp_path / "p.protoleaf", "--backbone", SOURCE, "--yes", "--proxy")
    assert "not a proxy's address" in protoleaf(capsys, *new, "socks5://here:1").err
    assert server.paths == []
    answer = protoleaf(capsys, *new, f"http://127.0.0.1:{server.port}", "--json")
    assert (answer.status, answer.fields["backbone"]) == (0, NAME)
    assert server.paths == [elsewhere]


def test_a_proxy_is_for_downloads_only(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    """A local backbone needs no download; an invalid proxy makes no project."""
    project = tmp_path / "p.protoleaf"
    for backbone in ("leafnet", "network.onnx"):
        line = refused(
            capsys, "new", project, "--backbone", backbone, "--proxy", "http://here:1", status=2
        )
        assert (
            "download of a published network: expected torchvision:NAME or timm:NAME, found "
            + backbone
            in line
        )
        assert "Leave --proxy out" in line
    assert not project.exists()


def test_a_failed_download_is_one_line(
    server: WeightsServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """After the terms, one line with status and URL."""
    server.statuses = [404]
    answer = protoleaf(capsys, "backbone", "add", SOURCE, "--yes")
    assert answer.status == 1
    assert answer.out == ""
    assert f"404 Not Found for {server.url}" in answer.err
    assert BackboneLibrary().names() == ()


def test_the_list_shows_terms(
    server: WeightsServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Size, accuracy, width and licence of each network; all facts in JSON."""
    from engine.backbones.published.torchvision_networks import published_networks

    keep_in_list(cache_of_test(), published_networks(["vit_b_16"]))
    text = done(capsys, "backbone", "list", "--published").out
    assert "IMAGENET1K_SWAG_E2E_V1" in text
    assert "CC-BY-NC 4.0: not for commercial use" in text
    assert "346.3 MB" in text
    assert "none named for the weights" in text
    fields = done(capsys, "backbone", "list", "--published", "--json").fields
    first = fields["networks"][0]
    assert (first["library_name"], first["file_size_mb"]) == (
        "torchvision-vit_b_16-imagenet1k_v1",
        346.3,
    )
    assert (first["embedding_width"], first["input_side"], first["parameters"]) == (
        768,
        224,
        86_567_656,
    )
    assert server.ranges == []


def test_the_worker_lists(server: WeightsServer) -> None:
    """The window gets the networks with their terms in one result."""
    (network,) = served(ListPublished(cache_of_test().root)).ending.networks
    assert network.source == SOURCE
    assert network == facts_of(SMALL, server.content, network.url)
    assert server.ranges == []


@pytest.mark.slow
def test_the_worker_adds(server: WeightsServer, quick: None) -> None:
    """Progress in bytes, then steps, then the added backbone."""
    answer = served(AddPublished(cache_of_test().root, SOURCE))
    assert {event.unit for event in answer.events} == {"bytes", "steps"}
    assert isinstance(answer.ending, AddedBackbone)
    assert (answer.ending.name, answer.ending.width) == (NAME, 512)
    assert BackboneLibrary().names() == (NAME,)


def test_the_worker_stops(server: WeightsServer) -> None:
    """A cancelled download adds nothing; a partial file is kept for the next time."""
    assert served(AddPublished(cache_of_test().root, SOURCE), is_alone=True).ending == Stopped()
    assert BackboneLibrary().names() == ()
    assert (
        not weights_path(cache_of_test(), facts_of(SMALL, url=server.url))
        .with_suffix(".onnx")
        .exists()
    )
