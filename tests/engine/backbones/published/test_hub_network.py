"""Networks that timm has no entry for.

What their repository says is enough, and no more is taken from it.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.backbones.published.catalogue import find_published
from engine.backbones.published.facts import PublishedNetwork
from engine.backbones.published.hub_network import plain_facts, settings_of_open_clip
from engine.backbones.published.route import Route
from engine.backbones.published.timm_networks import load_published
from engine.config import CacheFolders
from engine.errors import ModelError
from tests.support.hub_server import COMMIT, HubServer, serving_hub
from tests.support.timm_networks import VIT, as_safetensors, random_network

BIOCLIP = {
    "model_cfg": {
        "embed_dim": 512,
        "vision_cfg": {"image_size": 224, "layers": 12, "width": 768, "patch_size": 16},
        "text_cfg": {
            "context_length": 77,
            "vocab_size": 49408,
            "width": 512,
            "heads": 8,
            "layers": 12,
        },
    },
    "preprocess_cfg": {
        "mean": [0.48145466, 0.4578275, 0.40821073],
        "std": [0.26862954, 0.26130258, 0.27577711],
    },
}
"""open_clip_config.json in the form of BioCLIP's."""
OURS = {
    "architecture": "test_vit",
    "num_classes": 7,
    "pretrained_cfg": {
        "input_size": [3, 160, 160],
        "mean": [0.5, 0.5, 0.5],
        "std": [0.5, 0.5, 0.5],
        "crop_pct": 0.95,
        "fixed_input_size": True,
        "first_conv": "patch_embed.proj",
        "classifier": "head",
    },
}
"""config.json as timm writes it for a network that somebody trained."""
README = (
    "---\nlibrary_name: timm\nlicense: cc-by-nc-4.0\ntags:\n- moths\n---\n# Moths\nlicense: mit\n"
)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The computer's own proxies stay out of the tests."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def hub() -> Iterator[HubServer]:
    """A hub with one repository."""
    with serving_hub(HubServer()) as running:
        yield running


def give(hub: HubServer, **files: Any) -> None:
    """Let the repository have these files, with underscores for dots before their ending."""
    for name, content in files.items():
        path = f"anna/moths/{name.replace('__', '.')}"
        hub.files[path] = content if isinstance(content, bytes) else json.dumps(content).encode()


def found_on(hub: HubServer, tmp_path: Path) -> PublishedNetwork:
    """The facts of the repository's network."""
    return find_published(
        CacheFolders(tmp_path / "caches"), "timm:hf-hub:anna/moths", route=Route(mirror=hub.url)
    )


def own_network() -> torch.nn.Module:
    """The network that somebody trained: seven classes."""
    network = random_network(VIT)
    network.reset_classifier(7)  # type: ignore[operator]
    return network


@pytest.mark.slow
def test_a_network_in_timm_s_form(hub: HubServer, tmp_path: Path) -> None:
    """Architecture, preprocessing, licence, size and checksum are known before the weights."""
    network = own_network()
    content = as_safetensors(network.state_dict())
    give(hub, config__json=OURS, README__md=README.encode(), model__safetensors=content)
    found = found_on(hub, tmp_path)
    assert (found.source, found.library_name) == ("timm:hf-hub:anna/moths", "timm-anna-moths")
    assert (found.input_side, found.embedding_width, found.mean) == (160, 64, (0.5, 0.5, 0.5))
    assert (found.size_bytes, len(found.sha256_prefix)) == (len(content), 64)
    assert found.licence == "CC-BY-NC 4.0: not for commercial use"
    assert f"/resolve/{COMMIT}/" in found.url
    assert not [line for line in hub.asked if line.startswith("GET") and "safetensors" in line]
    path = tmp_path / "weights"
    path.write_bytes(content)
    images = torch.randn(2, 3, 160, 160)
    with torch.no_grad():
        features = network.forward_features(images)  # type: ignore[operator]
        expected = network.forward_head(features, pre_logits=True)  # type: ignore[operator]
        torch.testing.assert_close(load_published(found, path)(images), expected)


