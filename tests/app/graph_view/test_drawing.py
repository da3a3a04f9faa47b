"""The drawing as arrays."""

import numpy as np
import pytest
from PySide6.QtCore import Qt

from app.graph_view.drawing import (
    CARD_HEIGHT,
    CARD_WIDTH,
    Drawing,
    first_row,
    make_drawing,
    moved_along,
)
from app.graph_view.far_names import MOST_BELOW, branch_sizes
from app.graph_view.keys import next_row

ANIMAL, BIRD, FISH, GULL, PET = 1, 2, 3, 4, 5


@pytest.fixture
def drawing() -> Drawing:
    """Animal above bird and fish; gull below bird; fish also below pet, which is next to animal."""
    places = {
        ANIMAL: (0.0, 0.0),
        PET: (400.0, 0.0),
        BIRD: (-200.0, 220.0),
        FISH: (200.0, 220.0),
        GULL: (-200.0, 440.0),
    }
    edges = [(ANIMAL, BIRD), (ANIMAL, FISH), (PET, FISH), (BIRD, GULL)]
    return make_drawing(places, edges, {}, hidden={FISH: 7}, distances={})


def test_what_lies_at_a_point(drawing: Drawing) -> None:
    """A card up to its edge, and nothing outside."""
    assert drawing.row_at(CARD_WIDTH / 2 - 1, CARD_HEIGHT / 2 - 1) == drawing.row_of(ANIMAL)
    assert drawing.row_at(CARD_WIDTH / 2 + 1, 0) is None
    assert sorted(drawing.ids[drawing.rows_in((-300, 200, 0, 460))].tolist()) == [BIRD, GULL]


def test_the_nearest_edge_within_reach(drawing: Drawing) -> None:
    """The straight one between bird and gull is hit at its centre, and missed farther away."""
    edge = drawing.edge_between(BIRD, GULL)
    assert edge is not None
    assert drawing.edge_near(-203, 330, 5) == edge
    assert drawing.edge_near(-210, 330, 5) is None
    assert drawing.edge_between(GULL, BIRD) is None


def test_only_visible_edges_are_painted(drawing: Drawing) -> None:
    """Those whose bounding boxes touch the rectangle."""
    found = drawing.edges_in((300, 0, 500, 200)).tolist()
    assert found == [drawing.edge_between(PET, FISH)]


def test_arrows_walk_along_edges_and_levels(drawing: Drawing) -> None:
    """Up to the nearest parent, down to a child, sideways to the neighbour."""

    def step(class_id: int, arrow: Qt.Key) -> int | None:
        row = drawing.row_of(class_id)
        assert row is not None
        following = next_row(drawing, row, arrow)
        return None if following is None else int(drawing.ids[following])

    assert first_row(drawing) == drawing.row_of(ANIMAL)
    assert step(GULL, Qt.Key.Key_Up) == BIRD
    assert step(BIRD, Qt.Key.Key_Down) == GULL
    assert step(BIRD, Qt.Key.Key_Right) == FISH
    assert step(FISH, Qt.Key.Key_Right) is None
    assert step(PET, Qt.Key.Key_Left) == ANIMAL
    assert step(ANIMAL, Qt.Key.Key_Up) is None


def test_classes_glide_from_where_they_stood(drawing: Drawing) -> None:
    """Half-way they are interpolated; a new class appears at its final position."""
    after = make_drawing(
        {ANIMAL: (100.0, 0.0), 9: (5.0, 5.0)}, [(ANIMAL, 9)], {}, hidden={}, distances={}
    )
    half = moved_along(drawing, after, 0.5)
    assert half.centres.tolist() == [[50.0, 0.0], [5.0, 5.0]]
    np.testing.assert_allclose(half.routes[0][0], (50.0, CARD_HEIGHT / 2))


def test_a_branch_is_as_big_as_what_stands_below_it(drawing: Drawing) -> None:
    """Classes folded into a card are counted."""
    sizes = dict(zip(drawing.ids.tolist(), branch_sizes(drawing).tolist(), strict=True))
    assert sizes == {ANIMAL: 1 + 2 + 8, PET: 1 + 8, BIRD: 2, FISH: 8, GULL: 1}


def test_more_paths_than_can_be_counted() -> None:
    """Eighty levels of two classes with both parents each have 2 ** 80 paths."""
    places = {
        2 * level + side: (100.0 * side, 100.0 * level) for level in range(80) for side in range(2)
    }
    edges = [(upper, lower) for lower in places for upper in places if upper // 2 == lower // 2 - 1]
    sizes = branch_sizes(make_drawing(places, edges, {}, hidden={}, distances={}))
    assert sizes[0] == MOST_BELOW
    assert sizes[-2:].tolist() == [1, 1]
