"""A column of texts that is searched as one block of bytes: 100,000 of them in a few milliseconds, with no loop."""

import re
from collections.abc import Iterable
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.search_folding import folded

_BREAK: Final = "\n"  # between texts; none that is searched for holds one
_BREAK_BYTE: Final = ord(_BREAK)
WILDCARD: Final = "*"  # of a text that is searched for: any letters of a word
_IN_WORD: Final = (
    rb"[\w\x80-\xff]"  # in the bytes of UTF-8 every letter beyond ASCII is one of these
)
_ANY_LETTERS: Final = rb"[^\s]*"


def _encoded(text: str) -> bytes:
    return folded(text).replace(_BREAK, "\r").encode("utf-8", "surrogatepass")


def _word_pattern(text: str) -> bytes:
    """Of whole words, with `*` for any letters: `fox*` fits `foxes`, and not `arctifox`."""
    parts = (re.escape(_encoded(part)) for part in text.split(WILDCARD))
    return rb"(?<!" + _IN_WORD + rb")" + _ANY_LETTERS.join(parts) + rb"(?!" + _IN_WORD + rb")"


@final
class TextColumn:
    """Texts (n,), folded."""

    def __init__(self, texts: Iterable[str]) -> None:
        block = _BREAK.join([*(folded(text).replace(_BREAK, "\r") for text in texts), ""])
        self._bytes = np.frombuffer(block.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        self._ends = np.flatnonzero(self._bytes == _BREAK_BYTE)

    def __len__(self) -> int:
        return len(self._ends)

    def containing(self, text: str) -> NDArray[np.bool_]:
        """(n,) whether each text has this one as a part; all have an empty one. `*` stands for any letters of a word.

        A text with `*` begins and ends where words do: `fox*` is no part of `arctifoxes`.
        """
        if WILDCARD in text:
            return self._fitting(_word_pattern(text))
        wanted = np.frombuffer(_encoded(text), dtype=np.uint8)
        found = np.zeros(len(self._ends), dtype=bool)
        if len(wanted) == 0:
            return ~found
        last = len(self._bytes) - len(wanted)
        places = (
            np.flatnonzero(self._bytes[: last + 1] == wanted[0])
            if last >= 0
            else np.zeros(0, dtype=np.int64)
        )
        for offset in range(1, len(wanted)):
            places = places[self._bytes[places + offset] == wanted[offset]]
        found[np.searchsorted(self._ends, places)] = True
        return found

    def _fitting(self, pattern: bytes) -> NDArray[np.bool_]:
        """(n,) whether each text has a part that fits."""
        found = np.zeros(len(self._ends), dtype=bool)
        places = [hit.start() for hit in re.finditer(pattern, self._bytes.tobytes()) if hit.group()]
        found[np.searchsorted(self._ends, np.array(places, dtype=np.int64))] = True
        return found

    @property
    def is_filled(self) -> NDArray[np.bool_]:
        """(n,) whether each text is not empty."""
        return np.diff(self._ends, prepend=-1) > 1
