"""Recommendations for generated collections whose cause of poor predictions is known."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from engine.backbones.model_files import ACCURATE, FAST
from engine.collection.fitting import run_fit
from engine.collection.live import LiveCollection
from engine.collection.recommendations import (
    Recommendation,
    RecommendationInput,
    RecommendationKind,
    accurate_offer,
    find_recommendations,
    next_class,
    recommendations_of,
)
from engine.collection.state import NO_CLASS, CollectionState
from engine.everyday.classifier import CollectionFigures, FitFigures
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.unseen import ClassesSeen
from tests.support.collections import LEAVES, class_ids
from tests.support.everyday import PRIOR, collection
from tests.support.graphs import graph_of

NAMES = ("Good", "Mousebite", "Open", "Short", "Spur")
ALIKE = (3, 4, 5)  # Open, Short and Spur, if the backbone does not separate them
SHOTS = 8  # of each class
WAITING = 30  # unlabelled images of each class


@dataclass(frozen=True)
class FromElsewhere(EverydayModel):
    """A model whose shots are unlike the collection."""

    @property
    def figures(self) -> FitFigures:
        """Figures with a low familiarity."""
        found = CollectionFigures(True, 40, 30, 28, has_shots_from_elsewhere=True)
        return FitFigures(40, 0.75, collection=found)


def _given(
    session: PropagationSession,
    *,
    alike: tuple[int, ...] = (),
    shots: Mapping[int, int] = MappingProxyType({}),
    model_name: str = "own",
) -> RecommendationInput:
    """Five classes around different means, some of them shared, with given numbers of shots."""
    drawn = collection(graph_of(dict.fromkeys(NAMES, ())), spread=1.0, noise=0.5)
    means = {each: drawn.means[min(alike) if each in alike else each] for each in drawn.means}
    drawn = replace(drawn, means=means)
    ids = list(means)
    labelled = drawn.shots({each: shots.get(each, SHOTS) for each in ids})
    waiting, _truth = drawn.images_of_each(ids, WAITING)
    model = fit(drawn.graph, labelled, session, PRIOR)
    embeddings = np.concatenate([labelled.embeddings, waiting])
    scores = model.classify(embeddings)
    labels = np.concatenate([labelled.class_ids, np.full(len(waiting), NO_CLASS)]).astype(np.int32)
    count = len(embeddings)
    state = CollectionState(
        Path("/boards"),
        np.arange(1, count + 1),
        [f"{each}.png" for each in range(count)],
        labels,
        model.candidate_ids[scores.best].astype(np.int32),
        scores.best_score,
        scores.safe_class,
        scores.safe_score,
        model.is_unknown(scores),
        np.ones(count, np.uint8),
        labelled.counts(),
        {},
        model_name=model_name,
    )
    return RecommendationInput(model, drawn.graph, state)


def _kinds(given: RecommendationInput) -> list[RecommendationKind]:
    return [each.kind for each in find_recommendations(given)]


@pytest.mark.slow
def test_nothing_where_all_is_well(propagation: PropagationSession) -> None:
    """Five well separated classes need nothing, whatever is available."""
    assert find_recommendations(replace(_given(propagation), has_accurate=True)) == ()


@pytest.mark.slow
def test_classes_that_are_confused_ask_for_training(propagation: PropagationSession) -> None:
    """Training is recommended with the names of the classes, more examples after it."""
    given = _given(propagation, alike=ALIKE)
    first, *others = find_recommendations(given)
    assert first.kind is RecommendationKind.TRAIN_BACKBONE
    assert set(first.class_ids) == set(ALIKE)
    text = str(first.text(given.graph.name))
    assert text.startswith("The backbone often confuses these: ")
    assert all(name in text for name in ("Open", "Short", "Spur"))
    assert [each.kind for each in others] == [RecommendationKind.MORE_EXAMPLES]


def test_no_training_that_is_in_vain(propagation: PropagationSession) -> None:
    """Not if training is unavailable or was done on these labels."""
    given = _given(propagation, alike=ALIKE)
    for changed in (replace(given, can_train=False), replace(given, trained_on=SHOTS * len(NAMES))):
        assert _kinds(changed) == [RecommendationKind.MORE_EXAMPLES]


def test_few_labels_do_not_train_the_accurate_backbone(propagation: PropagationSession) -> None:
    """With three examples of each class, more examples come first."""
    few = dict.fromkeys(range(1, len(NAMES) + 1), 3)
    given = _given(propagation, alike=ALIKE, shots=few, model_name=ACCURATE)
    assert _kinds(given) == [RecommendationKind.MORE_EXAMPLES]
    assert RecommendationKind.TRAIN_BACKBONE in _kinds(
        _given(propagation, alike=ALIKE, model_name=ACCURATE)
    )


def test_the_accurate_backbone_comes_before_training(propagation: PropagationSession) -> None:
    """It is recommended to projects on the fast backbone, instead of training."""
    given = replace(_given(propagation, alike=ALIKE, model_name=FAST), has_accurate=True)
    assert _kinds(given) == [RecommendationKind.ACCURATE_BACKBONE, RecommendationKind.MORE_EXAMPLES]


def test_classes_with_few_examples_are_named(propagation: PropagationSession) -> None:
    """One example of Good: three more would help many images; the backbone is not blamed."""
    given = _given(propagation, shots={1: 1})
    undecided = np.flatnonzero(
        (given.state.label_class == NO_CLASS) & (given.state.best_class == 1)
    )
    safe = given.state.safe_class.copy()
    safe[undecided] = NO_CLASS
    given = replace(given, state=replace(given.state, safe_class=safe))
    (recommendation,) = find_recommendations(given)
    assert (recommendation.kind, recommendation.class_ids) == (
        RecommendationKind.MORE_EXAMPLES,
        (1,),
    )
    assert (
        str(recommendation.text(given.graph.name))
        == f"3 more examples of Good would help about {recommendation.images} images."
    )


def test_other_images_come_first(propagation: PropagationSession) -> None:
    """Labels from elsewhere and confused classes: two recommendations, the third is omitted."""
    given = _given(propagation, alike=ALIKE)
    moved = FromElsewhere(**vars(given.fitted))
    assert _kinds(replace(given, fitted=moved)) == [
        RecommendationKind.LABEL_OTHERS,
        RecommendationKind.TRAIN_BACKBONE,
    ]


def test_a_removed_class_is_not_named(propagation: PropagationSession) -> None:
    """Although the model knows it until the next fit."""
    given = _given(propagation, alike=ALIKE)
    given.graph.remove(ALIKE[0])
    assert all(ALIKE[0] not in each.class_ids for each in find_recommendations(given))


def test_texts_name_all_classes() -> None:
    """Numbers are formatted as in English."""
    recommendation = Recommendation(RecommendationKind.MORE_EXAMPLES, (1, 2), 1_234)
    assert str(recommendation.text(lambda each: f"class {each}")) == (
        "3 more examples of each would help about 1,234 images: class 1, class 2."
    )


@pytest.mark.slow
def test_an_open_project(live: LiveCollection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing for separated classes; contradictory labels recommend the accurate backbone."""
    monkeypatch.delenv("PROTOLEAF_BACKBONE", raising=False)
    assert recommendations_of(live) == ()
    assert accurate_offer(live) is not None
    ids = class_ids(live.project)
    labelled = live.state.image_ids[live.state.label_class > 0].tolist()
    for place, image_id in enumerate(labelled):
        live.take(live.project.labels.set([image_id], ids[LEAVES[place % len(LEAVES)]]))
    live.adopt(run_fit(live.fit_input()))
    assert recommendations_of(live)[0].kind is RecommendationKind.ACCURATE_BACKBONE


