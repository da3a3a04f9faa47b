"""A network of timm comes in by the way that those of torchvision take.

From a hub on this computer, or a folder.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from engine.backbones.library import BackboneLibrary
from engine.backbones.published import catalogue, export
from engine.backbones.published.catalogue import find_published, list_published
from engine.backbones.published.facts import PublishedNetwork
from engine.backbones.published.networks import add_published
from engine.backbones.published.route import Route, weights_path
from engine.backbones.published.timm_networks import load_published
from engine.config import CacheFolders
from engine.errors import Cancelled, ModelError, NetworkError
from engine.events import CancelToken, Progress
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import CPU_CHOICE
from engine.training import needed_packages
from tests.support.hub_server import COMMIT, HubServer, serving_hub
from tests.support.timm_networks import CONVNET, VIT, as_safetensors, hub_of, random_network

SIDE = 96


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The computer's own proxies and mirrors stay out of the tests."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("HF_ENDPOINT", raising=False)


@pytest.fixture
def hub() -> Iterator[HubServer]:
    """A hub with a vision transformer and a network of convolutions."""
    with serving_hub(hub_of(VIT, CONVNET)) as running:
        yield running


@pytest.fixture
def caches(tmp_path: Path) -> CacheFolders:
    """Caches of the test."""
    return CacheFolders(tmp_path / "caches")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """An export that takes no time: another file is written, and nothing is compared."""
    from engine.training.export import Agreement

    def at_once(
        _network: object, facts: PublishedNetwork, path: Any, **_options: object
    ) -> Agreement:
        from tests.support.backbones import write_tiny_backbone

        write_tiny_backbone(path, width=facts.embedding_width)
        return Agreement(1e-6, 1e-3, 2)

    monkeypatch.setattr(export, "export_published", at_once)


def facts_of(caches: CacheFolders, name: str = VIT) -> PublishedNetwork:
    """The facts of a network."""
    return find_published(caches, f"timm:{name}")


def left(caches: CacheFolders) -> set[str]:
    """What lies in the folder of downloads, locks aside."""
    return {path.name for path in (caches.root / "downloads").iterdir() if path.suffix != ".lock"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [VIT, CONVNET])
def test_a_network_comes_into_the_library(
    hub: HubServer, caches: CacheFolders, tmp_path: Path, name: str
) -> None:
    """At the side that was chosen; downloaded, exported, compared.

    What the library gives is timm's embedding.
    """
    route, reported = Route(mirror=hub.url), list[Progress]()
    facts = find_published(caches, f"timm:{name}", input_side=SIDE)
    files = add_published(
        facts, caches, route=route, on_progress=reported.append, keep_weights=True
    )
    assert files.name == f"timm-{name}-{SIDE}px"
    assert files.card.figures["largest_difference_from_torch"] < 1e-4
    assert (
        f"Weights: model.safetensors from 127.0.0.1 at {COMMIT[:16]}, SHA-256 "
        in files.card.description
    )
    assert {progress.unit for progress in reported} == {"bytes", "steps"}
    images = np.random.default_rng(0).integers(0, 256, (2, SIDE, SIDE, 3), dtype=np.uint8)
    embeddings = BackboneSession(files.backbone, files.card, CPU_CHOICE, threads=1).embed(images)
    pixels = (torch.from_numpy(images) / 255 - torch.tensor(facts.mean)) / torch.tensor(facts.std)
    with torch.no_grad():
        expected = load_published(facts, weights_path(caches, facts))(
            pixels.permute(0, 3, 1, 2).float()
        )
    np.testing.assert_allclose(
        embeddings, torch.nn.functional.normalize(expected, dim=1).numpy(), atol=1e-5
    )


@pytest.mark.slow
def test_dinov2_comes_in_and_embeds_at_its_speed(caches: CacheFolders, tmp_path: Path) -> None:
    """The real architecture at 224 pixels with random weights in a folder.

    Beside a plain loop of ONNX Runtime.

    The best of some rounds is compared: what else the computer does makes a round slower, and never
    faster.
    """
    route = Route(mirror=str(tmp_path / "mirror"))
    facts = find_published(caches, "timm:vit_small_patch14_dinov2.lvd142m", input_side=224)
    path = tmp_path / "mirror" / "timm" / facts.full_name / "model.safetensors"
    path.parent.mkdir(parents=True)
    path.write_bytes(as_safetensors(random_network(facts.full_name).state_dict()))
    files = add_published(facts, caches, route=route)
    assert files.card.figures["largest_difference_from_torch"] < 1e-4
    images = np.random.default_rng(0).integers(0, 256, (4, 224, 224, 3), dtype=np.uint8)
    ready = (
        np.ascontiguousarray((images / 255 - facts.mean) / facts.std, dtype=np.float32)
        .transpose(0, 3, 1, 2)
        .copy()
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    plain = onnxruntime.InferenceSession(
        str(files.backbone), options, providers=["CPUExecutionProvider"]
    )
    session = BackboneSession(files.backbone, files.card, CPU_CHOICE, threads=1)
    plain_s, ours_s = list[float](), list[float]()
    for _ in range(5):
        start = time.process_time()
        plain.run(None, {"images": ready})
        middle = time.process_time()
        session.embed(images)
        plain_s.append(middle - start)
        ours_s.append(time.process_time() - middle)
    assert min(plain_s) / min(ours_s) >= 0.9


@pytest.mark.slow
def test_what_the_hub_tells_is_compared(hub: HubServer, quick: None, caches: CacheFolders) -> None:
    """Size, SHA-256 and version are requested first; the bytes then come from this version."""
    files = add_published(facts_of(caches), caches, route=Route(mirror=hub.url))
    assert BackboneLibrary().names() == (files.name,)
    assert hub.asked == [
        f"HEAD /timm/{VIT}/resolve/main/model.safetensors",
        f"GET /timm/{VIT}/resolve/{COMMIT}/model.safetensors",
    ]
    assert left(caches) == set()
    add_published(facts_of(caches), caches, route=Route(mirror=hub.url))
    assert len(hub.asked) == 2


@pytest.mark.slow
def test_a_wrong_checksum_is_refused(hub: HubServer, caches: CacheFolders) -> None:
    """The file is deleted."""
    hub.sent_sha256 = "ab" * 32
    with pytest.raises(
        ModelError, match=r"not the published one: expected SHA-256 abab.*It was deleted"
    ):
        add_published(facts_of(caches), caches, route=Route(mirror=hub.url))
    assert left(caches) == set()
    assert BackboneLibrary().names() == ()


@pytest.mark.slow
def test_without_a_checksum_the_card_says_so(
    hub: HubServer, quick: None, caches: CacheFolders
) -> None:
    """A mirror that tells none."""
    hub.sent_sha256 = ""
    files = add_published(facts_of(caches), caches, route=Route(mirror=hub.url))
    assert "published without a checksum" in files.card.description


@pytest.mark.slow
def test_an_older_file_is_taken_where_there_is_no_safetensors(
    hub: HubServer, quick: None, caches: CacheFolders
) -> None:
    """The hub's other name is requested next; where neither is, both are named."""
    hub.files[f"timm/{VIT}/pytorch_model.bin"] = hub.files.pop(f"timm/{VIT}/model.safetensors")
    files = add_published(facts_of(caches), caches, route=Route(mirror=hub.url))
    assert "Weights: pytorch_model.bin" in files.card.description
    BackboneLibrary().remove(files.name)
    hub.files.clear()
    with pytest.raises(
        NetworkError,
        match=r"no longer available at their address.*safetensors or .*pytorch_model.bin",
    ):
        add_published(facts_of(caches), caches, route=Route(mirror=hub.url))


