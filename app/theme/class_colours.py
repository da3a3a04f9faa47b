"""Colours of classes in the current theme.

They are visible on every background, and never the only carrier of a meaning.
"""

from PySide6.QtGui import QColor

from app.theme.tokens import Scheme, tokens
from engine.graph import class_colours

SWATCHES = (
    "#d05a4e",
    "#c07a1f",
    "#8f9420",
    "#3f9d5c",
    "#229aa0",
    "#4a88cf",
    "#8d72cc",
    "#c05f9f",
)
"""Colours offered for a class: eight hues around the circle, from red to pink."""


def class_colour(class_id: int, stored: str = "") -> QColor:
    """The colour of a class in tree, graph and map: the user's choice, else one by its id."""
    return QColor(
        class_colours.class_colour(class_id, stored, is_dark=tokens().scheme is Scheme.DARK)
    )


def own_colour(stored: str) -> QColor:
    """A colour offered for a class, or chosen by the user, in the current theme."""
    return QColor(class_colours.given_colour(stored, is_dark=tokens().scheme is Scheme.DARK))


def blended(below: QColor, above: QColor, share: float) -> QColor:
    """Opaque mixture of two colours."""
    pairs = (
        (below.redF(), above.redF()),
        (below.greenF(), above.greenF()),
        (below.blueF(), above.blueF()),
    )
    return QColor.fromRgbF(*(low + share * (high - low) for low, high in pairs))
