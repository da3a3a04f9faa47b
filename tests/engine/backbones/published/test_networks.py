"""A published network's whole way.

Found, downloaded from this computer, exported, kept, and used.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from engine.backbones.library import BackboneLibrary
from engine.backbones.published import export
from engine.backbones.published.catalogue import (
    PUBLISHERS,
    NetworkPublisher,
    find_published,
    is_published_source,
    list_published,
    stored_catalogue,
)
from engine.backbones.published.facts import PublishedNetwork
from engine.backbones.published.networks import add_published
from engine.backbones.published.route import weights_path
from engine.backbones.published.torchvision_networks import load_published
from engine.collection.models import find_model
from engine.config import CacheFolders
from engine.errors import Cancelled, ModelError, NetworkError, StorageError
from engine.events import CancelToken, Progress
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import CPU_CHOICE
from engine.training import needed_packages
from tests.support.collections import cache_of_test
from tests.support.full_disk import full_disk_after
from tests.support.killed import killed_in_scratch_folder
from tests.support.published_networks import SMALL, facts_of, keep_in_list, random_state, saved
from tests.support.weights_server import WeightsServer, serving

SIDE = 64
NAME = "torchvision-squeezenet1_1-imagenet1k_v1"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The computer's own proxies stay out of the tests."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def small_facts(content: bytes, url: str = "") -> PublishedNetwork:
    """The facts of the small network, as if it took images of 64 pixels: that is quicker."""
    return replace(facts_of(SMALL, content, url), input_side=SIDE, resize_side=SIDE)


@pytest.fixture(scope="module")
def content() -> bytes:
    """Random weights of the small network."""
    return saved(random_state(SMALL))


@pytest.fixture(scope="module")
def converted(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The small network with these weights as an ONNX file."""
    path = tmp_path_factory.mktemp("weights") / "w.pth"
    path.write_bytes(content)
    facts = small_facts(content)
    with torch.no_grad():
        convert = export._converted  # noqa: SLF001 (the steps of an export, one at a time)
        return convert(load_published(facts, path), facts, is_half=False)


@pytest.fixture
def converted_before(monkeypatch: pytest.MonkeyPatch, converted: bytes) -> None:
    """Exports that convert nothing: what they would write was made before."""
    monkeypatch.setattr(export, "_converted", lambda *_arguments, **_options: converted)


@pytest.fixture
def server(content: bytes) -> Iterator[WeightsServer]:
    """A server with the weights."""
    with serving(WeightsServer(content)) as running:
        yield running


@pytest.fixture
def facts(server: WeightsServer) -> PublishedNetwork:
    """The facts of the small network on this server."""
    return small_facts(server.content, server.url)


def caches_of(tmp_path: Path) -> CacheFolders:
    """Caches of the test."""
    return CacheFolders(tmp_path / "caches")


def left(caches: CacheFolders) -> set[str]:
    """What lies in the folder of downloads, locks aside."""
    return {path.name for path in (caches.root / "downloads").iterdir() if path.suffix != ".lock"}


@pytest.mark.slow
def test_a_network_comes_into_the_library(
    server: WeightsServer, facts: PublishedNetwork, converted_before: None, tmp_path: Path
) -> None:
    """Downloaded, exported, compared and kept.

    What the library gives is the network's embedding.
    """
    caches, as_full_disk = caches_of(tmp_path), list[Progress]()
    files = add_published(facts, caches, on_progress=as_full_disk.append)
    assert files.name == NAME
    assert find_model(NAME) == files
    assert (files.card.unit_length, files.card.embedding_width, files.card.input_side) == (
        True,
        512,
        SIDE,
    )
    assert files.card.figures["largest_difference_from_torch"] < 1e-4
    assert files.card.figures["images_per_s_one_core"] > 0
    assert left(caches) == set()
    assert {progress.unit for progress in as_full_disk} == {"bytes", "steps"}
    notes = [progress.note for progress in as_full_disk if progress.unit == "steps"]
    assert notes == ["reading the weights", "converting", "comparing with torch", "saving", ""]
    images = np.random.default_rng(0).integers(0, 256, (2, SIDE, SIDE, 3), dtype=np.uint8)
    embeddings = BackboneSession(files.backbone, files.card, CPU_CHOICE, threads=1).embed(images)
    np.testing.assert_allclose(
        embeddings, expected_embeddings(server, facts, images, tmp_path), atol=1e-5
    )
    asked = len(server.ranges)
    assert add_published(facts, caches) == files
    assert len(server.ranges) == asked


