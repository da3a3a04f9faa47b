"""Weight files read as plain numbers: torch's pickles and safetensors. No code in them is run."""

import pickle
import struct
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from engine.errors import ModelError

_DAMAGE = (
    pickle.UnpicklingError,
    SafetensorError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    LookupError,
    TypeError,
)
"""Exceptions of torch and safetensors for damaged files, other files, or weights with code."""
_HEADER = struct.Struct("<Q")
_WRAPPINGS = ("state_dict", "model")
"""Keys of weights in torch files that contain more of a training."""


def read_numbers(path: Path) -> Mapping[str, Tensor]:
    """Read a file of weights, whatever its suffix, without running code in it.

    Raises:
        ModelError: the file is damaged, or holds anything but tensors by name.
    """
    try:
        state = load_file(path) if _is_safetensors(path) else _unpickled(path)
    except _DAMAGE as error:
        raise ModelError(
            "the weights cannot be read as plain numbers",
            expected="named tensors without code",
            found=_first_line(error),
            remedy="no code of the file was run; do not use it",
        ) from error
    if not isinstance(state, Mapping) or not all(
        isinstance(value, Tensor) for value in state.values()
    ):
        raise ModelError(
            "the file contains no weights", expected="tensors by name", found=type(state).__name__
        )
    return state


def do_not_fit(network: str, error: Exception) -> ModelError:
    """The error for weights of another network."""
    return ModelError(
        "the weights do not fit the network",
        expected="weights of {network}",
        found=_first_line(error),
        network=network,
    )


def _is_safetensors(path: Path) -> bool:
    """By its first bytes: header length and JSON. torch's files begin with PK or 0x80."""
    with path.open("rb") as file:
        start = file.read(_HEADER.size + 1)
    return (
        len(start) > _HEADER.size
        and start.endswith(b"{")
        and _HEADER.unpack_from(start)[0] <= path.stat().st_size
    )


def _unpickled(path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about how old files keep their numbers
        state = torch.load(path, map_location="cpu", weights_only=True)
    for name in _WRAPPINGS:
        if isinstance(state, Mapping) and isinstance(state.get(name), Mapping):
            return state[name]
    return state


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
