"""An ONNX file of unknown origin, checked and opened; only called in a process held to limits."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from engine.backbones.onnx_structure import OnnxStructure, check_external, read_structure
from engine.errors import ModelError
from engine.runtime.sessions import open_session
from engine.texts import Message, enumerated, marked

SUPPORTED_DOMAINS = frozenset({"ai.onnx.ml", "com.microsoft"})
"""Operators beyond the standard that ONNX Runtime brings along."""
SAFE_OPSET = 21
_NO_OPERATOR = marked("the model uses operators that ONNX Runtime does not have")
_NAMES_SHOWN = 5
_NAME_SHOWN = 60  # letters of a name
_TOO_NEW = ("official support", "under development", "unsupported model ir version")
_UNKNOWN_OPERATOR = (
    "not a registered function/op",
    "no op registered",
    "could not find an implementation",
)
"""Signs of both in the words of ONNX Runtime."""


class ForeignNetwork(NamedTuple):
    """A file that ONNX Runtime opens."""

    session: Any  # an `onnxruntime.InferenceSession` on the CPU
    structure: OnnxStructure
    size_bytes: int  # with its external data


def open_foreign(path: Path, *, most_bytes: int) -> ForeignNetwork:
    """Check and open a file of at most so many bytes, external data included.

    Raises:
        ModelError: it is not a valid ONNX file, is too large, or needs operators that ONNX Runtime
            does not have.
    """
    _check_size(path, 0, most_bytes)
    structure = read_structure(path)
    size_bytes = _check_size(path, check_external(path, structure), most_bytes)
    _check_operators(structure)
    return ForeignNetwork(_opened(path, structure), structure, size_bytes)


def _check_size(path: Path, external_bytes: int, most_bytes: int) -> int:
    size = external_bytes + (path.stat().st_size if path.is_file() else 0)
    if size > most_bytes:
        raise ModelError(
            "the model is too large",
            expected="at most {limit:,.0f} MB on this computer",
            found=f"{size / 2**20:,.0f} MB",
            limit=most_bytes / 2**20,
        )
    return size


def _check_operators(structure: OnnxStructure) -> None:
    if structure.is_empty:
        raise ModelError(
            "the model has no operators", expected="a network", found="no operator in it"
        )
    strange = {domain for domain, _ in structure.foreign} - SUPPORTED_DOMAINS
    if strange:
        operators = some_of({operator for _, operator in structure.foreign})
        raise ModelError(
            _NO_OPERATOR,
            found="{operators} of {strange}",
            remedy="export it with standard ONNX operators only",
            operators=operators,
            strange=some_of(strange),
        )


def some_of(names: Iterable[str]) -> str:
    """The first names of many, shortened, and how many there are more."""
    every = sorted(names)
    named, more = (
        enumerated(name[:_NAME_SHOWN] for name in every[:_NAMES_SHOWN]),
        len(every) - _NAMES_SHOWN,
    )
    return (
        Message("{names} and {count:,} more", {"names": named, "count": more})
        if more > 0
        else named
    )


def _opened(path: Path, structure: OnnxStructure) -> Any:
    try:
        return open_session(path)
    except ModelError as error:
        text = error.found.lower()
        if any(sign in text for sign in _TOO_NEW):
            raise ModelError(
                "the model is made for a newer ONNX Runtime",
                found="opset {opset}, format {format_version}",
                remedy="export it again with opset {safe_opset} or lower",
                opset=structure.opset,
                format_version=structure.format_version,
                safe_opset=SAFE_OPSET,
            ) from error
        if any(sign in text for sign in _UNKNOWN_OPERATOR):
            raise ModelError(_NO_OPERATOR, found=error.found) from error
        raise
