"""External data put back into the ONNX file: a backbone in the library is one file with one hash."""

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from engine.backbones.onnx_files import fields as of
from engine.backbones.onnx_files.protocol_buffer import Field, encoded_head, fields, inside
from engine.backbones.onnx_files.structure import ExternalTensor, external_tensor
from engine.errors import ModelError

MOST_BYTES: Final = 2**31 - 1
"""What a protocol buffer may hold."""
_BLOCK: Final = 1 << 20


@dataclass(frozen=True)
class _Piece:
    """Bytes of the new file: some that are made, then some of the old file or of one beside it."""

    made: bytes
    source: Path | None
    offset: int
    length: int

    @property
    def size(self) -> int:
        return len(self.made) + self.length


def write_inlined(model: Path, target: IO[bytes], *, tensors: int) -> None:
    """Write a model with the weights that lie beside it.

    Args:
        model: ONNX file whose external data was checked.
        target: open for writing.
        tensors: how many tensors of the model lie beside it.

    Raises:
        ModelError: the model would be too large for one file, or its data belongs to a part where it cannot be put.
        OSError: a file cannot be read or written.
        MalformedError: the file is damaged.
    """
    with model.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        put_in = 0
        for part in fields(content, 0, len(content)):
            if part.number != of.MODEL_GRAPH:
                target.write(content[part.begin : part.end])
                continue
            pieces = list(_graph_pieces(model, content, part))
            put_in += sum(1 for piece in pieces if piece.source != model)
            size = sum(piece.size for piece in pieces)
            if size > MOST_BYTES:
                raise ModelError("the model is too large", expected="at most 2 GB", found=f"{size:,} bytes")
            target.write(encoded_head(of.MODEL_GRAPH, size))
            _write(pieces, target)
    if put_in != tensors:
        raise ModelError(
            "the model's external data belongs to a part where it cannot be put in",
            remedy="save the model as one file and add that",
        )


def _graph_pieces(model: Path, content: mmap.mmap, graph: Field) -> Iterator[_Piece]:
    for part in inside(content, graph):
        external = external_tensor(content, part) if part.number == of.GRAPH_INITIALIZER else None
        if external is None:
            yield _Piece(b"", model, part.begin, part.end - part.begin)
        else:
            yield _tensor_piece(model, content, part, external)


def _tensor_piece(model: Path, content: mmap.mmap, tensor: Field, external: ExternalTensor) -> _Piece:
    """The tensor as it was, without its place, with its weights as raw data at the end."""
    left_out = {of.TENSOR_EXTERNAL_DATA, of.TENSOR_LOCATION}
    kept = b"".join(content[part.begin : part.end] for part in inside(content, tensor) if part.number not in left_out)
    source = model.parent / external.location
    length = external.length or source.stat().st_size - external.offset
    head = encoded_head(of.TENSOR_RAW_DATA, length)
    made = encoded_head(of.GRAPH_INITIALIZER, len(kept) + len(head) + length) + kept + head
    return _Piece(made, source, external.offset, length)


def _write(pieces: list[_Piece], target: IO[bytes]) -> None:
    for piece in pieces:
        target.write(piece.made)
        if piece.source is None:
            continue
        with piece.source.open("rb") as source:
            source.seek(piece.offset)
            left = piece.length
            while left:
                block = source.read(min(left, _BLOCK))
                if not block:
                    raise ModelError("the model's external data is cut short", found=piece.source.name)
                target.write(block)
                left -= len(block)
