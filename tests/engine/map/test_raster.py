"""Rasterised points and density."""

import numpy as np

from engine.map.raster import Density, Layer, View, draw_layers, draw_points, draw_smooth

RED, BLUE = 0xFFFF0000, 0xFF0000FF
VIEW = View(0.0, 0.0, 2.0, 20, 10)  # two pixels per unit: x from -5 to 5, y from -2.5 to 2.5


def points(*places: tuple[float, float]) -> np.ndarray:
    return np.array(places, dtype=np.float32)


def test_a_point_is_a_disc_in_its_place() -> None:
    """Centred at the scaled position; outside points are omitted, discs at the edge are clipped."""
    drawn = draw_points(
        points((0.1, 0.1), (99, 0), (-4.9, -2.4)),
        np.array([RED, RED, BLUE], dtype=np.uint32),
        VIEW,
        1,
    )
    assert drawn.shape == (10, 20)
    assert drawn[5, 10] == drawn[4, 10] == drawn[5, 9] == RED
    assert drawn[4, 9] == 0
    assert drawn[0, 0] == BLUE
    assert np.count_nonzero(drawn == RED) == 5
    assert np.count_nonzero(drawn == BLUE) == 3


def test_later_points_and_layers_lie_on_top() -> None:
    same = points((0, 0), (0, 0))
    assert draw_points(same, np.array([RED, BLUE], dtype=np.uint32), VIEW, 0)[5, 10] == BLUE
    below, above = (Layer(same[:1], np.array([each], dtype=np.uint32), 0) for each in (BLUE, RED))
    assert draw_layers((below, above), VIEW, 7)[5, 10] == RED
    assert draw_layers((), VIEW, 7).tolist() == [[7] * 20] * 10


def test_smooth_edges_are_between_point_and_ground() -> None:
    """Full colour at the centre, blended at the rim."""
    drawn = draw_smooth(
        points((0.25, 0.25)), np.array([0xFFFFFFFF], dtype=np.uint32), VIEW, 2.0, 0xFF000000
    )
    assert drawn.shape == (10, 20)
    assert drawn[5, 10] == 0xFFFFFFFF
    greys = drawn & 0xFF
    assert ((greys > 0) & (greys < 255)).any()


def test_density_is_strongest_where_most_are() -> None:
    """Logarithmic; the colour is the mean, and every image is visible."""
    places = np.concatenate([np.zeros((1000, 2)), [[10, 10]]]).astype(np.float32)
    colours = np.full(1001, RED, dtype=np.uint32)
    colours[:500] = BLUE
    made = Density.of(places, colours, side=8)
    opacity = made.pixels >> 24
    assert opacity[0, 0] == 255
    assert 60 < opacity[7, 7] < 160
    assert np.count_nonzero(opacity) == 2
    mixed = int(made.pixels[0, 0])
    assert abs((mixed >> 16 & 0xFF) - (mixed & 0xFF)) <= 1
    assert not Density.of(places[:0], colours[:0], side=8).pixels.any()
