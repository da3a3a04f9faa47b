"""What stands in an ONNX file, read without running anything: opset, operators' domains, notes, external data."""

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any, Final

import onnx
from google.protobuf.message import DecodeError
from onnx.external_data_helper import load_external_data_for_model

from engine.errors import ModelError
from engine.regular_file import open_regular

MOST_BYTES: Final = 2**31 - 1
"""What a protocol buffer may hold."""
_STARTS: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"PK\x03\x04", "a zip archive, such as PyTorch's .pt files and Keras' are"),
    (b"\x80\x02", "a Python pickle, such as old PyTorch files are"),
    (b"\x89HDF", "an HDF5 file, such as Keras' .h5 are"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"version https://git-lfs", "a pointer of Git LFS: the file itself was not fetched"),
    (b"<", "a web page or XML file"),
    (b"{", "a JSON file"),
)
STANDARD_DOMAINS: Final = frozenset({"", "ai.onnx"})


@dataclass(frozen=True)
class ExternalTensor:
    """Weights that lie in another file: its name relative to the ONNX file, and which bytes of it."""

    location: str
    offset: int
    length: int


@dataclass(frozen=True)
class OnnxStructure:
    """What stands in an ONNX file."""

    producer: str  # the program that wrote it
    format_version: int  # of the file
    opset: int  # version of the standard operators, 0 where the file names none
    # Domain and name of each operator that is neither standard nor defined in the file
    foreign: frozenset[tuple[str, str]]
    notes: dict[str, str]  # key and value pairs; the last of a key counts
    external: tuple[ExternalTensor, ...]  # tensors that lie in other files
    is_empty: bool  # whether it has no operator at all


def read_structure(path: Path) -> OnnxStructure:
    """Read what stands in an ONNX file.

    Raises:
        ModelError: the file is missing, empty, cut short, or no ONNX file.
        MemoryError: there is not enough to parse it.
    """
    return _structure_of(path, _load_without_weights(path))


def _load_without_weights(path: Path) -> Any:
    """Parse an ONNX file to an `onnx.ModelProto`; what lies beside it is not read."""
    try:
        if path.is_dir():
            raise ModelError("this is a folder", expected="an ONNX file", found=str(path))
        with open_regular(path) as file:
            head = file.read(64)
            if not head:
                raise ModelError("the model file is empty", found=str(path))
            _refuse_other_kinds(path, head)
            model = onnx.ModelProto()
            # Mapped and not read: its weights are in memory once, not twice.
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content, memoryview(content) as view:
                model.ParseFromString(view)
    except FileNotFoundError as error:
        raise ModelError("the model file is not there", expected=str(path)) from error
    except OSError as error:
        raise ModelError("the model file cannot be read", found=f"{path}: {error.strerror}") from error
    except DecodeError as error:
        if "alloc failed" in str(error):
            raise MemoryError from error
        raise _damaged(path, str(error).rpartition(": ")[2].lower()) from error
    if not model.HasField("graph"):
        raise _damaged(path, "it holds no graph")
    return model


def _structure_of(path: Path, model: Any) -> OnnxStructure:
    try:
        parts = list(_parts(model))
        used = {(_text(part.domain), _text(part.op_type)) for part in parts if isinstance(part, onnx.NodeProto)}
        own = {(function.domain, function.name) for function in model.functions}
        opsets = [opset.version for opset in model.opset_import if opset.domain in STANDARD_DOMAINS]
        return OnnxStructure(
            producer=_text(model.producer_name),
            format_version=model.ir_version,
            opset=opsets[-1] if opsets else 0,
            foreign=frozenset(each for each in used - own if each[0] not in STANDARD_DOMAINS),
            notes={_text(note.key): _text(note.value) for note in model.metadata_props},
            external=tuple(_external_tensors(parts)),
            is_empty=not used,
        )
    except UnicodeError as error:
        raise _damaged(path, "a name is no text") from error
    except ValueError as error:
        raise _damaged(path, "its external data has no place") from error


