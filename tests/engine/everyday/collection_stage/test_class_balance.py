"""Classes of very different sizes.

Where their mean lies, and what the collection stage makes of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.backbones.model_files import width_agnostic_propagation
from engine.everyday.blocks import to_fixed
from engine.everyday.classifier import EMBEDDING, PROBABILITIES
from engine.everyday.collection_stage.calibration import class_priors
from engine.everyday.collection_stage.class_balance import (
    ClassBalance,
    class_balance_of,
    directions_for,
    regression_share,
)
from engine.everyday.collection_stage.fit_stage import StageInput, fit_stage
from engine.everyday.collection_stage.neighbours import Whitening
from engine.everyday.collection_stage.stage import CollectionStage
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.shots import Shots
from engine.everyday.unseen import LEAST_LEFT
from engine.runtime.onnx_runtime import load_onnxruntime
from tests.support.collection_stage import Crowd, Matrix, crowd
from tests.support.everyday import PRIOR, some_shots, unit
from tests.support.graphs import graph_of

PER_LEAF = 90
LARGE = 0  # place of the large class among the leaves
OPSET = 17


def sized(given: Crowd, sizes: NDArray[np.int64]) -> Crowd:
    """A part of a collection, with so many images of each of its leaves."""
    rows = np.concatenate(
        [given.rows(leaf)[:size] for leaf, size in zip(given.leaves, sizes, strict=True)]
    )
    rows = np.sort(rows)
    return Crowd(given.graph, given.embeddings[rows], given.truth[rows])


def one_large(given: Crowd, others: int) -> Crowd:
    """One class keeps its images, every other has so many."""
    sizes = np.full(len(given.leaves), others)
    sizes[LARGE] = PER_LEAF
    return sized(given, sizes)


@dataclass(frozen=True)
class Fitted:
    """A model of a collection, and which of the images without a label it gets right."""

    model: EverydayModel
    truth: NDArray[np.int64]
    is_right: NDArray[np.bool_]

    @property
    def balanced(self) -> float:
        """Mean recall of the classes."""
        return float(
            np.mean([self.is_right[self.truth == leaf].mean() for leaf in np.unique(self.truth)])
        )


def fitted(session: PropagationSession, given: Crowd, shots: Shots) -> Fitted:
    model = fit(given.graph, shots, session, PRIOR, basis=given.basis(shots))
    scores = model.classify(given.embeddings)
    free = ~np.isin(given.image_ids, shots.image_ids)
    return Fitted(model, given.truth[free], (model.candidate_ids[scores.best] == given.truth)[free])


# -- the estimate


def estimate(
    given: Crowd, shots: Shots, *, familiarity: float = 1.0, taught: float = 1.0
) -> ClassBalance:
    mean = given.embeddings.mean(axis=0)
    whitening = Whitening(mean, np.eye(len(mean), dtype=np.float32))
    return class_balance_of(
        whitening, shots.embeddings, shots.class_ids, familiarity=familiarity, taught=taught
    )


def distance_to_balanced(given: Crowd, offset: Matrix) -> float:
    """From the true class-balanced mean."""
    means = [given.embeddings[given.rows(leaf)].mean(axis=0) for leaf in given.leaves]
    return float(np.linalg.norm(given.embeddings.mean(axis=0) + offset - np.mean(means, axis=0)))


@pytest.mark.parametrize("count", [4, 8])
def test_the_balanced_mean_is_nearer_than_that_of_all_images(count: int) -> None:
    given = one_large(crowd(PER_LEAF), others=10)
    balance = estimate(given, given.shots(count))
    assert balance.imbalance > 0.5
    assert distance_to_balanced(given, balance.offset) < 0.7 * distance_to_balanced(
        given, 0 * balance.offset
    )


@pytest.mark.parametrize("count", [4, 8])
def test_classes_of_one_size_are_balanced(count: int) -> None:
    """Over several draws: what few shots differ by is chance."""
    found = [
        estimate(given, given.shots(count)).imbalance
        for given in (crowd(seed=seed) for seed in range(5))
    ]
    assert np.mean(found) < 0.1


def test_shots_from_elsewhere_say_nothing_of_class_sizes() -> None:
    """They differ from the collection by where they were taken."""
    given = one_large(crowd(PER_LEAF), others=10)
    balance = estimate(given, given.shots(3), familiarity=0.4)
    assert balance.imbalance == 0
    assert not balance.is_moved


def test_images_of_classes_without_shots_say_nothing_of_class_sizes() -> None:
    """While most of the classes have no shot, most images may be theirs."""
    given = one_large(crowd(PER_LEAF), others=10)
    assert estimate(given, given.shots(4), taught=0.5).imbalance == 0
    assert (
        estimate(given, given.shots(4), taught=0.6).imbalance
        < estimate(given, given.shots(4)).imbalance
    )


@pytest.mark.slow
def test_labels_of_most_images_leave_those_of_classes_without(
    any_width: PropagationSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six of eight classes have labels.

    With few labels most other images are theirs, with many they are not.
    """
    given = photos([40] * 8, seed=0)
    taught: list[float] = []

    def noted(stage: StageInput) -> CollectionStage:
        taught.append(stage.taught)
        return fit_stage(stage)

    monkeypatch.setattr("engine.everyday.prototypical.fit.fit_stage", noted)
    for count in (4, 30):
        shots = given.shots(count)
        fitted(
            any_width,
            given,
            some_shots(shots, np.flatnonzero(np.isin(shots.class_ids, given.leaves[:6]))),
        )
    unseen, few, many = 2 * 40, 6 * (40 - 4), 6 * LEAST_LEFT * 40
    assert taught == pytest.approx([few / (few + unseen), many / (many + unseen)])


