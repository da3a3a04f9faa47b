"""What stands in an ONNX file, read without running anything: opset, operators' domains, notes, external data.

Only what is asked for is looked into, so that gigabytes of weights are stepped over and never loaded.
"""

import mmap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from engine.backbones.onnx_files import fields as of
from engine.backbones.onnx_files.protocol_buffer import Field, MalformedError, fields, inside, text
from engine.errors import ModelError

_DEEPEST: Final = 32
"""Sub-graphs within sub-graphs: real files have two or three."""
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
_CONVERT: Final = "export the network to ONNX first"


@dataclass(frozen=True)
class ExternalTensor:
    """Weights that lie in another file: its name relative to the ONNX file, and which bytes of it."""

    location: str
    offset: int
    length: int


@dataclass
class OnnxStructure:
    """What stands in an ONNX file.

    Attributes:
        producer: the program that wrote it.
        format_version: of the file.
        opset: version of the standard operators, 0 where the file names none.
        domains: of operators that are not standard.
        operators: names of those operators.
        notes: key and value pairs; the last of a key counts.
        external: tensors that lie in other files.
        nodes: operators in all, those of sub-graphs included.
    """

    producer: str = ""
    format_version: int = 0
    opset: int = 0
    domains: set[str] = field(default_factory=set)
    operators: set[str] = field(default_factory=set)
    notes: dict[str, str] = field(default_factory=dict)
    external: list[ExternalTensor] = field(default_factory=list)
    nodes: int = 0


def read_structure(path: Path) -> OnnxStructure:
    """Read what stands in an ONNX file.

    Raises:
        ModelError: the file is missing, empty, cut short, or no ONNX file.
    """
    try:
        if path.is_dir():
            raise ModelError("this is a folder", expected="an ONNX file", found=str(path))
        with path.open("rb") as file:
            head = file.read(64)
            if not head:
                raise ModelError("the model file is empty", found=str(path))
            _refuse_other_kinds(path, head)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return _Reader(content).read()
    except FileNotFoundError as error:
        raise ModelError("the model file is not there", expected=str(path)) from error
    except OSError as error:
        raise ModelError("the model file cannot be read", found=f"{path}: {error.strerror}") from error
    except MalformedError as error:
        raise ModelError("this is no ONNX file, or it is damaged", found=f"{path.name}: {error}") from error


