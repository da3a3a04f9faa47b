"""Reports of workers to the backbone panel, and a cached list of published networks."""

from collections.abc import Sequence
from dataclasses import replace

from engine.backbones.published.catalogue import PUBLISHERS
from engine.backbones.published.catalogue import store_catalogue as keep_list_of
from engine.backbones.published.facts import PublishedNetwork
from engine.config import CacheFolders
from engine.events import Progress

SMALL = PublishedNetwork(
    network="smallnet",
    weights="IMAGENET1K_V1",
    is_default=True,
    url="http://127.0.0.1:9/smallnet-0123abcd.pth",
    sha256_prefix="0123abcd",
    size_bytes=4_800_000,
    parameters=1_200_000,
    top1=58.1,
    top5=80.4,
    billion_operations=0.8,
    input_side=224,
    resize_side=256,
    interpolation="bilinear",
    mean=(0.485, 0.456, 0.406),
    std=(0.229, 0.224, 0.225),
    embedding_width=512,
    licence="none named for the weights",
    licence_url="https://example.org/licence",
    recipe_url="https://example.org/recipe",
)
LARGE = replace(
    SMALL,
    network="largenet",
    weights="IMAGENET1K_SWAG_V1",
    url="http://127.0.0.1:9/largenet-4567abcd.pth",
    sha256_prefix="4567abcd",
    size_bytes=343_000_000,
    top1=85.3,
    input_side=384,
    licence="CC-BY-NC 4.0: not for commercial use",
)


def progress(done: int, total: int, unit: str = "images", *, rate: float = 10.0) -> Progress:
    """A progress message."""
    return Progress(done, total, unit, rate, (total - done) / rate)


def store_catalogue(
    caches: CacheFolders, networks: Sequence[PublishedNetwork] = (SMALL, LARGE)
) -> None:
    """Write a list to the cache, so that the worker needs no torch for it."""
    for publisher in PUBLISHERS:
        own = tuple(network for network in networks if network.publisher == publisher.name)
        keep_list_of(caches, publisher, own)
