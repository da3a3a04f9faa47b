"""The camera of the drawing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.graph_view.viewport import Camera, bringing_in, fitting, scale_of, step_near

VIEW = (800.0, 600.0)
PLACES = st.floats(-1e4, 1e4)
SCALES = st.floats(0.01, 2.0)
CAMERAS = st.builds(Camera, PLACES, PLACES, SCALES)
POINTS = st.tuples(st.floats(0, 800), st.floats(0, 600))


@pytest.mark.slow
@given(CAMERAS, POINTS)
def test_a_point_of_the_view_comes_back(camera: Camera, at: tuple[float, float]) -> None:
    """View to drawing to view is the identity."""
    assert camera.to_view(*camera.to_drawing(*at, VIEW), VIEW) == pytest.approx(at, abs=1e-6)


@pytest.mark.slow
@given(CAMERAS, POINTS, SCALES, st.floats(0, 1))
def test_what_the_pointer_is_on_stays_there(
    before: Camera, at: tuple[float, float], scale: float, share: float
) -> None:
    """The point under the pointer stays fixed in each frame of zooming with the wheel."""
    point = before.to_drawing(*at, VIEW)
    way = before.towards(before.zoomed(scale, at, VIEW), share)
    assert way.to_view(*point, VIEW) == pytest.approx(at, abs=1e-3)


def test_fitting_shows_all_at_a_step() -> None:
    """The largest step that shows bounds and margin; small drawings are not magnified."""
    camera = fitting((0, 0, 3000, 1000), VIEW)
    left, top, right, bottom = camera.seen(VIEW)
    assert left < 0
    assert top < 0
    assert right > 3000
    assert bottom > 1000
    assert camera.scale == scale_of(step_near(camera.scale))
    assert fitting((0, 0, 3000, 1000), (800.0 * 2**0.25, 600.0 * 2**0.25)).scale > camera.scale
    assert fitting((0, 0, 10, 10), VIEW).scale == 1.0


def test_bringing_in_moves_no_more_than_it_must() -> None:
    """A visible area does not move the camera; others move it by the least distance."""
    camera = Camera(0, 0, 1.0)
    assert bringing_in(camera, (-10, -10, 10, 10), VIEW, 40) == camera
    moved = bringing_in(camera, (500, 0, 600, 100), VIEW, 40)
    assert (moved.x, moved.y) == (240, 0)
    assert bringing_in(camera, (-10, -250, 10, -200), VIEW, 40) == camera
    below = bringing_in(camera, (-10, -250, 10, -200), VIEW, 40, covered=60)
    assert below.to_view(0, -250, VIEW)[1] > 60
