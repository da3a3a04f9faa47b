"""Colours of classes: far apart for consecutive classes, and given ones equally bright."""

from itertools import combinations
from math import dist

import pytest

from engine.graph.class_colours import _hue_of, class_colour, given_colour


def parts(colour: str) -> tuple[int, int, int]:
    """Red, green and blue."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@pytest.mark.parametrize("is_dark", [False, True])
def test_the_first_thirty_classes_are_distinct(is_dark: bool) -> None:
    """None has the colour of another one, nor nearly so; and each keeps its own."""
    colours = [class_colour(class_id, is_dark=is_dark) for class_id in range(1, 31)]
    assert colours == [class_colour(class_id, is_dark=is_dark) for class_id in range(1, 31)]
    assert min(dist(parts(first), parts(second)) for first, second in combinations(colours, 2)) > 20


def test_what_a_person_gave_takes_the_place_of_its_own() -> None:
    """By its hue; grey stays grey."""
    assert class_colour(7, "#4a88cf", is_dark=False) == given_colour("#4a88cf", is_dark=False)
    red, blue = _hue_of(given_colour("#808080", is_dark=False))
    assert abs(red) < 0.01
    assert abs(blue) < 0.01
