"""Requests about backbones to a worker: the window never imports torch, and untrusted files run apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.backbones.onnx_files.facts import OnnxFacts, Trial
from engine.backbones.published.facts import PublishedNetwork
from engine.model_card import BackboneCard
from engine.worker.limits import Limits
from engine.worker.protocol import Request


@dataclass(frozen=True)
class AddedBackbone:
    """A backbone in the library."""

    name: str
    backbone_hash: str
    width: int


@dataclass(frozen=True)
class ConvertBackbone(Request[AddedBackbone]):
    """Convert a bundled backbone from its weights package, once; progress in "steps", named in the note.

    A cancel stops between two steps, and nothing is left.
    """

    name: str


@dataclass(frozen=True)
class InspectFile(Request[OnnxFacts]):
    """Check whether a file can be a backbone, and describe it."""

    path: Path


@dataclass(frozen=True)
class TryFile(Request[Trial]):
    """Run a file on some images with the chosen preprocessing; nothing is kept."""

    path: Path
    facts: OnnxFacts
    preprocessing: Mapping[str, Any]
    images: tuple[Path, ...] = ()


@dataclass(frozen=True)
class AddFile(Request[AddedBackbone]):
    """Inspect a file, try it on real images, and add it to the library."""

    path: Path
    name: str = ""  # in the library; empty: that of its card or file
    preprocessing: Mapping[str, Any] | None = None  # fields of `Preprocessing` that the person chose
    project: Path | None = None  # whose images it is tried on; None: on photos of the sample


@dataclass(frozen=True)
class ExamineFile(Request[OnnxFacts]):
    """Inspect a file in the worker itself, held to limits."""

    path: Path
    limits: Limits


@dataclass(frozen=True)
class RunFile(Request[Trial]):
    """Run a file on images in the worker itself, held to limits."""

    path: Path
    limits: Limits
    card: BackboneCard
    images: tuple[Path, ...]


@dataclass(frozen=True)
class PublishedList:
    """Every published network; nothing was downloaded."""

    networks: tuple[PublishedNetwork, ...]


@dataclass(frozen=True)
class ListPublished(Request[PublishedList]):
    """List published networks of all installed publishers; progress in "networks" the first time."""

    cache: Path


@dataclass(frozen=True)
class AddPublished(Request[AddedBackbone]):
    """Download a published network, export it and keep it in the library.

    The person has agreed to size and licence. Progress is in "bytes" while downloading, then in "steps", named in the
    note.
    """

    cache: Path  # root of the caches
    source: str  # such as "torchvision:resnet50" or "timm:vit_small_patch14_dinov2.lvd142m"
    weights: str | None = None  # version of its weights; None: the publisher's default
    proxy: str = ""  # address of a proxy; empty: that of the environment
    mirror: str = ""  # address or folder that files are taken from; empty: their publisher
    input_side: int | None = None  # side of the square input; None: that of the weights
    keep_weights: bool = False
