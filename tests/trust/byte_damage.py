"""Damage of files by disks, transfers and sync programs: changed, missing and moved bytes."""

from collections.abc import Callable, Mapping
from random import Random

PAGE_BYTES = 4096
SECTOR_BYTES = 512
_HEADER_BYTES = 100

Damage = Callable[[bytearray, bytes, Random], bytes]
"""Takes the file, an earlier copy, and a random generator; returns the damaged file."""


def _flip_bits(content: bytearray, older: bytes, chance: Random) -> bytes:
    for _ in range(chance.choice((1, 1, 2, 8, 40))):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(content)


def _flip_letters(content: bytearray, older: bytes, chance: Random) -> bytes:
    """Change one letter or digit: text stays text."""
    places = [
        place for place in range(_HEADER_BYTES, len(content)) if chr(content[place]).isalnum()
    ]
    place = chance.choice(places)
    content[place] ^= 1
    return bytes(content)


def _overwrite(content: bytearray, older: bytes, chance: Random) -> bytes:
    for _ in range(chance.choice((1, 3, 20))):
        start = chance.randrange(len(content))
        content[start : start + 16] = chance.randbytes(len(content[start : start + 16]))
    return bytes(content)


def _zero_sector(content: bytearray, older: bytes, chance: Random) -> bytes:
    length = chance.choice((SECTOR_BYTES, PAGE_BYTES, 4 * PAGE_BYTES))
    start = chance.randrange(0, len(content), SECTOR_BYTES)
    content[start : start + length] = bytes(len(content[start : start + length]))
    return bytes(content)


def _cut(content: bytearray, older: bytes, chance: Random) -> bytes:
    length = chance.randrange(len(content))
    return bytes(content[: length - length % chance.choice((1, SECTOR_BYTES, PAGE_BYTES))])


def _swap_pages(content: bytearray, older: bytes, chance: Random) -> bytes:
    one, other = (chance.randrange(len(content) // PAGE_BYTES) * PAGE_BYTES for _ in range(2))
    first, second = (bytes(content[start : start + PAGE_BYTES]) for start in (one, other))
    content[one : one + PAGE_BYTES], content[other : other + PAGE_BYTES] = second, first
    return bytes(content)


def _repeat_page(content: bytearray, older: bytes, chance: Random) -> bytes:
    one, other = (chance.randrange(len(content) // PAGE_BYTES) * PAGE_BYTES for _ in range(2))
    content[one : one + PAGE_BYTES] = content[other : other + PAGE_BYTES]
    return bytes(content)


def _older_page(content: bytearray, older: bytes, chance: Random) -> bytes:
    """A page of an earlier copy: a lost write."""
    start = chance.randrange(min(len(older), len(content)) // PAGE_BYTES) * PAGE_BYTES
    content[start : start + PAGE_BYTES] = older[start : start + PAGE_BYTES]
    return bytes(content)


def _older_half(content: bytearray, older: bytes, chance: Random) -> bytes:
    """The start of one copy and the rest of another: an interrupted transfer."""
    start = chance.randrange(1, min(len(older), len(content)) // PAGE_BYTES) * PAGE_BYTES
    return (
        older[:start] + content[start:]
        if chance.random() < 0.5
        else bytes(content[:start]) + older[start:]
    )


def _append(content: bytearray, older: bytes, chance: Random) -> bytes:
    return bytes(content) + chance.randbytes(chance.choice((1, 100, PAGE_BYTES, 10 * PAGE_BYTES)))


def _edit_header(content: bytearray, older: bytes, chance: Random) -> bytes:
    start = chance.choice((16, 18, 19, 20, 24, 28, 32, 36, 40, 44, 52, 56, 60, 64, 68, 92, 96))
    content[start : start + 4] = chance.choice(
        (b"\0\0\0\0", b"\xff\xff\xff\xff", chance.randbytes(4))
    )
    return bytes(content)


def _another_file(content: bytearray, older: bytes, chance: Random) -> bytes:
    return chance.choice(
        (b"", b"child,parent\nGull,Bird\n" * 500, bytes(len(content)), chance.randbytes(50_000))
    )


BYTE_DAMAGE: Mapping[str, Damage] = {
    "bits flipped": _flip_bits,
    "a letter changed": _flip_letters,
    "bytes overwritten": _overwrite,
    "sector zeroed": _zero_sector,
    "cut off": _cut,
    "pages swapped": _swap_pages,
    "page repeated": _repeat_page,
    "page of an earlier copy": _older_page,
    "part of an earlier copy": _older_half,
    "something appended": _append,
    "header edited": _edit_header,
    "another file": _another_file,
}
