"""Checks of rendered figures."""

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
from PIL import Image


def inked_share(path: Path) -> float:
    """Share of a picture's pixels that are not white."""
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB"))
    return float((pixels < 250).any(axis=2).mean())


def has_colour(path: Path, colour: str) -> bool:
    """Whether some pixels have exactly a colour such as `#0072b2`."""
    wanted = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)])
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB"))
    return bool((pixels == wanted).all(axis=2).sum() > 20)


def vector_root(path: Path) -> str:
    """Name of the root element of a vector picture; fails if it is not well-formed."""
    return ET.parse(path).getroot().tag.rpartition("}")[2]  # noqa: S314 (generated here)
