"""Embeddings of a large collection in one mapped file, row by row as an open project has them.

Looking 2.5 million embeddings up by content takes half a minute and as much memory as they are large; mapping them
takes neither. May be deleted at any time.
"""

import json
import logging
import mmap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Final, final

import numpy as np
from blake3 import blake3
from numpy.typing import NDArray

from engine.images.read_file import content_hash
from engine.kept_files import ChangedMeanwhileError, KeptFiles

FEWEST_KEPT: Final = 20_000  # images; fewer are looked up in a second
MOST_BYTES: Final = 12 << 30  # of the files of all collections together
SPARE: Final = 1.25  # room for so many times the images, that more can come without a copy; no disk is taken by it
SUFFIX: Final = ".rows"
_MAGIC: Final = b"protoleaf rows 2"
_PAGE: Final = mmap.ALLOCATIONGRANULARITY
_BLOCK: Final = 1 << 16  # rows that are written at a time
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EmbeddingRows:
    """Embeddings of n images.

    Attributes:
        image_ids: (n,) int64, ascending.
        contents: (n,) uint64, beginnings of content hashes; 0 for images that were not read.
        is_filled: (n,) bool, which have an embedding.
        embeddings: (n or more, d) int16 in fixed point. Those of a file may be written to: the file does not change.
    """

    image_ids: NDArray[np.int64]
    contents: NDArray[np.uint64]
    is_filled: NDArray[np.bool_]
    embeddings: NDArray[np.int16]


@final
class KeptEmbeddings:
    """Those of one project and backbone."""

    def __init__(self, folder: Path, name: str, width: int) -> None:
        self._files, self._width = KeptFiles(folder, name, SUFFIX, MOST_BYTES), width

    def read(self) -> EmbeddingRows | None:
        """Map the rows; None where there is no file, or a damaged one."""
        path = self._files.newest()
        if path is None:
            return None
        try:
            return _mapped(path, self._width)
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.info("kept embeddings cannot be used and are looked up anew: %s", error)
            return None

    def write(self, rows: EmbeddingRows, is_current: Callable[[], bool] = lambda: True) -> None:
        """Write the rows, whole or not at all; an error of the disk is only logged.

        Args:
            rows: may change while they are written.
            is_current: whether they did not; what was written is dropped otherwise.
        """

        def write(file: BinaryIO) -> None:
            _write(file, rows, self._width)
            if not is_current():
                raise ChangedMeanwhileError

        self._files.write(len(rows.image_ids) * (17 + 2 * self._width), write)


def codes_of(hashes: NDArray[np.bytes_] | Sequence[bytes]) -> NDArray[np.uint64]:
    """The first eight bytes (n,) of content hashes; 0 for an empty one."""
    return np.array(hashes, dtype="S8").view(np.uint64)


def _write(file: BinaryIO, rows: EmbeddingRows, width: int) -> None:
    count = len(rows.image_ids)
    parts = [
        np.ascontiguousarray(each).view(np.uint8).tobytes()
        for each in (rows.image_ids, rows.contents, rows.is_filled)
    ]
    hasher = blake3(max_threads=blake3.AUTO)
    facts = {
        "width": width,
        "count": count,
        "capacity": int(count * SPARE),
        "checksum": _checksum(parts),
    }
    head_bytes = len(_head(facts, hasher))
    start_of_rows = _start_of_rows(head_bytes, count)
    file.seek(start_of_rows)
    for start in range(0, count, _BLOCK):
        block = (
            np.ascontiguousarray(rows.embeddings[start : min(start + _BLOCK, count)])
            .reshape(-1)
            .view(np.uint8)
            .data
        )
        hasher.update(block)
        file.write(block)
    file.truncate(start_of_rows + int(count * SPARE) * width * 2)
    file.seek(0)
    file.write(_MAGIC + head_bytes.to_bytes(8, "little") + _head(facts, hasher))
    file.writelines(parts)


def _head(facts: Mapping[str, object], hasher: blake3) -> bytes:
    """As long whatever was hashed; numbers that are read in place after it begin at multiples of their size."""
    head = json.dumps({**facts, "rows": hasher.hexdigest()}).encode()
    return head + b" " * (-len(head) % 8)


def _mapped(path: Path, width: int) -> EmbeddingRows:
    with path.open("rb") as file:
        opening = file.read(len(_MAGIC) + 8)
        if opening[: len(_MAGIC)] != _MAGIC:
            raise ValueError("it has another beginning")
        head_bytes = int.from_bytes(opening[len(_MAGIC) :], "little")
        head = json.loads(file.read(min(head_bytes, 4096)))
        count, capacity = int(head["count"]), int(head["capacity"])
        start = _start_of_rows(head_bytes, count)
        if (
            head["width"] != width
            or path.stat().st_size != start + capacity * width * 2
            or capacity < count
        ):
            raise ValueError("it is of another size")
        # What is written to such a map stays in this process: neither a full disk nor a deleted file can end it.
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    begins = len(_MAGIC) + 8 + head_bytes + count * np.array([0, 8, 16, 17])
    parts = [memoryview(whole)[begin:end] for begin, end in pairwise(begins.tolist())]
    if _checksum(parts) != head["checksum"]:
        raise ValueError("it is not whole")
    rows = memoryview(whole)[start : start + count * width * 2]
    if blake3(rows, max_threads=blake3.AUTO).hexdigest() != head["rows"]:
        raise ValueError("its embeddings are not whole")
    embeddings = np.frombuffer(whole, dtype=np.int16, offset=start).reshape(capacity, width)
    return EmbeddingRows(
        np.frombuffer(parts[0], dtype=np.int64),
        np.frombuffer(parts[1], dtype=np.uint64),
        np.frombuffer(parts[2], dtype=np.bool_),
        embeddings,
    )


def _checksum(parts: Sequence[bytes | memoryview]) -> str:
    return content_hash(b"".join(content_hash(part) for part in parts)).hex()


def _start_of_rows(head_bytes: int, count: int) -> int:
    before = len(_MAGIC) + 8 + head_bytes + 17 * count
    return -(-before // _PAGE) * _PAGE
