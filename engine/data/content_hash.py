"""Identity of a file's content: the same bytes are embedded once, wherever they lie."""

import hashlib
from typing import Final

HASH_BYTES: Final = 16


def content_hash(data: bytes) -> bytes:
    """BLAKE2b of the bytes, 16 bytes long: short to store, and no two photos will ever meet by chance."""
    return hashlib.blake2b(data, digest_size=HASH_BYTES).digest()