def expected_embeddings(
    server: WeightsServer, facts: PublishedNetwork, images: NDArray[np.uint8], folder: Path
) -> NDArray[np.float32]:
    """What torch says, computed anew: torchvision's normalisation, the network, length 1."""
    path = folder / "again.pth"
    path.write_bytes(server.content)
    pixels = (torch.from_numpy(images) / 255 - torch.tensor(facts.mean)) / torch.tensor(facts.std)
    with torch.no_grad():
        embeddings = load_published(facts, path)(pixels.permute(0, 3, 1, 2).float())
    scaled: NDArray[np.float32] = torch.nn.functional.normalize(embeddings, dim=1).numpy()
    return scaled


@pytest.mark.slow
def test_two_programs_do_not_share_an_export(
    facts: PublishedNetwork, converted_before: None, tmp_path: Path
) -> None:
    """The second one is refused because the first is at it, and takes nothing away."""
    caches, asked = caches_of(tmp_path), list[str]()

    def again(progress: Progress) -> None:
        if progress.note == "comparing with torch":
            asked.append(progress.note)
            with pytest.raises(StorageError, match="already"):
                add_published(facts, caches)

    assert add_published(facts, caches, on_progress=again).name == NAME
    assert len(asked) == 1


@pytest.mark.slow
def test_weights_are_kept_when_asked(
    server: WeightsServer, facts: PublishedNetwork, converted_before: None, tmp_path: Path
) -> None:
    """Kept weights are not downloaded again when the backbone was removed."""
    caches, library = caches_of(tmp_path), BackboneLibrary()
    add_published(facts, caches, keep_weights=True)
    assert weights_path(caches, facts).read_bytes() == server.content
    library.remove(NAME)
    add_published(facts, caches)
    assert len(server.ranges) == 1
    assert left(caches) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "stop_at", ["bytes", "reading the weights", "comparing with torch", "saving"]
)
def test_stopped_anywhere_nothing_is_half_made(
    facts: PublishedNetwork, converted_before: None, tmp_path: Path, stop_at: str
) -> None:
    """The library has no trace of it; what was downloaded stays for the next time."""
    caches, cancel = caches_of(tmp_path), CancelToken()

    def stop(progress: Progress) -> None:
        if stop_at in {progress.unit, progress.note}:
            cancel.cancel()

    with pytest.raises(Cancelled):
        add_published(facts, caches, on_progress=stop, cancel=cancel)
    assert BackboneLibrary().names() == ()
    if stop_at != "bytes":
        assert left(caches) == {"weights.pth"}
    assert add_published(facts, caches).name == NAME


def test_a_full_disk_while_exporting_leaves_nothing(
    facts: PublishedNetwork, converted_before: None, tmp_path: Path
) -> None:
    """It is reported, and neither the library nor the cache holds a half-made file."""
    caches = caches_of(tmp_path)
    weights = weights_path(caches, facts)
    with pytest.raises(Cancelled):
        add_published(facts, caches, on_progress=(stop := StopAtSteps()), cancel=stop.cancel)
    assert weights.is_file()
    with (
        full_disk_after(1_000_000),
        pytest.raises(StorageError, match=r"cannot be written.*nothing was saved"),
    ):
        add_published(facts, caches)
    assert BackboneLibrary().names() == ()
    assert left(caches) == {weights.name}


class StopAtSteps:
    """A listener that cancels when the download is over."""

    def __init__(self) -> None:
        self.cancel = CancelToken()

    def __call__(self, progress: Progress) -> None:
        """Take progress."""
        if progress.unit == "steps":
            self.cancel.cancel()