@pytest.mark.slow
def test_broken_weights_are_deleted(hub: HubServer, caches: CacheFolders) -> None:
    """They are what the hub has, and yet no weights: the next try asks for them again."""
    hub.files[f"timm/{VIT}/model.safetensors"] = hub.files[f"timm/{VIT}/model.safetensors"][:-9]
    with pytest.raises(ModelError, match="cannot be read as plain numbers"):
        add_published(facts_of(caches), caches, route=Route(mirror=hub.url))
    assert left(caches) == set()


@pytest.mark.slow
def test_a_cancelled_download_is_resumed(hub: HubServer, quick: None, caches: CacheFolders) -> None:
    """What has arrived is not requested again."""
    cancel = CancelToken()

    def stop(progress: Progress) -> None:
        if progress.unit == "bytes" and progress.done:
            cancel.cancel()

    with pytest.raises(Cancelled):
        add_published(
            facts_of(caches), caches, route=Route(mirror=hub.url), on_progress=stop, cancel=cancel
        )
    assert f"timm-{VIT}.weights.part" in left(caches)
    assert (
        add_published(facts_of(caches), caches, route=Route(mirror=hub.url)).name == f"timm-{VIT}"
    )
    assert left(caches) == set()


@pytest.mark.slow
def test_a_folder_as_mirror(
    hub: HubServer, quick: None, caches: CacheFolders, tmp_path: Path
) -> None:
    """Nothing is asked over the network, and the folder keeps its file."""
    path = tmp_path / "mirror" / f"timm/{VIT}/model.safetensors"
    path.parent.mkdir(parents=True)
    path.write_bytes(hub.files[f"timm/{VIT}/model.safetensors"])
    route = Route(mirror=str(tmp_path / "mirror"))
    files = add_published(facts_of(caches), caches, route=route)
    assert "from a folder" in files.card.description
    assert "no checksum is known" in files.card.description
    assert path.is_file()
    with pytest.raises(
        ModelError,
        match=rf"does not have these weights: expected timm/{CONVNET}/model.safetensors or",
    ):
        add_published(facts_of(caches, CONVNET), caches, route=route)
    path.write_bytes(b"broken")
    BackboneLibrary().remove(files.name)
    with pytest.raises(ModelError, match="plain numbers"):
        add_published(facts_of(caches), caches, route=route)
    assert path.is_file()
    assert hub.asked == []


