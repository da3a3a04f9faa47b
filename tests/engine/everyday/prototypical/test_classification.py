from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.everyday.back_off import BackOff, Policy, back_off
from engine.everyday.blocks import BLOCK_ROWS
from engine.everyday.prototypical.classification import (
    LinearClassifier,
    classify_all,
    linear_classifier,
)
from engine.everyday.scores import Scores, similarity
from tests.support.everyday import WIDTH, Matrix, collection, tree, unit

TEMPERATURE = 0.1
ROWS = 2 * BLOCK_ROWS + 100


class World:
    """Images around the prototypes of a tree's leaves, and the rules above them."""

    def __init__(
        self, branches: int = 5, leaves: int = 8, *, temperature: float = TEMPERATURE, seed: int = 0
    ) -> None:
        drawn = collection(tree(branches, leaves), seed=seed)
        leaf_ids = drawn.graph.leaves()
        self.temperature = temperature
        self.generator = drawn.generator
        self.prototypes: Matrix = np.stack([drawn.means[leaf] for leaf in leaf_ids])
        self.images, self.truth = drawn.images_of_each(leaf_ids, ROWS // len(leaf_ids) + 1)
        self.rules: BackOff = back_off(drawn.graph, np.array(leaf_ids), {2: Policy(bar=0.6)})

    def classifier(
        self, prototypes: Matrix, zero_shot: NDArray[np.bool_] | None = None
    ) -> LinearClassifier:
        """Eq. 2 with these prototypes."""
        return linear_classifier(
            prototypes, self.temperature, is_zero_shot=zero_shot, spread=0.7, own_distance=0.3
        )

    def classify(self, classifier: LinearClassifier) -> Scores:
        """A full pass."""
        return classify_all(classifier, self.rules, self.images)


def test_eq_2_by_hand() -> None:
    """Squared distances 0.5 and 1 at temperature 0.5: 1 / (1 + exp(-1)) = 0.731059."""
    prototypes = np.array([[0.5, 0.5], [0.0, 0.0]], dtype=np.float32)
    classifier = linear_classifier(prototypes, 0.5)
    rules = back_off(tree(1, 2), np.array([3, 4]), {})
    image = np.array([[1.0, 0.0]], dtype=np.float32)
    scores = classify_all(classifier, rules, image)
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
    safe, score = world.rules.decide(
        scores.best.astype(np.int64), probabilities.max(axis=1), masses.astype(np.float32)
    )
    agree = scores.safe_class == safe
    assert agree.mean() > 0.999
    np.testing.assert_allclose(scores.safe_score[agree], score[agree], atol=1e-5)


def test_no_images_no_scores() -> None:
    """An empty collection."""
    world = World()
    scores = classify_all(
        world.classifier(world.prototypes),
        world.rules,
        np.empty((0, WIDTH), np.float32),
    )
    assert len(scores.best) == 0


def test_one_class_takes_all() -> None:
    """With a probability of one."""
    world = World()
    rules = back_off(tree(1, 1), np.array([3]), {})
    scores = classify_all(world.classifier(world.prototypes[:1]), rules, world.images)
    assert set(scores.best.tolist()) == {0}
    assert (scores.best_score == 1).all()
    assert set(scores.safe_class.tolist()) == {3}


def test_similarity_is_a_column_of_the_product() -> None:
    """Over blocks, with all images."""
    world = World()
    np.testing.assert_allclose(
        similarity(world.images, world.prototypes[3]),
        world.images @ world.prototypes[3],
        rtol=1e-5,
        atol=1e-6,
    )


def test_a_zero_shot_class_by_hand() -> None:
    """Temperature 0.5 and spread 1: its logit is -||x - P||² / (0.5 * 2) - 0.3 / 0.5 * log(2)."""
    image, prototype = (
        np.array([[0.6, 0.8]], dtype=np.float32),
        np.array([[0.0, 0.5], [0.6, 0.0]], dtype=np.float32),
    )
    classifier = linear_classifier(
        prototype, 0.5, is_zero_shot=np.array([True, False]), spread=1.0, own_distance=0.3
    )
    zero_shot, ordinary = classifier.logits(image)[0].tolist()
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
    shuffled = classify_all(classifier, world.rules, images)
    np.testing.assert_array_equal(shuffled.best, full.best[order])
    np.testing.assert_allclose(shuffled.best_score, full.best_score[order], atol=1e-5)
