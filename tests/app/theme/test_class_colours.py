"""Class colours, generated or set by a person: distinct, with enough contrast."""

from itertools import combinations

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from app.theme.class_colours import SWATCHES, class_colour, own_colour
from app.theme.scheme import set_scheme
from app.theme.tokens import tokens
from tests.support.contrast import VISIBLE, contrast


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_is_seen_on_the_pane(scheme: str, qapp: QApplication) -> None:
    """Also black, white and glaring colours contrast: hue is kept, lightness adapted."""
    set_scheme(scheme)
    for stored in (*SWATCHES, "#000000", "#ffffff", "#ffff00", "#0000ff"):
        assert contrast(own_colour(stored).name(), tokens().colours.surface) >= VISIBLE, stored
    for class_id in range(1, 500):
        assert contrast(class_colour(class_id).name(), tokens().colours.surface) >= VISIBLE, (
            class_id
        )
    set_scheme("system")


def test_those_that_are_offered_keep_their_hue_and_are_distinct(qapp: QApplication) -> None:
    """Neighbours are at least a twentieth of the circle apart."""
    shown = [own_colour(stored) for stored in SWATCHES]
    for stored, colour in zip(SWATCHES, shown, strict=True):
        assert hue_apart(QColor(stored), colour) < 0.04
    assert min(hue_apart(first, second) for first, second in combinations(shown, 2)) > 0.05


def hue_apart(first: QColor, second: QColor) -> float:
    """Distance of two hues as a share of the circle."""
    apart = abs(first.hueF() - second.hueF())
    return min(apart, 1 - apart)
