"""A colour for each top-level branch: stable, evenly bright, and never the only carrier of a meaning."""

from functools import lru_cache
from math import cos, hypot, radians, sin
from typing import Final

from PySide6.QtGui import QColor

from app.theme.tokens import Scheme, tokens

_GOLDEN_ANGLE: Final = 137.50776405
_FIRST_HUE: Final = 40.0
_LIGHTNESS: Final = {Scheme.LIGHT: 0.62, Scheme.DARK: 0.74}
_CHROMA: Final = 0.13
# Where the two branches of the sRGB curve meet (IEC 61966-2-1).
_LINEAR_BELOW: Final = 0.0031308
_ENCODED_BELOW: Final = 0.04045


def branch_colour(root_id: int) -> QColor:
    """The colour of the branch below a top-level class; neighbouring ids lie far apart in hue."""
    return _evenly_bright(root_id, tokens().scheme)


SWATCHES: Final = ("#d05a4e", "#c07a1f", "#8f9420", "#3f9d5c", "#229aa0", "#4a88cf", "#8d72cc", "#c05f9f")
"""Colours offered for a class: eight hues around the circle, from red to pink."""


def own_colour(stored: str) -> QColor:
    """The colour that a person gave a class, as bright as the others in the look that is worn: seen on any ground."""
    return _as_bright(stored, tokens().scheme)


@lru_cache(maxsize=4096)
def _as_bright(stored: str, scheme: Scheme) -> QColor:
    green_red, blue_yellow = _hue_of(QColor(stored))
    chroma = hypot(green_red, blue_yellow)
    scale = min(1.0, _CHROMA / chroma) if chroma else 0.0
    return _from_oklab(_LIGHTNESS[scheme], green_red * scale, blue_yellow * scale)


def _hue_of(colour: QColor) -> tuple[float, float]:
    """The two axes of colour of an sRGB colour in OKLab; see `_from_oklab`."""
    red, green, blue = (_decoded(part) for part in (colour.redF(), colour.greenF(), colour.blueF()))
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def _decoded(encoded: float) -> float:
    return encoded / 12.92 if encoded <= _ENCODED_BELOW else ((encoded + 0.055) / 1.055) ** 2.4


@lru_cache(maxsize=4096)
def _evenly_bright(root_id: int, scheme: Scheme) -> QColor:
    hue = radians((_FIRST_HUE + root_id * _GOLDEN_ANGLE) % 360.0)
    return _from_oklab(_LIGHTNESS[scheme], _CHROMA * cos(hue), _CHROMA * sin(hue))


def _from_oklab(lightness: float, green_red: float, blue_yellow: float) -> QColor:
    """An sRGB colour of a point in OKLab, the space where equal steps look equal (B. Ottosson, 2020)."""
    long = (lightness + 0.3963377774 * green_red + 0.2158037573 * blue_yellow) ** 3
    medium = (lightness - 0.1055613458 * green_red - 0.0638541728 * blue_yellow) ** 3
    short = (lightness - 0.0894841775 * green_red - 1.2914855480 * blue_yellow) ** 3
    return QColor.fromRgbF(
        _encoded(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
        _encoded(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
        _encoded(-0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short),
    )


def _encoded(linear: float) -> float:
    """SRGB transfer curve, clipped to what a screen can show."""
    # The two branches and their constants are IEC 61966-2-1.
    clipped = min(max(linear, 0.0), 1.0)
    return float(12.92 * clipped if clipped <= _LINEAR_BELOW else 1.055 * clipped ** (1 / 2.4) - 0.055)
