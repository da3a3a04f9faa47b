"""The camera of a canvas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.canvas.camera import Camera

PLACES = st.floats(-1e4, 1e4)
SCALES = st.floats(0.01, 2.0)
CAMERAS = st.builds(Camera, PLACES, PLACES, SCALES, st.just(800.0), st.just(600.0))
POINTS = st.tuples(st.floats(0, 800), st.floats(0, 600))


@pytest.mark.slow
@given(CAMERAS, POINTS)
def test_a_point_of_the_view_comes_back(camera: Camera, at: tuple[float, float]) -> None:
    """View to plane to view is the identity."""
    assert camera.to_view(*camera.to_plane(*at)) == pytest.approx(at, abs=1e-6)


@pytest.mark.slow
@given(CAMERAS, POINTS, SCALES, st.floats(0, 1))
def test_what_the_pointer_is_on_stays_there(
    before: Camera, at: tuple[float, float], scale: float, share: float
) -> None:
    """The point under the pointer stays fixed in each frame of zooming with the wheel."""
    point = before.to_plane(*at)
    way = before.towards(before.zoomed(scale, at), share)
    assert way.to_view(*point) == pytest.approx(at, abs=1e-3)
