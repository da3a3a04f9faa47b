"""The layout of cards, for many sizes."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QRect

from app.image_grid.geometry import GAP, LARGEST_SIDE, MARGIN, SMALLEST_SIDE, GridGeometry

GRIDS = [
    GridGeometry(width, side, count)
    for width in (120, 360, 777, 1440)
    for side in (SMALLEST_SIDE, 168, LARGEST_SIDE)
    for count in (1, 7, 50)
]
MIRRORED = [replace(grid, is_mirrored=True) for grid in GRIDS]


@pytest.mark.parametrize("grid", [*GRIDS, *MIRRORED], ids=str)
def test_the_card_at_a_point_is_the_one_that_lies_there(grid: GridGeometry) -> None:
    """`place_at` is the inverse of `rect`, at every corner pixel."""
    for place in range(grid.count):
        rect = grid.rect(place)
        for corner in (
            rect.topLeft(),
            rect.topRight(),
            rect.bottomLeft(),
            rect.bottomRight(),
            rect.center(),
        ):
            assert grid.place_at(corner.x(), corner.y()) == place
        assert grid.place_at(rect.left() - 1, rect.center().y()) != place
        assert grid.place_at(rect.right() + 1, rect.center().y()) != place
        assert grid.place_at(rect.center().x(), rect.bottom() + 1) is None


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_cards_lie_apart_and_inside(grid: GridGeometry) -> None:
    """Cards do not overlap, keep the margin, and determine the grid's height."""
    rects = [grid.rect(place) for place in range(grid.count)]
    assert len({(rect.left(), rect.top()) for rect in rects}) == grid.count
    first, last = rects[0], rects[-1]
    assert (first.left(), first.top()) == (MARGIN, MARGIN)
    assert last.bottom() + 1 + MARGIN == grid.total_height
    if grid.width >= grid.side + 2 * MARGIN:
        assert max(rect.right() for rect in rects) <= grid.width - MARGIN
    if grid.columns > 1 and grid.count > 1:
        assert rects[1].left() - first.right() - 1 == GAP


@pytest.mark.parametrize("grid", [*GRIDS, *MIRRORED], ids=str)
def test_a_band_gives_all_rows_that_it_touches(grid: GridGeometry) -> None:
    """All visible cards are included, and at most one row more."""
    for top in range(0, grid.total_height, 97):
        area = QRect(0, top, grid.width, 200)
        touching = [place for place in range(grid.count) if grid.rect(place).intersects(area)]
        found = grid.places_between(area.top(), area.bottom())
        assert set(touching) <= set(found)
        assert len(found) <= len(touching) + 2 * grid.columns
        assert grid.places_in(area) == touching


@pytest.mark.parametrize(("grid", "mirrored"), list(zip(GRIDS, MIRRORED, strict=True)), ids=str)
def test_from_right_to_left_each_card_is_as_far_from_the_other_edge(
    grid: GridGeometry, mirrored: GridGeometry
) -> None:
    for place in range(grid.count):
        rect, seen = grid.rect(place), mirrored.rect(place)
        assert seen.right() == grid.width - 1 - rect.left()
        assert (seen.top(), seen.size()) == (rect.top(), rect.size())


def test_points_beside_cards_hit_nothing() -> None:
    """Points in margins, gaps and after the last card are on no card."""
    grid = GridGeometry(600, 168, 4)
    assert grid.columns == 3
    last = grid.rect(3)
    for x, y in ((0, 0), (last.right() + 20, last.center().y()), (5, 10_000), (-3, 30), (30, -3)):
        assert grid.place_at(x, y) is None


def test_an_empty_grid_has_no_height() -> None:
    """It does not scroll."""
    grid = GridGeometry(600, 168, 0)
    assert (grid.total_height, grid.rows, list(grid.places_between(0, 900))) == (0, 0, [])
