"""The aspect ratio of cards follows that of their pictures."""

import pytest

from app.images.pixels import DECIDED_AT, SQUARE, PictureShape


def shape_of(*sides: tuple[int, int]) -> float:
    """The aspect ratio chosen for these pictures."""
    shape = PictureShape()
    for place, (width, height) in enumerate(sides):
        shape.note(place, width, height)
    assert shape.is_due(are_all_there=True)
    shape.decide()
    return shape.value


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ((1600, 900), 9 / 16),
        ((1500, 1000), 2 / 3),
        ((4000, 3000), 3 / 4),
        ((600, 600), SQUARE),
        ((3000, 4000), 4 / 3),
        ((8000, 1000), 9 / 16),
        ((900, 1600), 4 / 3),
    ],
)
def test_pictures_of_one_shape_fill_their_cards(sides: tuple[int, int], expected: float) -> None:
    """Those of cameras and screens exactly; extreme ratios are clamped."""
    assert shape_of(sides, sides, sides) == expected


def test_half_upright_and_half_lying_pictures_have_square_cards() -> None:
    """Each kind loses the same area."""
    assert shape_of(*[(4000, 3000)] * 5, *[(3000, 4000)] * 5) == SQUARE


def test_one_odd_picture_changes_nothing() -> None:
    """A single upright photo among 30 does not change the aspect ratio."""
    assert shape_of(*[(1600, 900)] * 29, (900, 1600)) == 9 / 16


def test_the_shape_is_decided_when_enough_pictures_are_known_and_not_again_soon() -> None:
    """Cards must not change their aspect ratio at every picture."""
    shape = PictureShape()
    for place in range(DECIDED_AT[0] - 1):
        shape.note(place, 1600, 900)
        assert not shape.is_due(are_all_there=False)
        assert not shape.decide()
    shape.note("last", 1600, 900)
    assert shape.is_due(are_all_there=False)
    assert shape.decide()
    shape.note("one more", 900, 1600)
    assert not shape.is_due(are_all_there=True)
    assert (shape.decide(), shape.value) == (False, 9 / 16)


def test_other_pictures_are_looked_at_from_the_start() -> None:
    """Pictures of another project do not depend on the previous ones."""
    shape = PictureShape()
    shape.note("wide", 1600, 900)
    assert shape.is_due(are_all_there=True)
    assert shape.decide()
    shape.forget()
    shape.note("upright", 900, 1600)
    assert shape.is_due(are_all_there=True)
    assert shape.decide()
    assert shape.value == 4 / 3
