"""Identity of a file's content: the same bytes are embedded once, wherever they lie."""

import hashlib
from pathlib import Path
from typing import Final

from blake3 import blake3

from engine.files import open_regular

HASH_BYTES: Final = 16
"""128 bits: that two of a billion images agree by chance happens less than once in 10^20."""
_PART_BYTES: Final = 1024**2  # read at a time: a file is not held whole. Chosen.


def content_hash(data: bytes | memoryview) -> bytes:
    """BLAKE3 of the bytes, 16 bytes long: short to store, and no two photos will ever meet by chance.

    Hashes of earlier versions (BLAKE2b) stay valid in projects and caches: they go with the file's path, size and time.
    """
    return blake3(data).digest(length=HASH_BYTES)


def file_hash(path: Path) -> bytes:
    """The content hash of a file, read a part at a time.

    Raises:
        OSError: it cannot be read.
    """
    with open_regular(path) as file:
        hasher = blake3()
        while part := file.read(_PART_BYTES):
            hasher.update(part)
    return hasher.digest(length=HASH_BYTES)


def file_hashes(path: Path) -> frozenset[bytes]:
    """The content hashes of a file, today's and that of earlier versions, read a part at a time.

    Raises:
        OSError: it cannot be read.
    """
    today, earlier = blake3(), hashlib.blake2b(digest_size=HASH_BYTES)
    with open_regular(path) as file:
        while part := file.read(_PART_BYTES):
            today.update(part)
            earlier.update(part)
    return frozenset((today.digest(length=HASH_BYTES), earlier.digest()))
