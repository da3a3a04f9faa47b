"""Cached tiles of the drawing."""

import time
from collections.abc import Iterator
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from app.canvas.camera import Camera, Rect
from app.graph_view.tiles import Tiles

LONG_S = 60.0


class Painted:
    """Paints tiles in one colour and records them."""

    def __init__(self) -> None:
        self.pieces: list[Rect] = []
        self.colour = "#ff0000"

    def __call__(self, painter: QPainter, rect: Rect, _scale: float) -> Iterator[None]:
        """Paint one tile, in two steps."""
        self.pieces.append(rect)
        yield
        painter.fillRect(0, 0, 256, 256, QColor(self.colour))
        yield


def frame(tiles: Tiles, camera: Camera) -> QImage:
    """The painted view."""
    image = QImage(300, 200, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    view = replace(camera, width=300, height=200)
    tiles.show(painter, view, lambda below: below.fillRect(0, 0, 300, 200, Qt.GlobalColor.blue))
    painter.end()
    return image


def colours(image: QImage) -> set[str]:
    """Colours sampled from a picture."""
    return {image.pixelColor(x, y).name() for x in range(0, 300, 20) for y in range(0, 200, 20)}


def test_a_frame_copies_and_never_paints(qapp: QApplication) -> None:
    """Missing tiles are substituted, painted between frames, and then cover the view seamlessly."""
    paint = Painted()
    tiles = Tiles(paint)
    assert colours(frame(tiles, Camera())) == {"#0000ff"}
    assert paint.pieces == []
    assert tiles.make_some(LONG_S)
    assert colours(frame(tiles, Camera())) == {"#ff0000"}
    assert tiles.is_complete
    painted = len(paint.pieces)
    assert colours(frame(tiles, Camera(3, 2))) == {"#ff0000"}
    assert len(paint.pieces) == painted


def test_while_zooming_the_last_pieces_stand_in(qapp: QApplication) -> None:
    """Without flicker: tiles of the previous scale are magnified."""
    tiles = Tiles(Painted())
    frame(tiles, Camera())
    tiles.make_some(LONG_S)
    frame(tiles, Camera())
    assert colours(frame(tiles, Camera(scale=1.4))) == {"#ff0000"}
    assert not tiles.is_complete


def test_from_far_away_the_pieces_of_a_near_scale_cost_nothing(qapp: QApplication) -> None:
    """Only existing tiles are looked up, not the hundreds of thousands that would fill the view."""
    tiles = Tiles(Painted())
    frame(tiles, Camera())
    tiles.make_some(LONG_S)
    frame(tiles, Camera())
    start_s = time.process_time()
    assert "#ff0000" not in colours(frame(tiles, Camera(scale=2**-9)))
    assert time.process_time() - start_s < 0.5


def test_pieces_out_of_date_are_shown_until_they_are_painted_anew(qapp: QApplication) -> None:
    """Stale tiles are shown until repainted; only tiles that touch the change are repainted."""
    paint = Painted()
    tiles = Tiles(paint)
    frame(tiles, Camera())
    tiles.make_some(LONG_S)
    paint.colour, count = "#00ff00", len(paint.pieces)
    tiles.repaint_in((10.0, 10.0, 20.0, 20.0))
    assert colours(frame(tiles, Camera())) == {"#ff0000"}
    tiles.make_some(LONG_S)
    assert len(paint.pieces) == count + 1
    assert colours(frame(tiles, Camera())) == {"#ff0000", "#00ff00"}
