"""For `protoleaf benchmark map`: pan and zoom a map of generated points; record frame times.

`python -m research.window.map_frames POINTS` writes a report to the file in `PROTOLEAF_MAP_REPORT`.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from research.window.startup_report import write_report

if TYPE_CHECKING:
    from app.map.canvas import MapCanvas
    from app.map.scene import MapScene

REPORT_VARIABLE = "PROTOLEAF_MAP_REPORT"
SIZE = (1440, 900)  # logical pixels
FRAMES = 40  # of each kind of move
PUSH = (-11.0, -7.0)  # pixels from one frame to the next, as by quick dragging
PINCH = 1.06
CLASSES = 200
GROUPS = 10


def drawn_scene(points: int) -> "MapScene":
    """Points in clusters, with colours, names, prototypes and edges."""
    from app.map.colouring import Colouring, LegendEntry
    from app.map.labels import ClassPlace
    from app.map.points import MapPoints
    from app.map.scene import MapScene, PlacedPrototypes
    from engine.map import palette

    generator = np.random.default_rng(0)
    centres = generator.uniform(-45, 45, (CLASSES, 2))
    classes = generator.integers(0, CLASSES, points)
    places = (centres[classes] + generator.standard_normal((points, 2)) * 2.5).astype(np.float32)
    groups = classes % GROUPS
    colours = np.array([palette.argb(each) for each in palette.LIGHT], dtype=np.uint32)[groups]
    legend = tuple(
        LegendEntry(each, int((groups == place).sum()), place)
        for place, each in enumerate(palette.LIGHT)
    )
    names = {class_id: f"Class number {class_id}" for class_id in range(CLASSES)}
    spots = enumerate(centres.tolist())
    at = [ClassPlace(each, x, y, points // CLASSES, 0) for each, (x, y) in spots]
    edges = np.array([(each % GROUPS, each) for each in range(GROUPS, CLASSES)], dtype=np.int64)
    prototypes = PlacedPrototypes(np.arange(CLASSES, dtype=np.int64), centres, edges)
    scene = MapScene(points=MapPoints(np.arange(points, dtype=np.int64), places))
    colouring = Colouring(colours, (groups % 2).astype(np.uint8), legend, groups.astype(np.int32))
    coloured = scene.coloured(colouring, at, names)
    return replace(coloured, prototypes=prototypes)


def frames_ms(canvas: "MapCanvas", move: Callable[[], None], count: int = FRAMES) -> list[float]:
    """Time of each frame from the move to its last pixel."""
    found: list[float] = []
    for _frame in range(count):
        start_s = time.perf_counter()
        move()
        canvas.repaint()
        found.append((time.perf_counter() - start_s) * 1000)
    return found


def measure(points: int) -> dict[str, list[float]]:
    """Frames of dragging at three scales, of zooming in, and of dragging with a large selection."""
    from PySide6.QtWidgets import QApplication

    from app.images.thumbnails import Thumbnails
    from app.map.canvas import MapCanvas
    from app.theme import apply_theme
    from engine.config import CacheFolders

    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    apply_theme(app)
    thumbnails = Thumbnails(CacheFolders.default())
    canvas = MapCanvas(thumbnails, lambda _image_id: None)
    canvas.resize(*SIZE)
    canvas.show()
    app.processEvents()
    canvas.show_scene(drawn_scene(points))
    app.processEvents()
    found: dict[str, list[float]] = {"pan": [], "zoom": [], "pan_selected": []}
    canvas.repaint()  # names are painted once, and cached
    for scale in (1.0, 4.0, 40.0):
        canvas.fit()
        canvas.pinch(scale)
        canvas.repaint()
        found["pan"] += frames_ms(canvas, partial(canvas.pan, *PUSH))
    canvas.fit()
    found["zoom"] += frames_ms(canvas, partial(canvas.pinch, PINCH), 2 * FRAMES)
    canvas.fit()
    canvas.choose(canvas.scene.points.places[:, 0] > 0)
    canvas.repaint()
    found["pan_selected"] += frames_ms(canvas, partial(canvas.pan, *PUSH))
    canvas.close()
    canvas.stop()
    thumbnails.stop()
    return found


if __name__ == "__main__":
    write_report(Path(os.environ[REPORT_VARIABLE]), measure(int(sys.argv[1])))
