"""Icons by name."""

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication

from app.theme.icons import icon


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_an_icon_is_sharp_on_every_screen(qapp: QApplication, scale: float) -> None:
    """Icons are drawn in device pixels, not scaled up."""
    drawn = icon("close").pixmap(QSize(18, 18), scale)
    assert (drawn.width(), drawn.devicePixelRatio()) == (round(18 * scale), scale)


def test_an_icon_without_room_is_nothing(qapp: QApplication) -> None:
    """Nothing is painted on a null pixmap, which Qt would warn about."""
    assert icon("undo").pixmap(QSize(0, 0)).isNull()
