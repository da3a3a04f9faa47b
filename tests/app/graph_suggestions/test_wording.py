"""Texts of the cards."""

from collections.abc import Mapping

import pytest

from app.graph_suggestions.wording import (
    SuggestionWords,
    check_line,
    dismissed_line,
    more_line,
    words_of,
)
from engine.collection.graph_suggestions.pairs import Mixed, Similarity, Twins
from engine.collection.graph_suggestions.parents import PlacementCheck, Stray
from engine.collection.graph_suggestions.suggestion import (
    GraphSuggestion,
    ImagesOf,
    PossibleParents,
    UnderlabelledClass,
)
from engine.everyday.classifier import ScoredClass

NAMES: Mapping[int, str] = {1: "Gull", 2: "Bird", 3: "Fish & {1}", 4: "Mew"}
SIMILARITY = Similarity(0.1, 0.1, 7, 16)


def _words(suggestion: GraphSuggestion) -> SuggestionWords:
    return words_of(suggestion, NAMES.__getitem__)


def test_a_place() -> None:
    """Each possible parent has a button; names with placeholders are not substituted."""
    parents = (ScoredClass(2, 0.62), ScoredClass(3, 0.21))
    words = _words(
        GraphSuggestion(
            PossibleParents(1, parents), (ImagesOf(1, ()), ImagesOf(2, ()), ImagesOf(3, ()))
        )
    )
    assert words.title == "Gull may belong under Bird"
    assert (
        words.reason
        == "Its images look most like those of classes under Bird (62%), Fish & {1} (21%)."
    )
    assert words.choices == ("Move under Bird", "Move under Fish & {1}")
    assert words.captions == ("Gull", "Bird", "Fish & {1}")


def test_strays_twins_and_kinds() -> None:
    """The texts have the computed figures."""
    stray = _words(GraphSuggestion(Stray(1, 3, 2, 0.7, 0.04), ()))
    assert stray.title == "Gull may belong under Bird instead of Fish & {1}"
    assert "Bird (70%), not like those under Fish & {1} (4%)" in stray.reason
    twins = _words(GraphSuggestion(Twins(4, 1, SIMILARITY), (ImagesOf(4, ()), ImagesOf(1, ()))))
    assert (twins.title, twins.choices) == (
        "Mew and Gull look like one class",
        ("Merge into Gull",),
    )
    assert twins.reason.startswith("Of 16 images, 7 look more like the other class")
    kinds = (ImagesOf(1, (1, 2, 3)), ImagesOf(1, (4, 5, 6)))
    mixed = _words(GraphSuggestion(Mixed(1, ((1, 2, 3, 7), (4, 5, 6)), SIMILARITY), kinds))
    assert mixed.title == "Gull looks like two classes"
    assert "fall into groups of 4 and 3 " in mixed.reason
    assert mixed.captions == ("Gull, kind 1", "Gull, kind 2")


@pytest.mark.parametrize(
    ("shots", "start"),
    [(0, "It has no examples yet. 40"), (1, "It has 1 example. 40"), (2, "It has 2 examples. 40")],
)
def test_underlabelled(shots: int, start: str) -> None:
    """The number of examples needed, and of those available."""
    words = _words(
        GraphSuggestion(UnderlabelledClass(1, shots, tuple(range(40)), 12), (ImagesOf(1, ()),))
    )
    assert words.title == "3 more examples of Gull would help about 12 images"
    assert words.reason.startswith(start)


def test_lines_below() -> None:
    """Texts have singular and plural; a graph without a checked class has no text."""
    assert check_line(PlacementCheck()) == ""
    assert "first in 64, in the first three in 90" in check_line(
        PlacementCheck(97, 64, 90, 5.1, 37.0)
    )
    assert [more_line(1)[:14], more_line(2)[:13]] == ["1 more follows", "2 more follow"]
    assert [dismissed_line(1), dismissed_line(12)] == [
        "Show 1 dismissed suggestion again",
        "Show 12 dismissed suggestions again",
    ]
