"""The contents of an ONNX file and of the files next to it, read without running anything."""

import json
import math
import mmap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any

import onnx
from google.protobuf.message import DecodeError
from onnx.external_data_helper import load_external_data_for_model

from engine.backbones.preprocessing import (
    PREPROCESSING_KEY,
    PRESETS,
    USUAL_PRESET,
    preprocessing_from,
    preprocessing_of,
    preset,
)
from engine.errors import InputError, ModelError, found_at
from engine.files import open_regular
from engine.model_card import card_path, read_card
from engine.texts import Message, marked

PREPROCESSOR_FILE = "preprocessor_config.json"
FULL = 255.0
_REMEDY = "correct or remove it"
_LARGEST_FILE = 1 << 20
MOST_BYTES = 2**31 - 1  # limit of a protocol buffer
STANDARD_DOMAINS = frozenset({"", "ai.onnx"})
_NOT_SETTINGS = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OverflowError,
    RecursionError,
    InputError,
)
"""Raised where a file contains something other than settings."""
_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", marked("a PNG picture")),
    (b"\xff\xd8\xff", marked("a JPEG picture")),
    (b"GIF8", marked("a GIF picture")),
    (b"PK\x03\x04", marked("a zip archive, such as PyTorch's .pt files and Keras' are")),
    (b"\x80\x02", marked("a Python pickle, such as old PyTorch files are")),
    (b"\x89HDF", marked("an HDF5 file, such as Keras' .h5 are")),
    (b"\x1f\x8b", marked("a gzip archive")),
    (b"version https://git-lfs", marked("a Git LFS pointer: the file itself was not fetched")),
    (b"<", marked("a web page or XML file")),
    (b"{", marked("a JSON file")),
)


@dataclass(frozen=True)
class Hint:
    """Preprocessing as declared or guessed."""

    values: Mapping[str, Any]  # fields of `Preprocessing` by name; unknown ones are missing
    why: str  # where they come from, in words for a person
    is_declared: bool  # False for a guess
    # name, description, licence: of the backbone, from its card
    name: str = ""
    description: str = ""
    licence: str = ""


def hint_for(path: Path, notes: Mapping[str, str], producer: str) -> Hint:
    """Find a file's preprocessing: its card, its metadata, a settings file, else by its producer.

    Raises:
        ModelError: a card or settings file next to it cannot be used.
    """
    return (
        _from_card(path) or _from_notes(notes) or _from_preprocessor(path) or _usual(path, producer)
    )


def _from_card(path: Path) -> Hint | None:
    file = card_path(path)
    if not file.is_file():
        return None
    card = read_card(path)
    try:
        values = vars(preprocessing_of(card))
    except InputError as error:
        raise ModelError(
            "the card next to the model cannot be used",
            found=found_at(file.name, error),
            remedy=_REMEDY,
        ) from error
    return Hint(
        values,
        Message("from its card {name}", {"name": file.name}),
        True,
        card.name,
        card.description,
        card.licence,
    )


def _from_notes(notes: Mapping[str, str]) -> Hint | None:
    try:
        values = vars(preprocessing_from(json.loads(notes[PREPROCESSING_KEY])))
    except _NOT_SETTINGS:  # a guess for want of better; the file itself may be sound
        return None
    return Hint(values, Message("from the file itself, which this program wrote"), True)


def _from_preprocessor(path: Path) -> Hint | None:
    """The settings file of networks on model hubs, next to the network or one folder above."""
    for folder in path.absolute().parents[:2]:
        file = folder / PREPROCESSOR_FILE
        if file.is_file():
            return Hint(
                _preprocessor_values(file),
                Message("from {name} next to it", {"name": PREPROCESSOR_FILE}),
                True,
            )
    return None


def _preprocessor_values(file: Path) -> Mapping[str, Any]:
    try:
        with open_regular(file) as opened:
            values = _preprocessor_fields(json.loads(opened.read(_LARGEST_FILE)))
        preprocessing_from(values)
    except (OSError, *_NOT_SETTINGS) as error:
        raise ModelError(
            "{file} next to the model cannot be used",
            found=f"{type(error).__name__}: {error}",
            remedy=_REMEDY,
            file=file.name,
        ) from error
    return values


