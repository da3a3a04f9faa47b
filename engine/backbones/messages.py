"""Requests about backbones to a worker, and results: no torch, no untrusted files in the window."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.backbones.preprocessing import (
    PRESETS,
    Preprocessing,
    numbers_text,
    preprocessing_from,
    preset_name,
)
from engine.backbones.published.facts import PublishedNetwork
from engine.errors import ModelError
from engine.model_card import CHANNELS, BackboneCard
from engine.texts import Message
from engine.worker.limits import Limits
from engine.worker.protocol import Request

Shape = tuple[int | str | None, ...]
GUESS_NOTICE = Message(
    "The preprocessing is a guess: check it against the network's documentation."
)
_COLOURS = frozenset({"mean", "std", "value_scale"})
"""Fields of `Preprocessing` that a file does not declare; its sides and outputs it does."""


@dataclass(frozen=True)
class TensorFacts:
    """An input or output."""

    name: str  # in the file
    kind: str  # such as "tensor(float)"
    shape: Shape  # as declared; a text or None for an axis of any length
    # Shape for one image; empty for inputs and for what is not a tensor
    observed: tuple[int, ...] = ()
    pooling: str = ""  # how it becomes a vector: "none", "mean" or "first"; empty where it cannot
    width: int = 0  # length of the vector, 0 where there is none
    refused: str = ""  # why it cannot be an embedding; empty where it can


def declared_facts(tensors: Iterable[Any]) -> tuple[TensorFacts, ...]:
    """Inputs or outputs of an `onnxruntime.InferenceSession`, which decodes names only on access.

    Raises:
        ModelError: one of the names is not valid UTF-8.
    """
    try:
        return tuple(
            TensorFacts(str(each.name), str(each.type), tuple(each.shape or ())) for each in tensors
        )
    except UnicodeDecodeError as error:
        raise ModelError("the model is damaged", found="a name in it is not text") from error


@dataclass(frozen=True)
class ImageInput(TensorFacts):
    """The only input of a network that takes images."""

    layout: str = "nchw"  # "nchw" or "nhwc"
    channels: int = CHANNELS  # 3, or 1 for grey
    fixed_side: int | None = None  # None where any side will do
    fixed_batch: int | None = None  # 1 where the network takes one image at a time, else None


@dataclass(frozen=True)
class OnnxFacts:
    """Facts about a file that can be a backbone."""

    name: str  # a name for it in the library
    size_bytes: int  # with its external data
    opset: int  # version of the standard operators
    producer: str  # the program that wrote it
    image_input: ImageInput  # its only input
    outputs: tuple[TensorFacts, ...]  # all of them, the most likely embedding first
    preprocessing: Preprocessing  # declared or guessed, with the most likely output
    why: str  # where the preprocessing comes from
    is_declared: bool  # False for a guess, which should be shown to the person first
    width: int  # of embeddings from the most likely output
    notices: tuple[str, ...] = ()  # what the person should know, in whole sentences
    # description, licence: from a card next to the file
    description: str = ""
    licence: str = ""

    def with_chosen(self, chosen: Mapping[str, Any]) -> "OnnxFacts":
        """Apply the preprocessing that was chosen; a complete choice replaces the guess."""
        if not chosen:
            return self
        if not chosen.keys() >= _COLOURS:
            return replace(
                self, why=Message("{why}; the chosen settings are used", {"why": self.why})
            )
        used = preprocessing_from({**vars(self.preprocessing), **chosen})
        numbers = f"mean {numbers_text(used.mean)} and std {numbers_text(used.std)}"
        numbers += f" of {used.value_scale:g}"
        preset = preset_name(used)
        why = Message(
            "{title}, as chosen", {"title": Message(PRESETS[preset].title if preset else numbers)}
        )
        notices = tuple(notice for notice in self.notices if notice != GUESS_NOTICE)
        return replace(self, why=why, is_declared=True, notices=notices)


@dataclass(frozen=True)
class Trial:
    """How a backbone performed on real images."""

    images: int  # how many it was tried on
    width: int  # of the embeddings
    images_per_s: float  # on this computer's CPU, one core; without reading files
    memory_bytes: int  # peak of the whole process
    mean_length: float  # mean length of the embeddings
    spread: float  # median distance of two images' embeddings, relative to that length
    batch_difference: float  # largest relative difference between an image alone and among others


@dataclass(frozen=True)
class AddedBackbone:
    """A backbone in the library."""

    name: str
    backbone_hash: str
    width: int


@dataclass(frozen=True)
class ConvertBackbone(Request[AddedBackbone]):
    """Convert a bundled backbone from its weights package; progress in "steps", named in the note.

    A cancel stops between two steps, and nothing is left.
    """

    name: str


@dataclass(frozen=True)
class InspectFile(Request[OnnxFacts]):
    """Check whether a file can be a backbone, and describe it."""

    path: Path


@dataclass(frozen=True)
class TryFile(Request[Trial]):
    """Run a file on some images with the chosen preprocessing; nothing is stored."""

    path: Path
    facts: OnnxFacts
    preprocessing: Mapping[str, Any]
    images: tuple[Path, ...] = ()


@dataclass(frozen=True)
class AddFile(Request[AddedBackbone]):
    """Inspect a file, try it on real images, and add it to the library."""

    path: Path
    name: str = ""  # in the library; empty: that of its card or file
    # Fields of `Preprocessing` that the person chose
    preprocessing: Mapping[str, Any] | None = None
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
    """List published networks of installed publishers; progress in "networks" the first time."""

    cache: Path


@dataclass(frozen=True)
class AddPublished(Request[AddedBackbone]):
    """Download a published network, export it and keep it in the library.

    The person has agreed to size and licence. Progress is in "bytes" while downloading, then in
    "steps", named in the note.
    """

    cache: Path  # root of the caches
    source: str  # such as "torchvision:resnet50" or "timm:vit_small_patch14_dinov2.lvd142m"
    weights: str | None = None  # version of its weights; None: the publisher's default
    proxy: str = ""  # address of a proxy; empty: that of the environment
    mirror: str = ""  # address or folder that files are taken from; empty: their publisher
    input_side: int | None = None  # side of the square input; None: that of the weights
    keep_weights: bool = False