def test_the_hub_s_own_cache_tells_the_checksum(caches: CacheFolders, tmp_path: Path) -> None:
    """Its files are named by their SHA-256: one that is another is refused."""
    snapshot = tmp_path / f"models--timm--{VIT}" / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    blob = tmp_path / f"models--timm--{VIT}" / "blobs" / ("ab" * 32)
    blob.parent.mkdir()
    blob.write_bytes(b"something else")
    (snapshot / "model.safetensors").symlink_to(blob)
    with pytest.raises(
        ModelError, match="the mirror's file is not the published one: expected SHA-256 abab"
    ):
        add_published(facts_of(caches), caches, route=Route(mirror=str(tmp_path)))
    assert blob.is_file()


def test_without_timm_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, caches: CacheFolders
) -> None:
    """The other networks are listed all the same."""

    def find_spec(name: str) -> object:
        return None if name == "timm" else object()

    facts = facts_of(caches)
    monkeypatch.setattr(needed_packages, "find_spec", find_spec)
    monkeypatch.setattr(catalogue, "find_spec", find_spec)
    message = (
        r"networks of timm require packages that are not installed.*no timm"
        r".*nstall protoleaf\[timm\]"
    )
    for ask in (
        lambda: list_published(caches, publisher="timm"),
        lambda: find_published(caches, f"timm:{VIT}"),
        lambda: find_published(caches, "timm:hf-hub:anna/moths"),
        lambda: add_published(facts, caches),
    ):
        with pytest.raises(ModelError, match=message):
            ask()
    monkeypatch.setattr(
        "engine.backbones.published.torchvision_networks.published_networks",
        lambda *_names, **_options: [replace(facts, publisher="torchvision")],
    )
    assert {network.publisher for network in list_published(caches)} == {"torchvision"}
    with pytest.raises(
        ModelError, match="no such source of published networks: expected torchvision or timm"
    ):
        list_published(caches, publisher="keras")