def _preprocessor_fields(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Translate a `preprocessor_config.json` into fields of `Preprocessing`, or raise."""
    values: dict[str, Any] = {}
    resized = _side(settings.get("size"))
    cropped = _side(settings.get("crop_size")) if settings.get("do_center_crop") else None
    if (side := cropped or resized) is not None:
        values["input_side"] = side
    if cropped is not None and resized is not None and resized > cropped:
        values["resize_share"] = cropped / resized
    elif isinstance(settings.get("crop_pct"), int | float):
        values["resize_share"] = float(settings["crop_pct"])
    scale = FULL * (
        float(settings.get("rescale_factor", 1 / FULL)) if settings.get("do_rescale", True) else 1.0
    )
    values["value_scale"] = (
        float(round(scale)) if math.isclose(scale, round(scale), rel_tol=1e-6) else scale
    )
    is_normalised = settings.get("do_normalize", "image_mean" in settings)
    for name, usual in (("mean", 0.0), ("std", 1.0)):
        values[name] = tuple(
            map(float, settings[f"image_{name}"] if is_normalised else (usual,) * 3)
        )
    return values


def _side(size: Any) -> int | None:
    if size is None or isinstance(size, int):
        return size
    if "shortest_edge" in size:
        return int(size["shortest_edge"])
    if size["height"] != size["width"]:
        raise ValueError(f"pictures of {size['height']} x {size['width']} are not square")
    return int(size["height"])


def _usual(path: Path, producer: str) -> Hint:
    name = path.stem.lower()
    if "clip" in name:
        chosen, reason = "clip", marked("the file's name says CLIP")
    elif producer.startswith("tf2onnx") or "keras" in producer.lower():
        chosen, reason = "minus-one-to-one", marked("it comes from TensorFlow, where this is usual")
    elif "caffe" in producer.lower():
        chosen, reason = "caffe", marked("it comes from Caffe")
    else:
        chosen, reason = USUAL_PRESET, marked("most published networks use it")
    facts = {"preset": Message(PRESETS[chosen].title), "reason": Message(reason)}
    return Hint(preset(chosen), Message("{preset} is a guess: {reason}", facts), False)


@dataclass(frozen=True)
class ExternalTensor:
    """Weights in another file: its name relative to the ONNX file, and the range of bytes."""

    location: str
    offset: int
    length: int


@dataclass(frozen=True)
class OnnxStructure:
    """The contents of an ONNX file without its weights."""

    producer: str  # the program that wrote it
    format_version: int  # of the file
    opset: int  # version of the standard operators, 0 where the file names none
    # Domain and name of each operator that is neither standard nor defined in the file
    foreign: frozenset[tuple[str, str]]
    notes: dict[str, str]  # key and value pairs; the last of a key counts
    external: tuple[ExternalTensor, ...]  # tensors in other files
    is_empty: bool  # whether it has no operator at all


def read_structure(path: Path) -> OnnxStructure:
    """Read an ONNX file's structure.

    Raises:
        ModelError: the file is missing, empty, cut short, or no ONNX file.
        MemoryError: there is not enough to parse it.
    """
    return _structure_of(path, _load_without_weights(path))


def _load_without_weights(path: Path) -> Any:
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
            with (
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
                memoryview(content) as view,
            ):
                model.ParseFromString(view)
    except FileNotFoundError as error:
        raise ModelError("the model file is not there", expected=str(path)) from error
    except OSError as error:
        raise ModelError("the model file cannot be read", found=found_at(path, error)) from error
    except DecodeError as error:
        if "alloc failed" in str(error):
            raise MemoryError from error
        raise _damaged(path, str(error).rpartition(": ")[2].lower()) from error
    if not model.HasField("graph"):
        raise _damaged(path, marked("it contains no graph"))
    return model


def _structure_of(path: Path, model: Any) -> OnnxStructure:
    try:
        parts = list(_parts(model))
        used = {
            (_text(part.domain), _text(part.op_type))
            for part in parts
            if isinstance(part, onnx.NodeProto)
        }
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
        raise _damaged(path, marked("a name is not text")) from error
    except ValueError as error:
        raise _damaged(path, marked("its external data has no location")) from error


def _text(value: str | bytes) -> str:
    """Text of a file; the library returns bytes where it is not valid UTF-8."""
    return value if isinstance(value, str) else value.decode("utf-8")


def _parts(message: Any) -> Iterator[Any]:
    """A message and all nested ones; tensors are not searched."""
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
    """Write a model, with its external data inlined, into an open file.

    Raises:
        ModelError: it is not a valid ONNX file, has unusable external data, or is too large for one
            file.
        OSError: a file cannot be written.
    """
    model = _load_without_weights(path)
    size = path.stat().st_size + check_external(path, _structure_of(path, model))
    if size > MOST_BYTES:
        raise ModelError(
            "the model is too large", expected="at most 2 GB", found="{size:,} bytes", size=size
        )
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
    """Refuse external data that is missing, truncated, or outside of the folder; return its size.

    Raises:
        ModelError: with the name of the file.
    """
    sizes: dict[str, int] = {}
    folder = path.absolute().parent.resolve()
    for tensor in structure.external:
        name, end = tensor.location, tensor.offset + tensor.length
        if name not in sizes:
            sizes[name] = _external_size(folder, name)
        if tensor.offset < 0 or tensor.length < 0 or end > sizes[name]:
            raise ModelError(
                "the model's external data is truncated",
                expected="at least {end} bytes in {name}",
                found=str(sizes[name]),
                remedy="copy the file again",
                end=end,
                name=name,
            )
    return sum(sizes.values())


def _external_size(folder: Path, name: str) -> int:
    try:
        is_name = name and not Path(name).is_absolute() and not set(name) & set("\0\\:")
        target = (folder / name).resolve() if is_name else Path()
        if not is_name or not target.is_relative_to(folder):
            raise ModelError("the model's external data is outside its folder", found=f"“{name}”")
        found = target.stat()
    except FileNotFoundError as error:
        raise ModelError(
            "the model's external data is missing",
            expected=str(folder / name),
            remedy="copy it next to the ONNX file",
        ) from error
    except (
        OSError,
        RuntimeError,
    ) as error:  # a name beyond the system's length, or links in a circle
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError("the model's external data cannot be read", found=reason) from error
    if not S_ISREG(found.st_mode):
        raise ModelError("the model's external data is not a file", found=str(folder / name))
    return found.st_size


def _refuse_other_kinds(path: Path, head: bytes) -> None:
    weights = marked("weights as safetensors") if head[8:10] == b'{"' else ""
    kind = next((kind for start, kind in _STARTS if head.startswith(start)), weights)
    if kind:
        raise ModelError(
            "this is not an ONNX file",
            found="{file}: {kind}",
            file=path.name,
            kind=Message(kind),
            remedy="export the network to ONNX first",
        )


def _damaged(path: Path, reason: str) -> ModelError:
    return ModelError(
        "this is not an ONNX file, or it is damaged",
        found="{file}: {reason}",
        file=path.name,
        reason=Message(reason),
    )
