"""Identity of a file's content: the same bytes are embedded once, wherever they lie."""

from typing import Final

from blake3 import blake3

HASH_BYTES: Final = 16


def content_hash(data: bytes | memoryview) -> bytes:
    """BLAKE3 of the bytes, 16 bytes long: short to store, and no two photos will ever meet by chance.

    Hashes of earlier versions (BLAKE2b) stay valid in projects and caches: they go with the file's path, size and time.
    """
    return blake3(data).digest(length=HASH_BYTES)
