from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.everyday.back_off import BackOff, Policy, back_off
from engine.everyday.blocks import BLOCK_ROWS
from engine.everyday.classification import (
    SMALL_SCORE,
    LinearClassifier,
    Scores,
    classify_all,
    likeness,
    linear_classifier,
    reclassify,
)
from tests.support.everyday import WIDTH, Matrix, collection, tree, unit

TEMPERATURE = 0.1
ROWS = 2 * BLOCK_ROWS + 100


class World:
    """Images around the prototypes of a tree's leaves, and the rules above them."""

    def __init__(self, branches: int = 5, leaves: int = 8, *, temperature: float = TEMPERATURE, seed: int = 0) -> None:
        drawn = collection(tree(branches, leaves), seed=seed)
        leaf_ids = drawn.graph.leaves()
        self.temperature = temperature
        self.generator = drawn.generator
        self.prototypes: Matrix = np.stack([drawn.means[leaf] for leaf in leaf_ids])
        self.images, self.truth = drawn.images_of_each(leaf_ids, ROWS // len(leaf_ids) + 1)
        self.squares: Matrix = (self.images**2).sum(axis=1)
        self.rules: BackOff = back_off(drawn.graph, np.array(leaf_ids), {2: Policy(bar=0.6)})

    def classifier(self, prototypes: Matrix, zero_shot: NDArray[np.bool_] | None = None) -> LinearClassifier:
        """Eq. 2 with these prototypes."""
        return linear_classifier(prototypes, self.temperature, is_zero_shot=zero_shot, spread=0.7, own_distance=0.3)

    def classify(self, classifier: LinearClassifier) -> Scores:
        """A full pass."""
        return classify_all(classifier, self.rules, self.images, self.squares)

    def again(self, before: Scores, old: LinearClassifier, new: LinearClassifier) -> Scores:
        """The update, on a copy."""
        return reclassify(before.copy(), old, new, self.rules, self.images, squares=self.squares)


def _assert_same_scores(found: Scores, full: Scores) -> None:
    np.testing.assert_array_equal(found.best, full.best)
    np.testing.assert_allclose(found.best_score, full.best_score, atol=1e-5)


def _assert_same_as_full(world: World, old: LinearClassifier, new: LinearClassifier) -> Scores:
    """Best class and score everywhere; the safe class wherever the moved classes hold a score worth looking at."""
    before, full = world.classify(old), world.classify(new)
    found = world.again(before, old, new)
    _assert_same_scores(found, full)
    moved = np.flatnonzero((old.weights != new.weights).any(axis=1) | (old.offsets != new.offsets))
    shares = np.maximum(
        np.exp(old.logits(world.images, world.squares)[:, moved] - before.log_total[:, None]),
        np.exp(new.logits(world.images, world.squares)[:, moved] - before.log_total[:, None]),
    )
    touched = shares.sum(axis=1) > SMALL_SCORE * 1.001
    np.testing.assert_array_equal(found.safe_class[touched], full.safe_class[touched])
    np.testing.assert_allclose(found.safe_score[touched], full.safe_score[touched], atol=1e-5)
    assert (found.safe_class != full.safe_class).mean() < 0.01
    return found


def _moved(world: World, places: list[int], step: float) -> Matrix:
    prototypes = world.prototypes.copy()
    prototypes[places] += step * world.generator.normal(size=(len(places), WIDTH)).astype(np.float32)
    return prototypes


# -- one pass -----------------------------------------------------------------------------------------------------


def test_eq_2_by_hand() -> None:
    """Squared distances 0.5 and 1 at temperature 0.5: 1 / (1 + exp(-1)) = 0.731059."""
    prototypes = np.array([[0.5, 0.5], [0.0, 0.0]], dtype=np.float32)
    classifier = linear_classifier(prototypes, 0.5)
    rules = back_off(tree(1, 2), np.array([3, 4]), {})
    image = np.array([[1.0, 0.0]], dtype=np.float32)
    scores = classify_all(classifier, rules, image, np.ones(1, np.float32))
    assert scores.best.tolist() == [0]
    assert scores.best_score[0] == pytest.approx(0.731059, abs=1e-6)
    assert scores.safe_class.tolist() == [2]
    assert scores.safe_score[0] == pytest.approx(1.0)


def test_a_full_pass_is_a_softmax_over_true_distances() -> None:
    """Over blocks and threads, against plain numpy in double precision."""
    world = World()
    scores = world.classify(world.classifier(world.prototypes))
    squared = ((world.images[:, None].astype(np.float64) - world.prototypes[None]) ** 2).sum(axis=2)
    powers = np.exp(-squared / TEMPERATURE)
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(scores.best, probabilities.argmax(axis=1))
    np.testing.assert_allclose(scores.best_score, probabilities.max(axis=1), atol=1e-5)
    masses = probabilities @ world.rules.roll_up
    safe, score = world.rules.decide(scores.best, probabilities.max(axis=1), masses.astype(np.float32))
    agree = scores.safe_class == safe
    assert agree.mean() > 0.999
    np.testing.assert_allclose(scores.safe_score[agree], score[agree], atol=1e-5)


def test_no_images_no_scores() -> None:
    """An empty collection."""
    world = World()
    scores = classify_all(
        world.classifier(world.prototypes), world.rules, np.empty((0, WIDTH), np.float32), np.empty(0, np.float32)
    )
    assert len(scores.best) == 0


def test_one_class_takes_all() -> None:
    """With a probability of one."""
    world = World()
    rules = back_off(tree(1, 1), np.array([3]), {})
    scores = classify_all(world.classifier(world.prototypes[:1]), rules, world.images, world.squares)
    assert set(scores.best.tolist()) == {0}
    assert (scores.best_score == 1).all()
    assert set(scores.safe_class.tolist()) == {3}


def test_a_column_is_a_column_of_the_logits() -> None:
    """Also of a zero-shot class."""
    world = World()
    classifier = world.classifier(world.prototypes, np.arange(len(world.prototypes)) % 2 == 0)
    logits = classifier.logits(world.images, world.squares)
    for place in (0, 1):
        column = likeness(world.images, classifier.weights[place])
        classifier.finish(column, place, world.squares)
        np.testing.assert_allclose(column, logits[:, place], rtol=1e-4, atol=1e-4)


def test_a_zero_shot_class_by_hand() -> None:
    """Temperature 0.5 and spread 1: its logit is -||x - P||² / (0.5 * 2) - 0.3 / 0.5 * log(2)."""
    image, prototype = np.array([[0.6, 0.8]], dtype=np.float32), np.array([[0.0, 0.5], [0.6, 0.0]], dtype=np.float32)
    classifier = linear_classifier(prototype, 0.5, is_zero_shot=np.array([True, False]), spread=1.0, own_distance=0.3)
    zero_shot, ordinary = classifier.logits(image, np.ones(1, np.float32))[0].tolist()
    # ||x - P||²: 0.36 + 0.09 = 0.45 and 0.64. Logits are up to ||x||² / 0.5 = 2, which both lack.
    assert zero_shot - 2 == pytest.approx(-0.45 - 0.6 * np.log(2), abs=1e-6)
    assert ordinary - 2 == pytest.approx(-1.28, abs=1e-6)


@pytest.mark.parametrize("zero_shot", [False, True])
@pytest.mark.parametrize("temperature", [0.02, 0.1, 1.0])
def test_the_distance_comes_back_from_the_logits(temperature: float, zero_shot: bool) -> None:
    """For images of length one, with and without zero-shot classes among the best."""
    world = World(temperature=temperature)
    is_zero_shot = (np.arange(len(world.prototypes)) % 3 == 0) & zero_shot
    classifier = world.classifier(world.prototypes, is_zero_shot)
    scores = world.classify(classifier)
    assert is_zero_shot[scores.best].any() == zero_shot
    expected = ((world.images - world.prototypes[scores.best]) ** 2).sum(axis=1)
    np.testing.assert_allclose(classifier.squared_distance(scores), expected, rtol=1e-4, atol=1e-5)


# -- the update ---------------------------------------------------------------------------------------------------


def test_nothing_moved_nothing_changes() -> None:
    """The very same scores."""
    world = World()
    classifier = world.classifier(world.prototypes)
    before = world.classify(classifier)
    same = world.classifier(world.prototypes.copy())
    assert reclassify(before, classifier, same, world.rules, world.images, squares=world.squares) is before
    _assert_same_scores(before, world.classify(classifier))


@pytest.mark.parametrize("step", [0.02, 0.3])
@pytest.mark.parametrize("place", [0, 17])
def test_one_moved_class(place: int, step: float) -> None:
    """A little and a lot."""
    world = World(seed=place)
    _assert_same_as_full(world, world.classifier(world.prototypes), world.classifier(_moved(world, [place], step)))


def test_the_winning_class_gets_worse() -> None:
    """Its images go to others, and their totals shrink to a small part."""
    world = World()
    prototypes = world.prototypes.copy()
    prototypes[3] = -3 * prototypes[3]
    old, new = world.classifier(world.prototypes), world.classifier(prototypes)
    found = _assert_same_as_full(world, old, new)
    assert (world.classify(old).best == 3).any()
    assert not (found.best == 3).any()


def test_a_class_takes_over_from_far_away() -> None:
    """A prototype that was nowhere lands amid the images of another class."""
    world = World()
    far = world.prototypes.copy()
    far[7] = 5.0
    near = world.prototypes.copy()
    near[7] = world.images[world.truth == world.truth[0]].mean(axis=0)
    old, new = world.classifier(far), world.classifier(near)
    found = _assert_same_as_full(world, old, new)
    assert not (world.classify(old).best == 7).any()
    assert (found.best == 7).any()


@pytest.mark.parametrize("count", [2, 3, 40])
def test_many_moved_classes(count: int) -> None:
    """On both sides of the count above which a full pass is cheaper."""
    world = World()
    places = list(range(0, 40, 40 // count))[:count]
    _assert_same_as_full(world, world.classifier(world.prototypes), world.classifier(_moved(world, places, 0.2)))


def test_moved_classes_among_zero_shot_ones() -> None:
    """A zero-shot class moves, and another one gets its first shot."""
    world = World()
    zero_shot = np.arange(40) % 4 == 0
    old = world.classifier(world.prototypes, zero_shot)
    _assert_same_as_full(world, old, world.classifier(_moved(world, [4], 0.2), zero_shot))
    seen = zero_shot.copy()
    seen[8] = False
    _assert_same_as_full(world, old, world.classifier(_moved(world, [8], 0.2), seen))


def test_a_first_shot_exactly_on_the_propagated_prototype() -> None:
    """The prototype stays; only its breadth changes."""
    world = World()
    zero_shot = np.arange(40) == 8
    old, new = world.classifier(world.prototypes, zero_shot), world.classifier(world.prototypes)
    _assert_same_as_full(world, old, new)


def test_scores_so_flat_that_the_winner_holds_less_than_a_small_score() -> None:
    """Two hundred classes at a high temperature: every share is below `SMALL_SCORE`, and yet the best must be right."""
    world = World(10, 20, temperature=50.0)
    far, near = world.prototypes.copy(), world.prototypes.copy()
    far[7], near[7] = 5.0, world.images[world.truth == world.truth[0]].mean(axis=0)
    old, new = world.classifier(far), world.classifier(near)
    before, full = world.classify(old), world.classify(new)
    assert before.best_score.max() < SMALL_SCORE
    assert (before.best != full.best).any()
    _assert_same_scores(world.again(before, old, new), full)


def test_a_long_session_does_not_drift() -> None:
    """Sixty classes moved one after the other: best and score still those of a full pass, safe classes nearly all."""
    world = World()
    prototypes = world.prototypes
    old = world.classifier(prototypes)
    scores = world.classify(old)
    for turn in range(60):
        prototypes = prototypes.copy()
        prototypes[turn % 40] += 0.05 * world.generator.normal(size=WIDTH).astype(np.float32)
        new = world.classifier(prototypes)
        scores, old = world.again(scores, old, new), new
    full = world.classify(old)
    np.testing.assert_array_equal(scores.best, full.best)
    assert (scores.safe_class != full.safe_class).mean() < 0.005
    np.testing.assert_allclose(scores.best_score, full.best_score, atol=1e-5)


def test_scores_are_updated_in_place() -> None:
    """The given scores are the ones brought up to date: a session keeps one set of arrays."""
    world = World()
    old = world.classifier(world.prototypes)
    new = world.classifier(_moved(world, [3], 0.5))
    scores = world.classify(old)
    updated = reclassify(scores, old, new, world.rules, world.images, squares=world.squares)
    assert updated is scores
    _assert_same_scores(scores, world.classify(new))


def test_scores_can_be_put_into_rows() -> None:
    """Part of a collection is classified later."""
    world = World()
    full = world.classify(world.classifier(world.prototypes))
    scores = Scores.empty(len(world.images))
    for rows in (np.arange(0, len(world.images), 2), np.arange(1, len(world.images), 2)):
        scores.put(rows, replace(full, **{name: array[rows] for name, array in vars(full).items()}))
    for name, array in vars(full).items():
        np.testing.assert_array_equal(getattr(scores, name), array)


def test_images_need_not_be_in_order() -> None:
    """Permuting images permutes their scores."""
    world = World()
    classifier = world.classifier(world.prototypes)
    full = world.classify(classifier)
    order = world.generator.permutation(len(world.images))
    images = unit(world.images[order])
    shuffled = classify_all(classifier, world.rules, images, (images**2).sum(axis=1))
    np.testing.assert_array_equal(shuffled.best, full.best[order])
    np.testing.assert_allclose(shuffled.best_score, full.best_score[order], atol=1e-5)