def check_external(path: Path, structure: OnnxStructure) -> int:
    """Refuse external data that is missing, cut short, or outside the folder of the file.

    Args:
        path: the ONNX file.
        structure: what stands in it.

    Returns:
        Size of the files of external data in bytes.

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
                expected=f"at least {tensor.offset + tensor.length} bytes in {name}",
                found=f"{sizes[name]}",
                remedy="copy the file again",
            )
    return sum(sizes.values())


def _external_size(folder: Path, name: str) -> int:
    if not name or "\0" in name or "\\" in name or Path(name).is_absolute() or ":" in name:
        raise ModelError("the model's external data lies outside its folder", found=f"“{name}”")
    try:
        target = (folder / name).resolve()
        if not target.is_relative_to(folder):
            raise ModelError("the model's external data lies outside its folder", found=f"“{name}”")
        if target.is_file():
            return target.stat().st_size
    except (OSError, RuntimeError) as error:  # a name beyond the system's length, or links in a circle
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError("the model's external data cannot be read", found=reason) from error
    raise ModelError(
        "the model's external data is missing", expected=str(folder / name), remedy="copy it beside the ONNX file"
    )


def _refuse_other_kinds(path: Path, head: bytes) -> None:
    for start, kind in _STARTS:
        if head.startswith(start):
            raise ModelError("this is no ONNX file", found=f"{path.name}: {kind}", remedy=_CONVERT)
    if head[8:10] == b'{"':
        raise ModelError("this is no ONNX file", found=f"{path.name}: weights as safetensors", remedy=_CONVERT)


def entry_of(content: mmap.mmap, part: Field) -> tuple[str, str]:
    """Key and value of a note, or of an entry about external data."""
    parts = (inner for inner in inside(content, part) if inner.number in {of.KEY, of.VALUE})
    found = {inner.number: text(content, inner) for inner in parts}
    return found.get(of.KEY, ""), found.get(of.VALUE, "")


def external_tensor(content: mmap.mmap, part: Field) -> ExternalTensor | None:
    """Where a tensor's weights lie when they are not in it.

    Raises:
        MalformedError: its place is none.
    """
    entries: dict[str, str] = {}
    is_external = False
    for inner in inside(content, part):
        if inner.number == of.TENSOR_EXTERNAL_DATA:
            key, value = entry_of(content, inner)
            entries[key] = value
        elif inner.number == of.TENSOR_LOCATION:
            is_external = inner.value & of.CHOICE_BITS == of.LOCATION_EXTERNAL
    if not is_external:
        return None
    try:
        return ExternalTensor(
            entries.get("location", ""), int(entries.get("offset") or 0), int(entries.get("length") or 0)
        )
    except ValueError as error:
        raise MalformedError("its external data has no place") from error


class _Reader:
    """Walks through one file.

    Args:
        content: the bytes of the file.
    """

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._found = OnnxStructure()
        self._own_functions: set[tuple[str, str]] = set()
        self._used: set[tuple[str, str]] = set()

    def read(self) -> OnnxStructure:
        """Read the model."""
        content, found = self._content, self._found
        has_graph = False
        for part in fields(content, 0, len(content)):
            if part.number == of.MODEL_PRODUCER:
                found.producer = text(content, part)
            elif part.number == of.MODEL_FORMAT:
                found.format_version = part.value
            elif part.number == of.MODEL_GRAPH:
                has_graph = True
                self._graph(part, 0)
            elif part.number == of.MODEL_OPSET:
                self._opset(part)
            elif part.number == of.MODEL_NOTE:
                key, found.notes[key] = entry_of(content, part)
            elif part.number == of.MODEL_FUNCTION:
                self._function(part)
        if not has_graph:
            raise MalformedError("it holds no graph")
        foreign = {used for used in self._used - self._own_functions if used[0] not in STANDARD_DOMAINS}
        found.domains = {domain for domain, _ in foreign}
        found.operators = {name for _, name in foreign}
        return found

    def _opset(self, part: Field) -> None:
        domain, version = "", 0
        for inner in inside(self._content, part):
            if inner.number == of.OPSET_DOMAIN:
                domain = text(self._content, inner)
            elif inner.number == of.OPSET_VERSION:
                version = inner.value
        if domain in STANDARD_DOMAINS:
            self._found.opset = version

    def _function(self, part: Field) -> None:
        name, domain = "", ""
        for inner in inside(self._content, part):
            if inner.number == of.FUNCTION_NAME:
                name = text(self._content, inner)
            elif inner.number == of.FUNCTION_DOMAIN:
                domain = text(self._content, inner)
            elif inner.number == of.FUNCTION_NODE:
                self._node(inner, 0)
        self._own_functions.add((domain, name))

    def _graph(self, part: Field, depth: int) -> None:
        if depth > _DEEPEST:
            raise MalformedError(f"graphs lie in graphs more than {_DEEPEST} deep")
        for inner in inside(self._content, part):
            if inner.number == of.GRAPH_NODE:
                self._node(inner, depth)
            elif inner.number == of.GRAPH_INITIALIZER:
                self._tensor(inner)
            elif inner.number == of.GRAPH_SPARSE_INITIALIZER:
                self._sparse(inner)

    def _node(self, part: Field, depth: int) -> None:
        operator, domain = "", ""
        self._found.nodes += 1
        for inner in inside(self._content, part):
            if inner.number == of.NODE_OPERATOR:
                operator = text(self._content, inner)
            elif inner.number == of.NODE_DOMAIN:
                domain = text(self._content, inner)
            elif inner.number == of.NODE_ATTRIBUTE:
                self._attribute(inner, depth)
        self._used.add((domain, operator))

    def _attribute(self, part: Field, depth: int) -> None:
        for inner in inside(self._content, part):
            if inner.number in of.ATTRIBUTE_TENSORS:
                self._tensor(inner)
            elif inner.number in of.ATTRIBUTE_GRAPHS:
                self._graph(inner, depth + 1)
            elif inner.number in of.ATTRIBUTE_SPARSE_TENSORS:
                self._sparse(inner)

    def _sparse(self, part: Field) -> None:
        for inner in inside(self._content, part):
            if inner.number in of.SPARSE_TENSORS:
                self._tensor(inner)

    def _tensor(self, part: Field) -> None:
        external = external_tensor(self._content, part)
        if external is not None:
            self._found.external.append(external)
