"""Codes in place of class ids for images without a class.

Imports nothing: the window loads it before it shows.
"""

from collections.abc import Callable

NO_CLASS = -1  # in place of a class id: no label, no prediction, or no class that is safe

UNKNOWN = -2
"""In place of a class id: labelled as none of the classes."""

EMPTY = -3  # in place of a class id: labelled as empty, nothing is in the image

BOXED = -4
"""In place of a class id: no label of its own, as boxes in the image are classified in its
place."""

NONE_OF_THEM = ""  # path of a label for "none of the classes"
NOTHING_THERE = "/"  # path of a label of an empty image; no class has it
_PATHS = {UNKNOWN: NONE_OF_THEM, EMPTY: NOTHING_THERE}


def label_path(code: int, path_text: Callable[[int], str]) -> str:
    """The path of a label, by its code; `path_text` gives that of a class."""
    return _PATHS[code] if code < 0 else path_text(code)