@pytest.mark.slow
def test_the_first_classes_keep_their_images(any_width: PropagationSession) -> None:
    """Two of eight classes have labels: classes without any do not take their images away."""
    right = []
    for seed in range(4):
        given = photos([40] * 8, seed)
        shots = given.shots(3)
        few = fitted(
            any_width,
            given,
            some_shots(shots, np.flatnonzero(np.isin(shots.class_ids, given.leaves[:2]))),
        )
        right.append(few.is_right[np.isin(few.truth, given.leaves[:2])].mean())
    assert np.mean(right) > 0.8


def test_one_class_has_no_balance() -> None:
    given = crowd()
    shots = given.shots(2)
    assert not estimate(
        given, some_shots(shots, np.flatnonzero(shots.class_ids == given.leaves[0]))
    ).is_moved


@pytest.mark.parametrize("directions", [6, 2])
def test_moved_vectors_are_those_of_a_whitening_around_the_other_mean(directions: int) -> None:
    """By lengths and one product an image, without whitening it a second time."""
    generator = np.random.default_rng(0)
    images = generator.normal(size=(20, 6)).astype(np.float32)
    whitening = Whitening(images.mean(axis=0), generator.normal(size=(6, 6)).astype(np.float32))
    matrix = whitening.matrix[:, -directions:]
    balance = ClassBalance(generator.normal(size=6).astype(np.float32), 0.5, 1.0, matrix)
    raw = ((images - whitening.mean) @ whitening.matrix).astype(np.float32)
    scales: Matrix = (1 / np.linalg.norm(raw, axis=1)).astype(np.float32)
    expected = balance.whitening(whitening).apply(images)
    np.testing.assert_allclose(balance.around(raw * scales[:, None], scales), expected, atol=1e-5)
    if directions < 6:
        return
    moved = (raw - balance.shift) * balance.scales(
        (raw @ balance.shift).astype(np.float32), scales
    )[:, None]
    np.testing.assert_allclose(moved, expected, atol=1e-4)


def test_balanced_classes_leave_chances_as_they_are() -> None:
    chances, regression = (
        np.random.default_rng(0).dirichlet(np.ones(4), size=(2, 5)).astype(np.float32)
    )
    none, half = (
        ClassBalance(np.zeros(3, dtype=np.float32), each, 1.0, np.eye(3, dtype=np.float32))
        for each in (0.0, 0.5)
    )
    np.testing.assert_allclose(none.blend(chances, regression), chances, atol=1e-5)
    blended = half.blend(chances, regression)
    np.testing.assert_allclose(blended.sum(axis=1), 1, atol=1e-5)
    assert not np.allclose(blended, chances, atol=1e-2)


@pytest.mark.parametrize(
    ("sizes", "certainty", "expected"),
    [([5, 5, 5, 5], 1, 0), ([8, 6, 5, 7], 1, 0), ([97, 1, 1, 1], 1, 1), ([97, 1, 1, 1], 0.5, 0.5)],
)
def test_estimated_sizes_tell_imbalance(
    sizes: Sequence[float], certainty: float, expected: float
) -> None:
    """By the effective number of classes: small differences count as none."""
    balance = ClassBalance(
        np.zeros(3, dtype=np.float32), 0.0, certainty, np.eye(3, dtype=np.float32)
    )
    found = balance.with_sizes(np.array(sizes, dtype=np.float32))
    assert found.imbalance == pytest.approx(expected, abs=0.01)
    assert balance.with_sizes(None) is balance
    assert balance.with_sizes(np.zeros(4, dtype=np.float32)) is balance


