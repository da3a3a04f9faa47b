"""Colours of points by class at a level, label, status, score and date; counts of the legend."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.canvas.camera import Camera
from app.map.colouring import OTHER, ColourBy, Colouring, ColouringOptions, coloured
from app.map.labels import class_places, placed_apart
from app.map.wording import entry_text
from app.theme.tokens import Scheme
from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState, ImageStatus
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_colours import class_colour
from engine.map.palette import argb

GREY = argb(OTHER[Scheme.LIGHT])


def colours_of(*class_ids: int) -> list[int]:
    """Colours of classes on the map."""
    return [argb(class_colour(each, is_dark=False)) for each in class_ids]


@pytest.fixture
def graph() -> CategoryGraph:
    """Bird above Gull (2) and Owl (3); Fish (4) next to it."""
    graph = CategoryGraph()
    bird = graph.add_class("Bird")
    graph.add_class("Gull", (bird,))
    graph.add_class("Owl", (bird,))
    graph.add_class("Fish")
    return graph


def ids(graph: CategoryGraph, *names: str) -> list[int]:
    return [graph.find(name) for name in names]


@pytest.fixture
def state(graph: CategoryGraph) -> CollectionState:
    """Six images: a labelled Gull; Gull, Owl and Fish predicted; one unknown; one without any."""
    gull, owl, fish = ids(graph, "Gull", "Owl", "Fish")
    best = np.array([owl, gull, owl, fish, fish, NO_CLASS], dtype=np.int32)
    return CollectionState(
        folder=Path("/"),
        image_ids=np.arange(1, 7),
        paths=[f"{each}.png" for each in range(1, 7)],
        label_class=np.array([gull, *4 * [NO_CLASS], NO_CLASS]),
        best_class=best,
        best_score=np.array([0.6, 0.99, 0.8, 0.3, 0.9, 0], dtype=np.float32),
        safe_class=best,
        safe_score=np.ones(6, dtype=np.float32),
        is_unknown=np.array([False] * 4 + [True, False]),
        status=np.full(6, ImageStatus.READY, dtype=np.uint8),
        shot_counts={},
        image_counts={},
    )


def counts(made: Colouring, graph: CategoryGraph) -> dict[str, int]:
    return {entry_text(entry, graph.name): entry.count for entry in made.legend}


def test_by_class_at_each_level(state: CollectionState, graph: CategoryGraph) -> None:
    """A label precedes the prediction; points without a class are grey."""
    fine = coloured(state.image_ids, state, graph, ColouringOptions())
    assert counts(fine, graph) == {"Gull": 2, "Fish": 1, "Owl": 1, "Without a class": 2}
    gull, owl, fish = ids(graph, "Gull", "Owl", "Fish")
    assert fine.colours.tolist() == [*colours_of(gull, gull, owl, fish), GREY, GREY]
    assert fine.ranks.tolist() == [1, 1, 1, 1, 0, 0]
    top = coloured(state.image_ids, state, graph, ColouringOptions(level=0))
    assert counts(top, graph) == {"Bird": 3, "Fish": 1, "Without a class": 2}


def test_a_class_has_the_colour_that_a_person_gave_it(
    state: CollectionState, graph: CategoryGraph
) -> None:
    (gull,) = ids(graph, "Gull")
    made = coloured(
        state.image_ids, state, graph, ColouringOptions(stored_colours={gull: "#4a88cf"})
    )
    assert made.colours[0] == argb(class_colour(gull, "#4a88cf", is_dark=False))


def test_no_label_changes_the_colour_of_a_class(
    state: CollectionState, graph: CategoryGraph
) -> None:
    """Neither another label nor another largest class changes a colour."""
    gull, fish = ids(graph, "Gull", "Fish")
    before = coloured(state.image_ids, state, graph, ColouringOptions())
    labels = np.array([gull, fish, fish, fish, fish, NO_CLASS])
    after = coloured(state.image_ids, replace(state, label_class=labels), graph, ColouringOptions())
    assert before.legend[0].class_id == gull
    assert after.legend[0].class_id == fish
    assert after.colours[0] == before.colours[0]
    assert after.colours[1] == before.colours[3]


def test_the_legend_lists_the_largest_of_many_classes(state: CollectionState) -> None:
    """All have a colour; the legend has the number of unlisted classes."""
    graph = CategoryGraph()
    classes = np.array([graph.add_class(f"Class {each}") for each in range(14)], dtype=np.int32)
    many = replace(
        state,
        image_ids=np.arange(14),
        best_class=classes,
        label_class=np.full(14, NO_CLASS),
        best_score=np.ones(14, dtype=np.float32),
        is_unknown=np.zeros(14, dtype=bool),
    )
    made = coloured(many.image_ids, many, graph, ColouringOptions())
    assert made.colours.tolist() == colours_of(*classes.tolist())
    assert counts(made, graph)["4 other classes"] == 4


def test_by_label_status_and_score(state: CollectionState, graph: CategoryGraph) -> None:
    labels = coloured(state.image_ids, state, graph, ColouringOptions(by=ColourBy.LABEL))
    assert counts(labels, graph) == {"Gull": 1, "Without a class": 5}
    status = coloured(state.image_ids, state, graph, ColouringOptions(by=ColourBy.STATUS))
    assert counts(status, graph) == {
        "Labelled": 1,
        "Predicted": 3,
        "Unknown": 1,
        "Without a class": 1,
    }
    score = coloured(state.image_ids, state, graph, ColouringOptions(by=ColourBy.SCORE))
    assert counts(score, graph) == {
        "0% to 50%": 1,
        "70% to 90%": 1,
        "97% to 100%": 1,
        "Labelled, or without a score": 3,
    }
    refused = replace(state, label_class=np.full(6, UNKNOWN))
    made = coloured(state.image_ids, refused, graph, ColouringOptions(by=ColourBy.STATUS))
    assert counts(made, graph) == {"Unknown": 6}


def test_by_date(state: CollectionState, graph: CategoryGraph) -> None:
    """Quantiles of dates; images without a date are grey; a single day has a single step."""
    days = {1: 18_000, 2: 18_500, 3: 19_000, 4: 19_500}
    made = coloured(state.image_ids, state, graph, ColouringOptions(by=ColourBy.DATE, dates=days))
    assert sum(entry.count for entry in made.legend) == 6
    assert counts(made, graph)["Without a date"] == 2
    assert len(set(made.colours[:4].tolist())) == 4
    for dates in ({1: -800_000 + 800_000}, {}):
        assert (
            len(
                coloured(
                    state.image_ids, state, graph, ColouringOptions(by=ColourBy.DATE, dates=dates)
                ).colours
            )
            == 6
        )


def test_images_that_left_are_as_those_without_a_class(
    state: CollectionState, graph: CategoryGraph
) -> None:
    made = coloured(np.array([2, 99]), state, graph, ColouringOptions())
    assert made.colours.tolist() == [*colours_of(*ids(graph, "Gull")), GREY]


def test_names_lie_where_most_images_do(graph: CategoryGraph) -> None:
    """Names of the coloured level first, then finer ones; outliers do not move a name."""
    bird, gull, owl = ids(graph, "Bird", "Gull", "Owl")
    finest = np.array([gull] * 10 + [owl] * 5 + [NO_CLASS])
    places = np.zeros((16, 2), dtype=np.float32)
    places[0], places[10:15] = (50, 50), (8, 8)
    found = class_places(np.where(finest >= 0, bird, NO_CLASS), finest, places, graph)
    assert [(each.class_id, each.count, each.depth) for each in found] == [
        (bird, 15, 0),
        (gull, 10, 1),
        (owl, 5, 1),
    ]
    assert (found[1].x, found[1].y) == (0, 0)
    assert (found[2].x, found[2].y) == (8, 8)


def test_names_do_not_lie_over_one_another() -> None:
    """Earlier ones have priority; names outside the view or over the legend are dropped."""
    wanted = [
        (50, 50, 40, 10),
        (60, 55, 40, 10),
        (50, 80, 40, 10),
        (5, 50, 40, 10),
        (150, 50, 40, 10),
    ]
    kept = placed_apart(wanted, Camera(width=200, height=100), [(140, 40, 160, 60)])
    assert [number for number, _box in kept] == [0, 2]
