"""Colour schemes: contrast in light and dark, and class colours."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.features import ACTIONS
from app.theme import set_scheme, theme_of
from app.theme.class_colours import class_colour
from app.theme.icons import icon_pixmap
from app.theme.scheme import make_stylesheet
from app.theme.tokens import Scheme, make_tokens, tokens
from tests.support.contrast import READABLE, contrast


@pytest.mark.parametrize("scheme", list(Scheme))
@pytest.mark.parametrize(
    "text", ["text", "text_secondary", "text_muted", "accent_text", "danger", "warning"]
)
@pytest.mark.parametrize("ground", ["window", "surface", "raised"])
def test_text_can_be_read_on_every_ground(scheme: Scheme, text: str, ground: str) -> None:
    """4.5 : 1, as in WCAG AA."""
    colours = make_tokens(scheme).colours
    assert contrast(getattr(colours, text), getattr(colours, ground)) >= READABLE


@pytest.mark.parametrize("scheme", list(Scheme))
def test_text_on_coloured_grounds_can_be_read(scheme: Scheme) -> None:
    """Buttons, selections and toasts."""
    colours = make_tokens(scheme).colours
    for text, ground in (
        ("on_accent", "accent"),
        ("text", "accent_soft"),
        ("accent_text", "accent_soft"),
        ("on_inverse", "inverse"),
        ("inverse_accent", "inverse"),
    ):
        assert contrast(getattr(colours, text), getattr(colours, ground)) >= READABLE, (
            text,
            ground,
        )


@pytest.mark.parametrize("scheme", list(Scheme))
def test_the_style_sheet_is_filled_and_asks_for_no_missing_drawing(scheme: Scheme) -> None:
    """Every token has a value, every url() is a file."""
    sheet = re.sub(r"/\*.*?\*/", "", make_stylesheet(make_tokens(scheme)), flags=re.DOTALL)
    assert "$" not in sheet
    drawings: list[str] = re.findall(r"url\(\"?([^)\"]+)\"?\)", sheet)
    assert drawings
    assert [drawing for drawing in drawings if not Path(drawing).is_file()] == []


def test_switching_is_reported_and_repaints(qapp: QApplication) -> None:
    """Dark and back; the same scheme again emits nothing."""
    changes: list[Scheme] = []

    def note() -> None:
        changes.append(tokens().scheme)

    theme = theme_of(qapp)
    set_scheme("light")
    theme.changed.connect(note)
    set_scheme("dark")
    set_scheme("dark")
    set_scheme("light")
    theme.changed.disconnect(note)
    set_scheme("system")
    assert changes == [Scheme.DARK, Scheme.LIGHT]


def test_classes_have_stable_colours_far_apart(qapp: QApplication) -> None:
    """The first eight classes have distinct hues."""
    colours = [class_colour(number) for number in range(1, 9)]
    assert colours == [class_colour(number) for number in range(1, 9)]
    for first, second in combinations(colours, 2):
        apart = abs(first.hue() - second.hue())
        assert min(apart, 360 - apart) >= 12


def test_every_action_has_an_icon_that_is_drawn(qapp: QApplication) -> None:
    """An icon without a drawing would be an empty button."""
    for row in ACTIONS:
        image = icon_pixmap(row.icon, 18, colour="text", ratio=2.0).toImage()
        assert image.width() == 36
        assert any(image.pixelColor(x, y).alpha() for x in range(36) for y in range(36)), row.icon