def test_a_collection_of_labelled_images_alone_can_be_fitted(any_width: PropagationSession) -> None:
    """Nothing is left to tell class sizes by."""
    given = photos([20, *[5] * 5], seed=0)
    shots = Shots(given.image_ids, given.truth, given.embeddings)
    model = fit(given.graph, shots, any_width, PRIOR, basis=given.basis(shots))
    assert np.isfinite(model.probabilities(given.embeddings, np.arange(len(given.truth)))).all()


def test_class_priors_are_the_sizes_that_probabilities_show() -> None:
    """Label shift: of a classifier that is right on classes of one size, on others."""
    generator = np.random.default_rng(0)
    truth = generator.choice(3, size=4000, p=[0.7, 0.2, 0.1])
    means = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    squares = ((means[truth] + generator.normal(size=(4000, 2)))[:, None, :] - means) ** 2
    likelihood = np.exp(-squares.sum(axis=2) / 2)
    balanced = (likelihood / likelihood.sum(axis=1, keepdims=True)).astype(np.float32)
    factors = class_priors(balanced, power=1.0)
    assert factors / factors.sum() == pytest.approx(
        (np.array([0.7, 0.2, 0.1]) + 0.1) / 1.3, abs=0.08
    )  # shrunk
    assert ((balanced * factors).argmax(axis=1) == truth).mean() > (
        balanced.argmax(axis=1) == truth
    ).mean() + 0.02
    assert class_priors(balanced, power=0.0) == pytest.approx(1)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [([1, 1, 1], 3), ([5, 5, 5], 11), ([1, 1, 100], 10), ([1] * 80, 118), ([1] * 200, 512)],
)
def test_few_shots_of_few_classes_are_compared_in_few_directions(
    counts: list[int], expected: int
) -> None:
    assert directions_for(np.array(counts), 512) == expected


def test_one_class_is_compared_in_all_directions() -> None:
    assert directions_for(np.array([4]), 512) == 512


@pytest.mark.parametrize(
    ("counts", "compared", "expected"),
    [
        ([1, 1, 1], 0.01, 0),
        ([3, 3, 3], 0.01, 0),
        ([6, 6, 6], 0.0, 0.6),
        ([6, 6, 6], 0.5, 0),
        ([6, 6, 6], 1.0, 0),
    ],
)
def test_a_regression_has_a_share_with_several_shots_of_few_classes(
    counts: list[int], compared: float, expected: float
) -> None:
    assert regression_share(np.array(counts), compared) == pytest.approx(expected)


def test_a_share_leaves_claims_as_sure_as_both() -> None:
    """Where both classifiers say the same, so does the blend."""
    chances = np.random.default_rng(0).dirichlet(np.ones(4), size=5).astype(np.float32)
    balance = ClassBalance(
        np.zeros(3, dtype=np.float32), 0.0, 1.0, np.eye(3, dtype=np.float32), joined=0.4
    )
    assert balance.has_regression
    np.testing.assert_allclose(balance.blend(chances, chances), chances, atol=1e-5)


# -- what it does to a collection


def photos(sizes: Sequence[int], seed: int) -> Crowd:
    """Classes of given sizes, spread around their means equally in all directions, like photos."""
    generator = np.random.default_rng(seed)
    names = [f"class {number}" for number in range(len(sizes))]
    graph = graph_of({"all": (), **dict.fromkeys(names, ("all",))})
    common = 3 * generator.normal(size=48)
    means = common + 0.6 * generator.normal(size=(len(sizes), 48))
    embeddings = np.concatenate(
        [mean + generator.normal(size=(size, 48)) for mean, size in zip(means, sizes, strict=True)]
    )
    truth = np.repeat([graph.find(name) for name in names], sizes)
    order = generator.permutation(len(truth))
    return Crowd(graph, unit(embeddings)[order], truth[order])


@pytest.fixture(scope="module")
def any_width() -> PropagationSession:
    return PropagationSession(width_agnostic_propagation())


def three_of_many_directions(seed: int) -> Crowd:
    """Classes that differ in three of 200 directions, and in one class in three more."""
    generator = np.random.default_rng(seed)
    names = ["one", "two", "three"]
    graph = graph_of({"all": (), **dict.fromkeys(names, ("all",))})
    truth = np.repeat([graph.find(name) for name in names], 40)
    images = 3 * np.random.default_rng(99).normal(size=200) + generator.normal(size=(120, 200))
    images[:, :3] += np.repeat(5 * np.eye(3), 40, axis=0)
    images[:, 3:6] *= 2
    order = generator.permutation(120)
    return Crowd(graph, unit(images)[order], truth[order])


