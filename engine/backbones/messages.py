"""What a worker is asked about backbones: the window never imports torch, and what nobody vouches for runs apart."""

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
    """A backbone that is in the library now."""

    name: str
    backbone_hash: str
    width: int


@dataclass(frozen=True)
class ConvertBackbone(Request[AddedBackbone]):
    """Make the files of a bundled backbone from its weights package, once; progress in "steps", told in the note.

    One that is made already is answered at once. A cancel stops between two steps, and nothing is left.
    """

    name: str


@dataclass(frozen=True)
class InspectFile(Request[OnnxFacts]):
    """Find out whether a file can be a backbone, and what can be known about it."""

    path: Path


@dataclass(frozen=True)
class TryFile(Request[Trial]):
    """Run a file on some images as it would be run as a backbone, with the preprocessing chosen; nothing is kept."""

    path: Path
    facts: OnnxFacts
    preprocessing: Mapping[str, Any]
    images: tuple[Path, ...] = ()


@dataclass(frozen=True)
class AddFile(Request[AddedBackbone]):
    """Inspect a file, try it on real images, and take it into the library."""

    path: Path
    name: str = ""  # in the library; empty: that of its card or file
    preprocessing: Mapping[str, Any] | None = None  # the fields of `Preprocessing` that the person chose
    project: Path | None = None  # whose images it is tried on; None: on drawn ones


@dataclass(frozen=True)
class ExamineFile(Request[OnnxFacts]):
    """Inspect a file in the worker itself, which is held to limits."""

    path: Path
    limits: Limits


@dataclass(frozen=True)
class RunFile(Request[Trial]):
    """Run a file on images in the worker itself, which is held to limits."""

    path: Path
    limits: Limits
    card: BackboneCard
    images: tuple[Path, ...]


@dataclass(frozen=True)
class PublishedList:
    """Every published network, without anything having been downloaded."""

    networks: tuple[PublishedNetwork, ...]


@dataclass(frozen=True)
class ListPublished(Request[PublishedList]):
    """List published networks of all publishers that are installed; progress in "networks" the first time."""

    cache: Path


@dataclass(frozen=True)
class AddPublished(Request[AddedBackbone]):
    """Download a published network, export it and keep it in the library.

    Whoever asks has told the person size and licence, which stand in the list, and was told to go on. Progress is in
    "bytes" while downloading, then in "steps" with what is done in the note.
    """

    cache: Path  # root of the caches
    source: str  # such as "torchvision:resnet50" or "timm:vit_small_patch14_dinov2.lvd142m"
    weights: str | None = None  # version of its weights; None: the publisher's own choice
    proxy: str = ""  # address of a proxy; empty: what the environment says
    mirror: str = ""  # address or folder that files are taken from; empty: from their publisher
    input_side: int | None = None  # side of the square input; None: that of the weights
    keep_weights: bool = False
