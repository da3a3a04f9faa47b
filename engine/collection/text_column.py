"""A column of texts that is searched as one block of bytes: 100,000 of them in a few milliseconds, with no loop."""

from collections.abc import Iterable
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.search_folding import folded

_BREAK: Final = "\n"  # between texts; none that is searched for holds one
_BREAK_BYTE: Final = ord(_BREAK)


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
        """(n,) whether each text has this one as a part; all have an empty one."""
        wanted = np.frombuffer(folded(text).replace(_BREAK, "\r").encode("utf-8", "surrogatepass"), dtype=np.uint8)
        found = np.zeros(len(self._ends), dtype=bool)
        if len(wanted) == 0:
            return ~found
        last = len(self._bytes) - len(wanted)
        places = np.flatnonzero(self._bytes[: last + 1] == wanted[0]) if last >= 0 else np.zeros(0, dtype=np.int64)
        for offset in range(1, len(wanted)):
            places = places[self._bytes[places + offset] == wanted[offset]]
        found[np.searchsorted(self._ends, places)] = True
        return found

    @property
    def is_filled(self) -> NDArray[np.bool_]:
        """(n,) whether each text is not empty."""
        return np.diff(self._ends, prepend=-1) > 1
