"""Names of large branches at small scales."""

import pytest
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from app.canvas.camera import Camera
from app.graph_view.card import CardLook
from app.graph_view.drawing import Drawing, make_drawing
from app.graph_view.far_names import FarNames
from app.graph_view.framing import fitting, scale_of, step_near

ROOT, PER_BRANCH, BRANCHES = 1, 40, 12
LONG_S = 60.0
VIEW = Camera(width=900.0, height=700.0)


@pytest.fixture
def drawing() -> Drawing:
    """A root, twelve branches below it, and forty leaves below each, in blocks."""
    places, edges = {ROOT: (0.0, 0.0)}, []
    for branch in range(BRANCHES):
        x, parent = (branch - BRANCHES / 2) * 1800.0, 2 + branch
        places[parent] = (x, 400.0)
        edges.append((ROOT, parent))
        for leaf in range(PER_BRANCH):
            child = 100 + branch * PER_BRANCH + leaf
            places[child] = (x + (leaf % 8) * 200.0 - 700, 800.0 + (leaf // 8) * 180)
            edges.append((parent, child))
    return make_drawing(places, edges, {}, hidden={}, distances={})


def look(class_id: int) -> CardLook:
    """The text of a card."""
    return CardLook(f"Class number {class_id}", "", class_id)


def painted(names: FarNames, camera: Camera) -> None:
    """Paint a frame."""
    image = QImage(900, 700, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    names.paint(painter, camera)
    painter.end()


def test_no_name_covers_another_and_the_biggest_branches_have_theirs(
    qapp: QApplication, drawing: Drawing
) -> None:
    """At every scale too small for names on cards; placed between frames, not while painting."""
    names, whole = FarNames(look), fitting(drawing.bounds, VIEW)
    names.show(drawing)
    for step in range(step_near(whole.scale), step_near(0.22)):
        camera = whole.zoomed(scale_of(step), (450.0, 350.0))
        painted(names, camera)
        assert not names.is_complete
        assert names.place_pending(LONG_S)
        found = names.placed(step)
        rects = [names.rect_of(name, camera) for name in found]
        assert not any(
            one.intersects(other) for place, one in enumerate(rects) for other in rects[:place]
        )
        assert found[0].row == drawing.row_of(ROOT)
        assert len(found) > 3
        painted(names, camera)
        assert names.is_complete
