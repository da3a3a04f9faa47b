"""Weights back out of exported files, so that training can go on from a model that only exists as ONNX."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np
import torch
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.model.attention import Attention, Normalisation
from engine.model.propagation_network import PropagationNetwork

_G: Final = "attention.g.weight"
_H: Final = "attention.h.weight"
_HALF: Final = ".half"
_NOTE: Final = "normalisation"
_NORMALISATIONS: Final[tuple[Normalisation, ...]] = get_args(Normalisation)


def read_propagation(path: Path) -> PropagationNetwork[Attention]:
    """Make the torch module of a propagation file that `export_propagation` wrote.

    Raises:
        ModelError: the file cannot be read or is none of ours.
    """
    model = read_model(path)
    notes = {entry.key: entry.value for entry in model.metadata_props}
    weights = weights_of(model)
    normalisation: Normalisation | None = next((each for each in _NORMALISATIONS if each == notes.get(_NOTE)), None)
    if _G not in weights or _H not in weights or normalisation is None:
        raise ModelError(
            "the propagation file holds no attention that training could continue from",
            found=str(path),
            remedy="train propagation from new weights",
        )
    hidden_width, embedding_width = weights[_G].shape
    attention = Attention(embedding_width, hidden_width, logit_scale=float(notes.get("logit_scale", "1")))
    with torch.no_grad():
        attention.g.weight.copy_(torch.from_numpy(weights[_G]))
        attention.h.weight.copy_(torch.from_numpy(weights[_H]))
    return PropagationNetwork(attention, steps=int(notes.get("steps", "1")), normalisation=normalisation)


def read_model(path: Path) -> Any:
    """Read a file as an `onnx.ModelProto`.

    Raises:
        ModelError: the file cannot be read.
    """
    import onnx

    try:
        return onnx.load(str(path))
    except (OSError, DecodeError) as error:
        raise ModelError("the model file cannot be read", found=f"{path}: {error}") from error


def weights_of(model: Any) -> Mapping[str, NDArray[np.float32]]:
    """All float tensors of an `onnx.ModelProto`, those stored as float16 under the name of the tensor they become."""
    from onnx import numpy_helper

    arrays = {tensor.name.removesuffix(_HALF): numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    return {name: array.astype(np.float32) for name, array in arrays.items() if array.dtype.kind == "f"}
