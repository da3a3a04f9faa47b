"""Codes in arrays of class ids for images without a class. Loads nothing: the window imports it before it shows."""

from typing import Final

NO_CLASS: Final = -1  # in place of a class id: no label, no prediction, or no class that is safe

UNKNOWN: Final = -2  # in place of a class id: a person's word that an image shows none of the classes

EMPTY: Final = -3  # in place of a class id: a person's word that nothing is in an image

BOXED: Final = -4  # in place of a class id: no label of its own, as boxes in the image are classified in its place
