"""Published architectures with random weights: a file made here, and its facts."""

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

import torch
from torch import Tensor, nn

from engine.backbones.published.facts import PublishedNetwork
from engine.backbones.published.torchvision_networks import made, published_networks
from engine.config import CacheFolders

SMALL = "squeezenet1_1"
"""Small in weights and quick to export."""


def random_state(name: str, seed: int = 0) -> dict[str, Tensor]:
    """Random weights of a network with head, and torch's version metadata."""
    torch.manual_seed(seed)
    return made(name).state_dict()


def saved(state: object) -> bytes:
    """Serialise as torch does."""
    file = io.BytesIO()
    torch.save(state, file)
    return file.getvalue()


def facts_of(name: str, content: bytes = b"", url: str = "") -> PublishedNetwork:
    """The published facts of a network with these weights at `url`."""
    found = published_networks([name])[0]
    digits = hashlib.sha256(content).hexdigest()[:8]
    return replace(
        found,
        url=url or found.url,
        sha256_prefix=digits,
        size_bytes=len(content) or found.size_bytes,
    )


def keep_in_list(caches: CacheFolders, networks: Sequence[PublishedNetwork]) -> None:
    """Write a list of published networks to the cache."""
    caches.root.mkdir(parents=True, exist_ok=True)
    for publisher in ("torchvision", "timm"):
        own = [network.as_dict() for network in networks if network.publisher == publisher]
        content = {"format": 2, "version": version(publisher), "networks": own}
        (caches.root / f"published-{publisher}.json").write_text(
            json.dumps(content), encoding="utf-8"
        )


class TinyNetwork(nn.Module):
    """A classification network of ten classes for images of 32 pixels, quick to export."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
        )
        self.head = nn.Linear(8, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W) float to scores (B, 10) float."""
        scores: Tensor = self.head(self.features(images))
        return scores


def tiny_facts() -> PublishedNetwork:
    """Published facts of `TinyNetwork`."""
    found = published_networks([SMALL])[0]
    return replace(
        found, network="tiny", input_side=32, resize_side=32, embedding_width=8, parameters=314
    )
