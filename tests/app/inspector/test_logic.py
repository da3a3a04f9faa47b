"""Facts of the inspector, with expected values worked out by hand."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.inspector.logic import (
    Certainty,
    ClassPageFacts,
    ShareSource,
    Teaching,
    certainty,
    class_page_facts,
    image_facts,
    label_shown,
    safe_row,
    score_rows,
    share_rows,
    shared_values,
    teaching,
)
from engine.collection.answers import ClassFacts
from engine.collection.state import NO_CLASS, ImageStatus
from engine.config import PERSON_VARIABLE
from engine.everyday.classifier import Explanation, LookAlike, ScoredClass, Share
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.project import Label
from tests.support.graphs import seaside_graph
from tests.support.states import Picture, state_of

GONE = 999


@pytest.fixture
def graph() -> CategoryGraph:
    """Nine classes."""
    return seaside_graph()


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        (Picture(status=ImageStatus.FAILED), Certainty.FAILED),
        (Picture(status=ImageStatus.WAITING), Certainty.WAITING),
        (Picture(), Certainty.NOTHING_LEARNED),
        (Picture(best=4, score=0.9, is_unknown=True), Certainty.UNKNOWN),
        (Picture(best=4, score=0.5), Certainty.NOTHING_SAFE),
        (Picture(best=4, score=0.9, safe=4), Certainty.LEAF),
        (Picture(best=4, score=0.5, safe=2), Certainty.COARSE),
    ],
)
def test_how_far_a_prediction_is_trusted(picture: Picture, expected: Certainty) -> None:
    """Each kind of image has its certainty."""
    assert certainty(state_of([picture]), 11) is expected


def test_with_labels_a_prediction_is_only_a_matter_of_time() -> None:
    """While a model is being fitted, the first label is not requested."""
    assert certainty(state_of([Picture(), Picture(label=4)]), 11) is Certainty.NOT_CLASSIFIED


def test_rows_of_scores_have_digits_and_leave_out_what_is_gone(graph: CategoryGraph) -> None:
    """Nine classes have a digit; a removed class has no row."""
    puffin = graph.find("Puffin")
    rows = score_rows(graph, [ScoredClass(puffin, 0.75), ScoredClass(GONE, 0.2)], with_digits=True)
    assert [(row.name, row.place, row.score, row.digit) for row in rows] == [
        ("Puffin", "Animal / Bird", 0.75, 1)
    ]
    many = score_rows(graph, [ScoredClass(puffin, 0.1)] * 11, with_digits=True)
    assert [row.digit for row in many] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0]


def test_no_safe_class_is_no_row(graph: CategoryGraph) -> None:
    """No class and a removed class have no row."""
    assert safe_row(graph, NO_CLASS, 0.0) is None
    assert safe_row(graph, GONE, 0.9) is None


def explained(graph: CategoryGraph, own: float, *parents: tuple[str, float]) -> Explanation:
    """An explanation of why an image is a gull."""
    gull = graph.find("Gull")
    shares = tuple(Share(graph.find(name), share, (5,)) for name, share in parents)
    return Explanation(11, gull, 0.9, Share(gull, own, (7, 8)), shares, None, is_unknown=False)


def test_shares_come_largest_first_without_the_empty_ones(graph: CategoryGraph) -> None:
    """Shares that round to 0% are left out."""
    rows = share_rows(graph, explained(graph, 0.3, ("Bird", 0.699), ("Animal", 0.001)))
    assert [(row.class_id, row.name, row.share) for row in rows] == [
        (graph.find("Bird"), "Bird", 0.699),
        (None, "Gull", 0.3),
    ]
    assert share_rows(graph, None) == ()


def test_what_the_collection_teaches_is_shown_too(graph: CategoryGraph) -> None:
    """Coarse labels and unlabelled images have shares of their own; neighbours are listed."""
    bird = graph.find("Bird")
    taught = replace(
        explained(graph, 0.5, ("Bird", 0.1)),
        coarse=(Share(bird, 0.15, (9,)),),
        unlabelled=0.25,
        look_alikes=(LookAlike(5, 0.6), LookAlike(8, 0.3)),
    )
    rows = share_rows(graph, taught)
    assert [(row.source, row.class_id, row.share) for row in rows] == [
        (ShareSource.LABELLED, None, 0.5),
        (ShareSource.UNLABELLED, None, 0.25),
        (ShareSource.COARSE, bird, 0.15),
        (ShareSource.LABELLED, bird, 0.1),
    ]
    state = state_of([Picture(best=graph.find("Gull"))])
    facts = image_facts(graph, state, 11, label=None, tops=[], explanation=taught)
    assert facts.look_alikes == (5, 8)
    assert facts.look_alike_share == pytest.approx(0.9)


def test_facts_of_an_image(graph: CategoryGraph) -> None:
    """All facts of its page, from the snapshot and the query results."""
    gull, bird = graph.find("Gull"), graph.find("Bird")
    state = state_of([Picture(best=gull, score=0.6, safe=bird, safe_score=0.95)])
    facts = image_facts(
        graph,
        state,
        11,
        label=None,
        tops=[ScoredClass(gull, 0.6)],
        explanation=explained(graph, 1.0),
    )
    assert facts.certainty is Certainty.COARSE
    assert facts.safe is not None
    assert (facts.safe.name, round(facts.safe.score, 2), facts.why_name) == ("Bird", 0.95, "Gull")
    assert facts.path.name == "11.png"
    gone = replace(explained(graph, 1.0), class_id=GONE)
    assert image_facts(graph, state, 11, label=None, tops=[], explanation=gone).shares == ()


def test_the_annotator_is_never_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A label that is not yet stored is this person's; any other has its stored annotator."""
    monkeypatch.setenv(PERSON_VARIABLE, "ada")
    state = state_of([Picture(label=4), Picture()])
    imported = Label(11, 4, "grace", datetime(2026, 5, 1, tzinfo=UTC), "import")
    shown = [
        label_shown(state, 11, known, is_unsaved=False)
        for known in (imported, None, replace(imported, class_id=5))
    ]
    assert [label.who if label else "no label" for label in shown] == ["grace", "", ""]
    given = label_shown(state, 11, None, is_unsaved=True)
    assert given is not None
    assert (given.who, given.class_id) == ("ada", 4)
    assert label_shown(state, 12, imported, is_unsaved=True) is None