@pytest.mark.slow
def test_directions_within_classes_do_not_drown_three_classes(
    any_width: PropagationSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one shot of each. In all directions a fifth of the images would be wrong."""

    def right() -> float:
        given = [three_of_many_directions(seed) for seed in (3, 4, 5)]
        return float(
            np.mean([fitted(any_width, each, each.shots(1)).is_right.mean() for each in given])
        )

    few = right()
    monkeypatch.setattr(
        f"{class_balance_of.__module__}.directions_for", lambda _counts, width: width
    )
    assert few > right() + 0.05


def varied_images(seed: int) -> Crowd:
    """As above, but images differ in thirty directions more than classes do in theirs."""
    given = three_of_many_directions(seed)
    generator = np.random.default_rng(seed)
    images = given.embeddings * 50
    images[:, 60:90] += 4 * generator.normal(size=(len(images), 30))
    return Crowd(given.graph, unit(images), given.truth)


@pytest.mark.slow
def test_several_shots_tell_classes_that_few_directions_do_not(
    any_width: PropagationSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def right() -> float:
        given = [varied_images(seed) for seed in range(6)]
        return float(
            np.mean([fitted(any_width, each, each.shots(16)).is_right.mean() for each in given])
        )

    joined = right()
    monkeypatch.setattr(
        f"{class_balance_of.__module__}.regression_share", lambda _counts, _compared: 0.0
    )
    assert joined > right() + 0.02


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_one_large_class_spoils_nothing(any_width: PropagationSession, count: int) -> None:
    """The stage helps where one class has two thirds of the images, and harms no other class.

    Compared from the collection's mean it would be 20 and more points worse.
    """
    gains: list[float] = []
    balanced_gains: list[float] = []
    for seed in range(4):
        given = photos([200, *[12] * 7], seed)
        shots = given.shots(count)
        with_stage = fitted(any_width, given, shots)
        plain = fit(given.graph, shots, any_width, PRIOR)
        free = ~np.isin(given.image_ids, shots.image_ids)
        right = (plain.candidate_ids[plain.classify(given.embeddings).best] == given.truth)[free]
        without = Fitted(plain, given.truth[free], right)
        gains.append(with_stage.is_right.mean() - right.mean())
        balanced_gains.append(with_stage.balanced - without.balanced)
    assert np.mean(gains) > 0.02
    assert np.mean(balanced_gains) > 0


@pytest.mark.slow
def test_more_images_of_a_class_leave_recall_as_it_is(any_width: PropagationSession) -> None:
    """Four times the images of one class.

    Neither its own recall nor that of the others falls by more than chance.
    """
    own: list[float] = []
    others: list[float] = []
    for seed in range(4):
        few, many = photos([40] * 8, seed), photos([160, *[40] * 7], seed)
        before, after = (fitted(any_width, each, each.shots(3)) for each in (few, many))
        for moved, is_large in ((own, True), (others, False)):
            recall = [
                each.is_right[(each.truth == few.leaves[LARGE]) == is_large].mean()
                for each in (before, after)
            ]
            moved.append(recall[1] - recall[0])
    assert np.mean(own) > -0.05
    assert np.mean(others) > -0.05


def test_each_way_to_classify_answers_alike(propagation: PropagationSession) -> None:
    """Images of the collection, the same as new ones, and the exported operators."""
    given = one_large(crowd(PER_LEAF), others=10)
    shots = given.shots(3)
    model = fitted(propagation, given, shots).model
    assert model.stage is not None
    assert model.stage.balance.imbalance > 0.3
    assert model.stage.calibration.priors is not None
    assert model.stage.calibration.priors.max() > 1.1
    assert_alike(model, given)


@pytest.mark.parametrize(("count", "directions"), [(1, 3), (4, 9)])
def test_each_way_to_compare_in_few_directions_answers_alike(
    any_width: PropagationSession, count: int, directions: int
) -> None:
    """With one shot of each of three classes, or four, from which a regression learns.

    One class is larger.
    """
    given = photos([60, 20, 20], seed=0)
    model = fitted(any_width, given, given.shots(count)).model
    assert model.stage is not None
    assert model.stage.balance.compared == directions / 48
    assert model.stage.balance.is_moved
    assert (model.stage.balance.joined > 0) == (count > 1)
    assert_alike(model, given)


def assert_alike(model: EverydayModel, given: Crowd) -> None:
    rows = np.arange(len(given.truth))
    expected = model.probabilities(given.embeddings, rows)
    by_rows = model.classify(given.embeddings)
    np.testing.assert_allclose(by_rows.best_score, expected.max(axis=1), atol=2e-3)
    fixed = model.classify(to_fixed(given.embeddings))
    np.testing.assert_allclose(fixed.best_score, by_rows.best_score, atol=2e-3)
    session = load_onnxruntime().InferenceSession(
        model.export(OPSET).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (exported,) = session.run([PROBABILITIES], {EMBEDDING: given.embeddings})
    np.testing.assert_allclose(exported, model.probabilities(given.embeddings), atol=1e-3)
