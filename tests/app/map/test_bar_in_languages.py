"""The bar above the map in each language: current values are not clipped in a narrow window."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.images.thumbnails import Thumbnails
from app.language import ENGLISH, install_language
from app.map.bar import ViewBar
from app.map.canvas import MapCanvas

NARROW, WIDE = 590, 900  # pixels; narrow in a window of 1,200
LANGUAGES = sorted(path.stem for path in (Path(__file__).parents[3] / "translations").glob("*.ts"))


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_chosen_is_not_cut(
    language: str,
    compiled_languages: Path,
    thumbnails: Thumbnails,
    qapp: QApplication,
    qtbot: QtBot,
) -> None:
    """A caption is shown only where there is room."""
    install_language(qapp, str(compiled_languages / f"{language}.qm"))
    canvas = MapCanvas(thumbnails, lambda _image_id: None)
    qtbot.addWidget(canvas)
    try:
        bar = ViewBar(canvas)
        qtbot.addWidget(bar)
        bar.resize(NARROW, 48)
        bar.show()
        bar.show_levels(4, first=0)
        for width, has_caption in ((NARROW, False), (WIDE, True), (NARROW, False)):
            bar.resize(width, 48)
            for place in (1, 0):
                bar.level.setCurrentIndex(place)
                QApplication.processEvents()
                for box in (bar.by, bar.level):
                    assert box.width() >= box.sizeHint().width(), box.currentText()
            captions = [each for each in bar.findChildren(QLabel) if each.isVisible()]
            assert (bar.width(), bool(captions)) == (width, has_caption)
    finally:
        canvas.stop()
        install_language(qapp, ENGLISH)
