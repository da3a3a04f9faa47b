"""Figures of suggestions on a collection of well separated classes."""

import dataclasses

import numpy as np
import pytest

from engine.collection.graph_suggestions.class_means import ClassMeans
from engine.collection.graph_suggestions.parents import ParentRanking, PlacementCheck
from engine.everyday.blocks import to_fixed
from research.graph_suggestions.drawn import drawn_rows, images_of
from research.graph_suggestions.measurement import Measured, measure_suggestions
from research.graph_suggestions.placements import FAR, Planted, asked_edges
from research.graph_suggestions.report import SuggestionReport
from research.transfer.embedded import EmbeddedCollection
from tests.support.drawn_classes import FIRST_FAMILY, SECOND_FAMILY, means_of, two_families
from tests.support.transfer import collection_of, embedded, small_graph

LEAVES = (3, 4, 5, 7, 8, 10)
SHOTS = 4


@pytest.fixture(scope="module")
def collection() -> EmbeddedCollection:
    """Six leaves in three branches with 12 images each; images of one branch are similar."""
    graph = small_graph()
    made = embedded(collection_of(dict.fromkeys(LEAVES, 12), {}, graph), noise=0.8)
    directions = np.random.default_rng(5).normal(size=(20, made.model.card.embedding_width))
    branch = np.array([graph.parents(each)[0] for each in made.collection.class_ids.tolist()])
    vectors = made.floats * np.sqrt(directions.shape[1]) + 0.8 * directions[branch]
    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return dataclasses.replace(made, embeddings=to_fixed(unit))


@pytest.fixture(scope="module")
def measured(collection: EmbeddedCollection) -> Measured:
    """One draw."""
    return measure_suggestions(collection, SHOTS, 1)


def test_parents_are_found_more_often_than_by_chance(measured: Measured) -> None:
    """Nine edges, two of them without an answer, as Plants and Mosses have no other images."""
    assert len(measured.edges) == 9
    answered = [edge for edge in measured.edges if edge.has_answer]
    first = np.mean([edge.first == 0 for edge in answered])
    assert first > 1.5 * np.mean([edge.chance_first[0] for edge in answered])


def test_faults_are_found(measured: Measured) -> None:
    """Split classes are twins, and merged classes are mixed."""
    assert measured.planted["twins"].found >= 5
    mixed = measured.planted["mixed with another class"]
    assert mixed.planted == 6
    assert mixed.found >= 5
    assert mixed.right / mixed.found > 0.9
    assert measured.planted["stray"].planted == 6


def test_steps_and_chances_by_hand() -> None:
    """A leaf of the first family without its edge: two candidates, one right and the other far."""
    graph, vectors = two_families()
    means = means_of(graph, vectors)
    edges = asked_edges(means, ParentRanking(means), PlacementCheck())
    assert len(edges) == 8
    for edge in edges:
        assert (edge.first, edge.nearest, edge.has_answer) == (0, 0, True)
        assert edge.chance_first == (0.5, 0.5, 0.5, 0.5)
        assert edge.chance_three == (1, 1, 1, 1)
    other = ClassMeans(graph, means.images)
    graph.move(2, FIRST_FAMILY, SECOND_FAMILY)
    wrong = [
        edge
        for edge in asked_edges(other, ParentRanking(other), PlacementCheck())
        if edge.first == FAR
    ]
    assert len(wrong) == 1


def test_the_same_draw_gives_the_same_images(collection: EmbeddedCollection) -> None:
    """The same number of each leaf; another seed gives others."""
    rows = drawn_rows(collection, SHOTS, 3)
    assert {class_id: len(part) for class_id, part in rows.items()} == dict.fromkeys(LEAVES, SHOTS)
    again, other = drawn_rows(collection, SHOTS, 3), drawn_rows(collection, SHOTS, 4)
    assert all((rows[leaf] == again[leaf]).all() for leaf in LEAVES)
    assert any((np.sort(rows[leaf]) != np.sort(other[leaf])).any() for leaf in LEAVES)
    assert len(images_of(collection, rows).image_ids) == SHOTS * len(LEAVES)


def test_report(measured: Measured) -> None:
    """Every table is present, as text and as data; an empty measurement does not fail."""
    report = SuggestionReport("shapes", "leafnet", 6, SHOTS, 1, measured)
    text = report.as_text()
    for part in (
        "leaves among them",
        "nearest of three",
        "whole branch of the class is gone",
        "twins",
        "promised",
    ):
        assert part in text
    fields = report.as_fields()
    assert fields["edges"]["all edges"]["edges"] == 9
    assert fields["planted"]["twins"]["planted"] == 6
    assert (
        "-"
        in dataclasses.replace(report, measured=Measured(planted={"twins": Planted()})).as_text()
    )
