"""The colour of a class, derived from its id alone: no label, count or order changes it."""

from functools import lru_cache
from math import cos, hypot, pi, sin

Rgb = tuple[float, float, float]  # red, green and blue in [0, 1], sRGB
LIGHT_GROUND = (0.44, 0.645)
"""Range of OKLab lightness. Chosen: each contrasts with the pane by 3 or more (WCAG 2)."""
DARK_GROUND = (0.66, 0.88)
"""The same on a dark ground."""
GIVEN = (0.62, 0.74)
"""Lightness of colours that people give, on a light and on a dark ground."""
CHROMA = 0.13  # in OKLab: about what a screen can show at every hue
_HUES = (3 - 5**0.5) / 2  # of the circle from one class to the next: the golden angle
_FIRST_HUE = 40 / 360  # of the circle
_STEPS = 5
"""Lightness steps. Chosen: any two of the first 50 colours are 0.05 apart in OKLab."""
# Where the two branches of the sRGB curve meet (IEC 61966-2-1).
_LINEAR_BELOW = 0.0031308
_ENCODED_BELOW = 0.04045


@lru_cache(maxsize=8192)
def class_colour(class_id: int, stored: str = "", *, is_dark: bool) -> str:
    """The colour of a class on a light or a dark ground, as `#rrggbb`.

    Args:
        stored: what a person gave it, `#rrggbb`; "" for nothing: it has one of its own.
    """
    if stored:
        return given_colour(stored, is_dark=is_dark)
    low, high = DARK_GROUND if is_dark else LIGHT_GROUND
    lightness = low + (high - low) * (class_id % _STEPS) / (_STEPS - 1)
    hue = 2 * pi * ((_FIRST_HUE + class_id * _HUES) % 1.0)
    return _hex_of(_from_oklab(lightness, CHROMA * cos(hue), CHROMA * sin(hue)))


def given_colour(stored: str, *, is_dark: bool) -> str:
    """A colour that a person gave, `#rrggbb`, as bright as others: seen on any ground."""
    green_red, blue_yellow = _hue_of(stored)
    chroma = hypot(green_red, blue_yellow)
    scale = min(1.0, CHROMA / chroma) if chroma else 0.0
    return _hex_of(_from_oklab(GIVEN[is_dark], green_red * scale, blue_yellow * scale))


def _hex_of(colour: Rgb) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)


def _hue_of(colour: str) -> tuple[float, float]:
    """The two axes of colour of `#rrggbb` in OKLab; see `_from_oklab`."""
    red, green, blue = (_decoded(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def _decoded(encoded: float) -> float:
    return (
        encoded / 12.92 if encoded <= _ENCODED_BELOW else float(((encoded + 0.055) / 1.055) ** 2.4)
    )


def _from_oklab(lightness: float, green_red: float, blue_yellow: float) -> Rgb:
    """The sRGB colour of a point in OKLab, where equal steps look equal (B. Ottosson, 2020)."""
    long = (lightness + 0.3963377774 * green_red + 0.2158037573 * blue_yellow) ** 3
    medium = (lightness - 0.1055613458 * green_red - 0.0638541728 * blue_yellow) ** 3
    short = (lightness - 0.0894841775 * green_red - 1.2914855480 * blue_yellow) ** 3
    return (
        _encoded(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
        _encoded(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
        _encoded(-0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short),
    )


def _encoded(linear: float) -> float:
    """SRGB transfer curve, clipped to what a screen can show."""
    # The two branches and their constants are IEC 61966-2-1.
    clipped = min(max(linear, 0.0), 1.0)
    return float(
        12.92 * clipped if clipped <= _LINEAR_BELOW else 1.055 * clipped ** (1 / 2.4) - 0.055
    )