def test_too_little_room_is_reported_before_the_download(
    server: WeightsServer, facts: PublishedNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room is needed for the weights, the export and the copy that is kept."""
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: type("Usage", (), {"free": 6_000_000}))
    with pytest.raises(
        StorageError, match=r"the disk is full: expected 14\.8 MB free, found 6\.0 MB"
    ):
        add_published(facts, caches_of(tmp_path))
    assert server.ranges == []


def test_weights_with_code_are_deleted(tmp_path: Path) -> None:
    """A file that is what was promised and yet no plain numbers: refused, and not found again."""
    evil = saved({"classifier.1.weight": NetworkError})
    with serving(WeightsServer(evil)) as server, pytest.raises(ModelError, match="plain numbers"):
        add_published(facts_of(SMALL, evil, server.url), caches_of(tmp_path))
    assert left(caches_of(tmp_path)) == set()
    assert BackboneLibrary().names() == ()


@pytest.mark.slow
def test_leftovers_of_a_killed_export_are_cleared(
    facts: PublishedNetwork, converted_before: None, tmp_path: Path
) -> None:
    """The folder of a program that was killed while exporting goes when the next one begins."""
    caches = caches_of(tmp_path)
    killed_in_scratch_folder(caches.root / "downloads")
    assert len(list((caches.root / "downloads").glob("protoleaf-*"))) == 1
    add_published(facts, caches)
    assert left(caches) == set()


def test_a_network_is_found_with_and_without_a_list(tmp_path: Path) -> None:
    """By source or name, in any case, by default with torchvision's own choice of weights."""
    caches = cache_of_test()
    found = find_published(caches, "torchvision:ResNet50")
    assert found.weights == "IMAGENET1K_V2"
    assert find_published(caches, "resnet50", "imagenet1k_v1").weights == "IMAGENET1K_V1"
    assert stored_catalogue(caches, PUBLISHERS[0]) is None  # one network is no list
    keep_in_list(caches, [replace(found, top1=1.5)])
    assert find_published(caches, "resnet50").top1 == 1.5


@pytest.mark.parametrize("has_list", [False, True])
def test_a_wrong_name_gets_the_close_ones(has_list: bool) -> None:
    """Names that are nearly the same are offered, and versions that there are."""
    caches = cache_of_test()
    if has_list:
        keep_in_list(caches, [facts_of("resnet50")])
    with pytest.raises(
        ModelError, match=r"no such classification network.*resnet50.*found “resnet5”"
    ):
        find_published(caches, "torchvision:resnet5")
    with pytest.raises(ModelError, match=r"no such weights: expected IMAGENET1K_V2"):
        find_published(caches, "resnet50", "IMAGENET21K")


def test_the_list_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time torch is not asked; another torchvision makes it anew; a damaged list too."""
    caches, made = cache_of_test(), [facts_of(SMALL)]
    calls: list[int] = []

    def networks(*_names: object, **_options: object) -> list[PublishedNetwork]:
        calls.append(1)
        return made

    monkeypatch.setattr(
        "engine.backbones.published.torchvision_networks.published_networks", networks
    )
    assert list(list_published(caches, publisher="torchvision")) == made
    assert list_published(caches, publisher="torchvision") == tuple(made)
    assert len(calls) == 1
    monkeypatch.setattr(NetworkPublisher, "version", "another")
    list_published(caches, publisher="torchvision")
    for damaged in (
        '{"format": 1}',
        "[" * 100_000,
        '{"format": 2, "version": "another", "networks": [{}]}',
    ):
        (caches.root / "published-torchvision.json").write_text(damaged)
        assert list_published(caches, publisher="torchvision") == tuple(made)
    assert len(calls) == 5


@pytest.mark.slow
def test_sources_are_distinguished() -> None:
    """A published network is named with its publisher."""
    assert is_published_source("torchvision:resnet50")
    assert not is_published_source("resnet50.onnx")


def test_without_the_packages_it_says_which(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The installed program without torch can list what it knows, and names what is needed."""
    monkeypatch.setattr(
        needed_packages, "find_spec", lambda name: None if name == "onnxscript" else object()
    )
    with pytest.raises(ModelError, match=r"packages.*no onnxscript.*protoleaf\[train\]"):
        list_published(caches_of(tmp_path))