def test_classes_without_examples_come_first(propagation: PropagationSession) -> None:
    """First by predicted images, then by those of its parent, then by name."""
    given = _given(propagation, shots={4: 0, 5: 0})
    first = find_recommendations(given)[0]
    assert (first.kind, first.class_ids) == (RecommendationKind.LABEL_CLASSES, (4,))
    text = "3 of 5 classes have examples. Label 3 images of each; next: Short."
    assert str(first.text(given.graph.name)) == text

    given.graph.add_class("Burrs")
    given.graph.link(len(NAMES) + 1, 5)
    for counts, expected in (({6: 40}, 5), ({6: 40, 4: 2}, 4)):
        found = next_class(given.fitted, given.graph, replace(given.state, image_counts=counts))
        assert found is not None
        assert found.class_ids == (expected,)


def test_a_single_class_with_examples_has_them() -> None:
    """The singular has another verb."""
    recommendation = Recommendation(
        RecommendationKind.LABEL_CLASSES, (7,), unseen=ClassesSeen(1, 504, 0.99)
    )
    text = str(recommendation.text(lambda _each: "Tulip"))
    assert text == "1 of 505 classes has examples. Label 3 images of each; next: Tulip."


def test_no_class_to_label_next_where_all_have_examples(propagation: PropagationSession) -> None:
    """Nor before the first fit, see `recommendations_of`."""
    given = _given(propagation)
    assert next_class(given.fitted, given.graph, given.state) is None
