"""A colour for each top-level branch: stable, evenly bright, and never the only carrier of a meaning."""

from functools import lru_cache
from math import cos, radians, sin
from typing import Final

from PySide6.QtGui import QColor

from app.theme.tokens import Scheme, tokens

_GOLDEN_ANGLE: Final = 137.50776405
_FIRST_HUE: Final = 40.0
_LIGHTNESS: Final = {Scheme.LIGHT: 0.62, Scheme.DARK: 0.74}
_CHROMA: Final = 0.13
_LINEAR_BELOW: Final = 0.0031308


def branch_colour(root_id: int) -> QColor:
    """The colour of the branch below a top-level class; neighbouring ids lie far apart in hue."""
    return _evenly_bright(root_id, tokens().scheme)


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
