"""Cameras that frame a drawing."""

from dataclasses import replace

from app.canvas.camera import Camera
from app.graph_view.framing import bringing_in, fitting, scale_of, step_near

VIEW = Camera(width=800.0, height=600.0)


def test_fitting_shows_all_at_a_step() -> None:
    """The largest step that shows bounds and margin; small drawings are not magnified."""
    camera = fitting((0, 0, 3000, 1000), VIEW)
    left, top, right, bottom = camera.seen
    assert left < 0
    assert top < 0
    assert right > 3000
    assert bottom > 1000
    assert camera.scale == scale_of(step_near(camera.scale))
    larger = replace(VIEW, width=800.0 * 2**0.25, height=600.0 * 2**0.25)
    assert fitting((0, 0, 3000, 1000), larger).scale > camera.scale
    assert fitting((0, 0, 10, 10), VIEW).scale == 1.0


def test_bringing_in_moves_no_more_than_it_must() -> None:
    """A visible area does not move the camera; others move it by the least distance."""
    assert bringing_in(VIEW, (-10, -10, 10, 10), 40) == VIEW
    moved = bringing_in(VIEW, (500, 0, 600, 100), 40)
    assert (moved.x, moved.y) == (240, 0)
    assert bringing_in(VIEW, (-10, -250, 10, -200), 40) == VIEW
    below = bringing_in(VIEW, (-10, -250, 10, -200), 40, covered=60)
    assert below.to_view(0, -250)[1] > 60
