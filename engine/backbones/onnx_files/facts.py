"""What was found out about an ONNX file, as plain data that goes from one process to another."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.backbones.preprocessing import PRESETS, Preprocessing, numbers_text, preprocessing_from, preset_name
from engine.errors import ModelError
from engine.model_card import CHANNELS

Shape = tuple[int | str | None, ...]
GUESS_NOTICE: Final = "The preprocessing is a guess: check it against the network's documentation."
_COLOURS: Final = frozenset({"mean", "std", "value_scale"})
"""Fields of `Preprocessing` that a file does not say; its sides and outputs it does."""


@dataclass(frozen=True)
class TensorFacts:
    """An input or output."""

    name: str  # in the file
    kind: str  # such as "tensor(float)"
    shape: Shape  # as declared; a text or None for an axis of any length
    observed: tuple[int, ...] = ()  # shape that it had for one image; empty for inputs and for what is no tensor
    pooling: str = ""  # how it becomes a vector: "none", "mean" or "first"; empty where it cannot
    width: int = 0  # length of the vector, 0 where there is none
    refused: str = ""  # why it cannot be an embedding; empty where it can


def declared_facts(tensors: Iterable[Any]) -> tuple[TensorFacts, ...]:
    """Inputs or outputs of an opened network as its file declares them.

    Args:
        tensors: of `onnxruntime.InferenceSession`, which reads names only when they are asked for.

    Raises:
        ModelError: one of the names is no text.
    """
    try:
        return tuple(TensorFacts(str(each.name), str(each.type), tuple(each.shape or ())) for each in tensors)
    except UnicodeDecodeError as error:
        raise ModelError("the model is damaged", found="a name in it is no text") from error


@dataclass(frozen=True)
class ImageInput(TensorFacts):
    """The only input of a network that takes images."""

    layout: str = "nchw"  # "nchw" or "nhwc"
    channels: int = CHANNELS  # 3, or 1 for grey
    fixed_side: int | None = None  # None where any side will do
    fixed_batch: int | None = None  # 1 where the network takes one image at a time, else None


@dataclass(frozen=True)
class OnnxFacts:
    """What was found out about a file that can be a backbone."""

    name: str  # a name for it in the library
    size_bytes: int  # with its external data
    opset: int  # version of the standard operators
    producer: str  # the program that wrote it
    image_input: ImageInput  # its only input
    outputs: tuple[TensorFacts, ...]  # all of them, the likeliest embedding first
    preprocessing: Preprocessing  # guessed or told, the likeliest output included
    why: str  # where the preprocessing comes from
    is_declared: bool  # whether somebody said so; a guess should be shown to the person first
    width: int  # of embeddings from the likeliest output
    notices: tuple[str, ...] = ()  # what the person should know, in whole sentences
    # description, licence: from a card beside the file
    description: str = ""
    licence: str = ""

    def with_chosen(self, chosen: Mapping[str, Any]) -> "OnnxFacts":
        """The same with what a person chose said of the preprocessing; who chose all of it left nothing to guess."""
        if not chosen:
            return self
        if not chosen.keys() >= _COLOURS:
            return replace(self, why=f"{self.why}; what was chosen counts more")
        title = _title_of(preprocessing_from({**vars(self.preprocessing), **chosen}))
        notices = tuple(notice for notice in self.notices if notice != GUESS_NOTICE)
        return replace(self, why=f"{title}, as chosen", is_declared=True, notices=notices)


def _title_of(used: Preprocessing) -> str:
    """What is usual to call such preprocessing, or its numbers."""
    name = preset_name(used)
    numbers = f"mean {numbers_text(used.mean)} and std {numbers_text(used.std)} of {used.value_scale:g}"
    return PRESETS[name].title if name else numbers


@dataclass(frozen=True)
class Trial:
    """How a backbone did on real images."""

    images: int  # how many it was tried on
    width: int  # of the embeddings
    images_per_s: float  # on this computer's CPU, one core; without reading files
    memory_bytes: int  # memory that the process took at most, all in all
    mean_length: float  # mean length of the embeddings
    spread: float  # median distance of two images' embeddings, relative to that length
    batch_difference: float  # largest relative difference between an image alone and among others
