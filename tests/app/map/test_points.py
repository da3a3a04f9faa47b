"""Points of a map: nearest, within an outline, and in painting order."""

import numpy as np

from app.map.points import MapPoints, PaintOrder

POINTS = MapPoints(
    np.array([3, 5, 8, 13], dtype=np.int64),
    np.array([(0, 0), (10, 0), (10, 10), (0, 10)], dtype=np.float32),
)


def test_rows_of_known_images() -> None:
    assert POINTS.rows_of(np.array([13, 4, 5])).tolist() == [3, 1]
    assert MapPoints.none().rows_of(np.array([1])).tolist() == []


def test_the_nearest_within_reach() -> None:
    assert POINTS.nearest(9, 1, 5) == 1
    assert POINTS.nearest(5, 5, 5) is None
    assert POINTS.bounds == (-4, -4, 14, 14)


def test_a_lasso_encloses_by_the_even_odd_rule() -> None:
    """Concave outlines and rings with a hole work; two corners enclose nothing."""
    assert POINTS.enclosed([(-1, -1), (11, -1), (11, 1), (-1, 1)]).tolist() == [
        True,
        True,
        False,
        False,
    ]
    bay = [(-1, -1), (11, -1), (11, 11), (9, 11), (9, 2), (1, 2), (1, 11), (-1, 11)]
    assert POINTS.enclosed(bay).tolist() == [True, True, True, True]
    assert not POINTS.enclosed([(0, 0), (10, 10)]).any()
    around = [
        (-5, -5),
        (15, -5),
        (15, 15),
        (-5, 15),
        (-5, -5),
        (-1, -1),
        (11, -1),
        (11, 11),
        (-1, 11),
        (-1, -1),
    ]
    assert not POINTS.enclosed(around).any()


def test_loud_points_are_painted_last() -> None:
    colours = np.array([1, 2, 3, 4], dtype=np.uint32)
    order = PaintOrder.of(POINTS, colours, np.array([1, 0, 1, 0], dtype=np.uint8))
    assert sorted(order.rows[:2].tolist()) == [1, 3]
    assert order.colours.tolist() == [int(colours[row]) for row in order.rows]
    assert order.place_of[order.rows].tolist() == [0, 1, 2, 3]
