"""Reduced photos: small JPEGs in the place of photos, for a copy of a project that is easily sent.

A reduced photo carries the content hash of its photo and counts as that photo, so that labels match
when the copy is merged. Metadata of the photo (time, camera, place) is not
read from it.
"""

from pathlib import Path

from engine.files import open_regular
from engine.images.read_file import HASH_BYTES, content_hash, file_hashes

REDUCED_SIDE = 1024
"""Pixels of the longer side. Chosen: shows most classes, in a twentieth of a photo's bytes."""
_BEGINNING = b"\xff\xd8"  # of every JPEG
_COMMENT = b"\xff\xfe"  # the segment that a JPEG has for comments
_NAME = b"Protoleaf reduced photo of "
# of the segment, as JPEG has it
_LENGTH = (2 + len(_NAME) + 2 * HASH_BYTES).to_bytes(2, "big")
_MARK = _BEGINNING + _COMMENT + _LENGTH + _NAME
_HEAD_BYTES = len(_MARK) + 2 * HASH_BYTES  # up to the end of the hash


def marked_as_reduced(jpeg: bytes, photo_hash: bytes) -> bytes:
    """A small JPEG in place of a photo.

    Args:
        photo_hash: content hash of the photo.
    """
    return _MARK + photo_hash.hex().encode() + jpeg.removeprefix(_BEGINNING)


def reduced_from(data: bytes) -> bytes | None:
    """The content hash of the photo of a reduced photo; None for all other files.

    Args:
        data: the file's bytes, or the first of them.
    """
    if not data.startswith(_MARK):
        return None
    try:
        found = bytes.fromhex(data[len(_MARK) : _HEAD_BYTES].decode("ascii"))
    except ValueError:
        return None
    return found if len(found) == HASH_BYTES else None


def is_reduced(path: Path) -> bool:
    """Whether a file is a reduced photo; False for one that cannot be read."""
    return _stands_for(path) is not None


def photo_hash(data: bytes) -> bytes:
    """The content hash of a photo's file: its own, or that of the photo it was reduced from."""
    return reduced_from(data) or content_hash(data)


def photo_hashes(path: Path) -> frozenset[bytes]:
    """The content hashes that a photo's file counts by, as `file_hashes`; raises `OSError`."""
    found = _stands_for(path)
    return file_hashes(path) if found is None else frozenset((found,))


def _stands_for(path: Path) -> bytes | None:
    try:
        with open_regular(path) as file:
            return reduced_from(file.read(_HEAD_BYTES))
    except (OSError, ValueError):
        return None