@pytest.mark.slow
def test_a_folder_as_mirror(tmp_path: Path) -> None:
    """The same from a folder, without a network; nothing is known to compare with."""
    folder = tmp_path / "mirror" / "anna" / "moths"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(OURS))
    (folder / "model.safetensors").write_bytes(b"12345")
    route = Route(mirror=str(tmp_path / "mirror"))
    found = find_published(CacheFolders(tmp_path / "caches"), "timm:hf-hub:anna/moths", route=route)
    assert (found.size_bytes, found.sha256_prefix, found.is_unlicensed) == (5, "", True)


@pytest.mark.slow
def test_bioclip_s_form(hub: HubServer, tmp_path: Path) -> None:
    """The image half of a CLIP network is one of timm's.

    What timm calls its head is the projection to 512.
    """
    give(hub, open_clip_config__json=BIOCLIP, open_clip_pytorch_model__bin=b"weights")
    found = found_on(hub, tmp_path)
    assert json.loads(found.settings)["architecture"] == "vit_base_patch16_clip_224"
    assert (found.input_side, found.embedding_width, found.resize_share) == (224, 768, 1)
    assert found.mean == (0.48145466, 0.4578275, 0.40821073)
    assert found.url.endswith("/open_clip_pytorch_model.bin")
    assert found.size_bytes == 7


def test_open_clip_s_names_of_weights_are_understood(tmp_path: Path) -> None:
    """A network that open_clip took from timm.

    Its weights have other names there, and text beside them.
    """
    clip = {
        "model_cfg": {
            "embed_dim": 7,
            "vision_cfg": {"timm_model_name": "test_vit", "timm_proj": "linear"},
        }
    }
    settings = settings_of_open_clip(clip)
    assert settings is not None
    settings["pretrained_cfg"]["input_size"] = [3, 160, 160]
    network = own_network()
    state = {
        f"visual.trunk.{name}": value
        for name, value in network.state_dict().items()
        if "head" not in name
    }
    state |= {
        "visual.head.proj.weight": network.get_parameter("head.weight"),
        "logit_scale": torch.zeros(1),
    }
    path = tmp_path / "weights"
    path.write_bytes(as_safetensors(state))
    facts = plain_facts("hf-hub:anna/moths")
    images = torch.randn(2, 3, 160, 160)
    with torch.no_grad():
        found = load_published(_with(facts, settings), path)(images)
        features = network.forward_features(images)  # type: ignore[operator]
        pooled = network.forward_head(features, pre_logits=True)  # type: ignore[operator]
        torch.testing.assert_close(found, pooled)


def _with(facts: PublishedNetwork, settings: dict[str, Any]) -> PublishedNetwork:
    return replace(facts, settings=json.dumps(settings), input_side=160)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"architecture": "hf-hub:evil/network", "pretrained_cfg": OURS["pretrained_cfg"]},
            "does not have the network",
        ),
        (
            {"architecture": ["x"], "pretrained_cfg": OURS["pretrained_cfg"]},
            "does not have the network",
        ),
        (
            {**OURS, "model_args": {"checkpoint_path": "/etc/passwd"}},
            "more than building a network: found checkpoint",
        ),
        ({**OURS, "model_args": {"no_such_option": 1}}, "cannot be built"),
        ({**OURS, "pretrained_cfg": {"input_size": [1, 160, 160]}}, "no square colour images"),
        (
            {**OURS, "pretrained_cfg": {"input_size": [3, 160, 160], "mean": "red"}},
            "the preprocessing of .* cannot be read",
        ),
        ({**OURS, "pretrained_cfg": 7}, "cannot be read"),
        ([], "cannot be read|not a network that timm can build"),
        ({"model_type": "bert"}, "not a network that timm can build"),
    ],
)
def test_what_a_repository_may_not_say(
    hub: HubServer, tmp_path: Path, config: Any, message: str
) -> None:
    """One line each; no address, file or option of it is followed."""
    give(hub, config__json=config, model__safetensors=b"x")
    with pytest.raises(ModelError, match=message):
        found_on(hub, tmp_path)


@pytest.mark.slow
def test_a_repository_without_readable_weights(hub: HubServer, tmp_path: Path) -> None:
    """It says which names were looked for."""
    give(hub, config__json=OURS, flax_model__msgpack=b"x")
    with pytest.raises(
        ModelError, match=r"anna/moths has no weights.*model.safetensors or pytorch_model.bin"
    ):
        found_on(hub, tmp_path)