def _text(value: str | bytes) -> str:
    """Text of a file; where it is none, the library hands out its bytes."""
    return value if isinstance(value, str) else value.decode("utf-8")


def _parts(message: Any) -> Iterator[Any]:
    """A message and all that lie in it; tensors are not looked into."""
    yield message
    if isinstance(message, onnx.TensorProto):
        return
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if field.is_repeated else (value,):
                yield from _parts(part)


def _external_tensors(parts: list[Any]) -> Iterator[ExternalTensor]:
    for part in parts:
        if isinstance(part, onnx.TensorProto) and part.data_location == onnx.TensorProto.EXTERNAL:
            place = {entry.key: entry.value for entry in part.external_data}
            offset, length = (int(place.get(key) or 0) for key in ("offset", "length"))
            yield ExternalTensor(_text(place.get("location", "")), offset, length)


def write_inlined(path: Path, target: IO[bytes]) -> None:
    """Write a model into an open file, with the weights that lie beside it.

    Raises:
        ModelError: the file is no sound ONNX file, its external data cannot be used, or it is too large for one file.
        OSError: a file cannot be written.
    """
    model = _load_without_weights(path)
    size = path.stat().st_size + check_external(path, _structure_of(path, model))
    if size > MOST_BYTES:
        raise ModelError("the model is too large", expected="at most 2 GB", found="{size:,} bytes", size=size)
    try:
        load_external_data_for_model(model, str(path.absolute().parent))
    except (onnx.checker.ValidationError, ValueError) as error:
        raise ModelError("the model's external data cannot be read", found=str(error)) from error
    if _structure_of(path, model).external:
        raise ModelError(
            "the model's external data belongs to a part where it cannot be put in",
            remedy="save the model as one file and add that",
        )
    target.write(model.SerializeToString())


def check_external(path: Path, structure: OnnxStructure) -> int:
    """Refuse external data that is missing, cut short, or outside the folder of the file; returns its size in bytes.

    Raises:
        ModelError: with the name of the file.
    """
    sizes: dict[str, int] = {}
    folder = path.absolute().parent.resolve()
    for tensor in structure.external:
        name = tensor.location
        if name not in sizes:
            sizes[name] = _external_size(folder, name)
        if tensor.offset < 0 or tensor.length < 0 or tensor.offset + tensor.length > sizes[name]:
            raise ModelError(
                "the model's external data is cut short",
                expected="at least {end} bytes in {name}",
                found=f"{sizes[name]}",
                remedy="copy the file again",
                end=tensor.offset + tensor.length,
                name=name,
            )
    return sum(sizes.values())


def _external_size(folder: Path, name: str) -> int:
    try:
        is_name = name and not Path(name).is_absolute() and not set(name) & set("\0\\:")
        target = (folder / name).resolve() if is_name else Path()
        if not is_name or not target.is_relative_to(folder):
            raise ModelError("the model's external data lies outside its folder", found=f"“{name}”")
        found = target.stat()
    except FileNotFoundError as error:
        raise ModelError(
            "the model's external data is missing", expected=str(folder / name), remedy="copy it beside the ONNX file"
        ) from error
    except (OSError, RuntimeError) as error:  # a name beyond the system's length, or links in a circle
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError("the model's external data cannot be read", found=reason) from error
    if not S_ISREG(found.st_mode):
        raise ModelError("the model's external data is no file", found=str(folder / name))
    return found.st_size


def _refuse_other_kinds(path: Path, head: bytes) -> None:
    weights = "weights as safetensors" if head[8:10] == b'{"' else ""
    kind = next((kind for start, kind in _STARTS if head.startswith(start)), weights)
    if kind:
        remedy = "export the network to ONNX first"
        raise ModelError("this is not an ONNX file", found=f"{path.name}: {kind}", remedy=remedy)


def _damaged(path: Path, reason: str) -> ModelError:
    return ModelError("this is not an ONNX file, or it is damaged", found=f"{path.name}: {reason}")