def facts_of(graph: CategoryGraph, **changes: object) -> ClassPageFacts:
    """Facts of Gull: two examples, and a parent with a share of 40%."""
    gull, bird = graph.find("Gull"), graph.find("Bird")
    facts = ClassFacts(
        gull,
        shots=(11, 12),
        lambda_=0.6,
        parents=(ScoredClass(bird, 1.0),),
        is_zero_shot=False,
        bar=0.8,
        own_bar=None,
    )
    state = state_of([Picture(label=gull)] * 2, image_counts={gull: 41})
    return class_page_facts(
        graph,
        state,
        replace(facts, **changes),  # type: ignore[arg-type]
        suggested=[ScoredClass(bird, 0.9), ScoredClass(graph.find("Plant"), 0.4)],
        candidates=(13, 14),
    )


def test_facts_of_a_class(graph: CategoryGraph) -> None:
    """Counts, paths, and suggested parents other than its own."""
    graph.set_attributes(graph.find("Gull"), ClassAttributes(is_deepest=True))
    facts = facts_of(graph)
    assert (facts.name, facts.places, facts.image_count, facts.shots) == (
        "Gull",
        ("Animal / Bird",),
        41,
        (11, 12),
    )
    assert [row.name for row in facts.suggested] == ["Plant"]
    assert (facts.own_share, facts.attributes.is_deepest, facts.candidates) == (0.6, True, (13, 14))
    graph.set_attributes(graph.find("Gull"), ClassAttributes("n02041246", ("Larus",)))
    assert facts_of(graph).attributes == ClassAttributes("n02041246", ("Larus",))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Teaching.BOTH),
        ({"lambda_": 1.0}, Teaching.OWN_ONLY),
        ({"parents": ()}, Teaching.OWN_ONLY),
        ({"shots": ()}, Teaching.FROM_BELOW),
        ({"is_zero_shot": True}, Teaching.PARENTS_ONLY),
        ({"is_zero_shot": True, "parents": ()}, Teaching.NOTHING),
        ({"is_zero_shot": True, "parents": (ScoredClass(1, 0.0),)}, Teaching.NOTHING),
        ({"parents": (ScoredClass(1, 0.0),)}, Teaching.OWN_ONLY),
    ],
)
def test_what_teaches_a_class(
    changes: dict[str, object], expected: Teaching, graph: CategoryGraph
) -> None:
    """Its own images, its parents, both, or nothing."""
    assert teaching(facts_of(graph, **changes)) is expected


def test_values_that_images_share() -> None:
    values = {
        1: {"sex": "male", "count": "2"},
        2: {"sex": "male", "count": "3"},
        4: {"sex": "male"},
    }
    assert shared_values(values, [1]) == values[1]
    assert shared_values(values, [1, 2]) == {"sex": "male", "count": None}
    assert shared_values(values, [4, 2]) == {"sex": "male", "count": None}
    assert shared_values(values, [3, 2, 3]) == {"sex": None, "count": None}
    assert shared_values(values, [3, 5]) == {}
