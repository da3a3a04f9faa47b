"""Ridge regression of classes on the embeddings of shots."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.everyday.collection_stage.refinement import chances_of
from engine.everyday.collection_stage.ridge import TEMPERATURE, ridge_classifier
from tests.support.everyday import unit

Matrix = NDArray[np.float32]
Integers = NDArray[np.int64]

WIDTH = 24
CLASSES = 4


def photos(per_class: int, *, spread: float, seed: int = 0) -> tuple[Matrix, Integers]:
    """Embeddings around the mean of each class."""
    generator = np.random.default_rng(seed)
    means = np.random.default_rng(100).normal(size=(CLASSES, WIDTH))
    classes = np.repeat(np.arange(CLASSES), per_class)
    noise = generator.normal(size=(len(classes), WIDTH))
    return unit(means[classes] + spread * noise), classes


def no_copies(classes: Integers) -> NDArray[np.bool_]:
    return np.zeros(len(classes), dtype=bool)


@pytest.mark.parametrize("per_class", [1, 3, 12])  # fewer shots than dimensions, and more
def test_images_get_their_class(per_class: int) -> None:
    shots, classes = photos(per_class, spread=0.7)
    classifier = ridge_classifier(shots, classes, CLASSES, has_copies=no_copies(classes))
    others, truth = photos(30, spread=0.7, seed=1)
    assert (chances_of(classifier, others).argmax(axis=1) == truth).mean() > 0.9


def test_dimensions_without_variance_change_nothing() -> None:
    """There are fewer shots than dimensions: the regression is solved in the dual space."""
    shots, classes = photos(12, spread=0.7)
    padded = np.concatenate([shots, np.zeros((len(shots), 60), dtype=np.float32)], axis=1)
    expected, found = (
        chances_of(ridge_classifier(each, classes, CLASSES, has_copies=no_copies(classes)), each)
        for each in (shots, padded)
    )
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_a_class_counts_alike_with_many_shots_and_with_few() -> None:
    """Ten shots of one class draw no images of the others to it."""
    shots, classes = photos(10, spread=1.2)
    uneven = np.flatnonzero((classes == 0) | (np.arange(len(classes)) % 10 == 0))
    classifier = ridge_classifier(
        shots[uneven], classes[uneven], CLASSES, has_copies=no_copies(uneven)
    )
    others, truth = photos(200, spread=1.2, seed=1)
    found = chances_of(classifier, others).argmax(axis=1)
    assert (found == 0).mean() < 0.35
    assert (found == truth).mean() > 0.6


def test_shots_left_out_set_the_temperature() -> None:
    """Where the others name their class it stays as sure as expected.

    Where they do not, it is less sure.
    """
    temperatures = []
    for spread in (0.2, 4.0):
        shots, classes = photos(8, spread=spread)
        classifier = ridge_classifier(shots, classes, CLASSES, has_copies=no_copies(classes))
        temperatures.append(classifier.temperature)
    assert temperatures[0] <= TEMPERATURE * 1.001
    assert temperatures[1] > TEMPERATURE * 1.2


def test_copies_are_no_evidence() -> None:
    """A shot that is left out while its copy stays is named by its copy."""
    shots, classes = photos(4, spread=4.0)
    twice, both = np.repeat(shots, 2, axis=0), np.repeat(classes, 2)
    temperature = ridge_classifier(twice, both, CLASSES, has_copies=~no_copies(both)).temperature
    assert temperature == pytest.approx(TEMPERATURE)
    without = ridge_classifier(shots, classes, CLASSES, has_copies=no_copies(classes)).temperature
    assert without > TEMPERATURE * 1.2


def test_a_class_without_shots_is_no_image_s_best_guess_among_those_of_others() -> None:
    shots, classes = photos(3, spread=0.5)
    classifier = ridge_classifier(shots, classes, CLASSES + 1, has_copies=no_copies(classes))
    assert not classifier.weights[CLASSES].any()
    others, truth = photos(30, spread=0.5, seed=1)
    assert (chances_of(classifier, others).argmax(axis=1) == truth).mean() > 0.9


@pytest.mark.parametrize("count", [0, 1])
def test_one_class_differs_from_nothing(count: int) -> None:
    shots, classes = photos(3, spread=0.5)
    few = np.flatnonzero(classes < count)
    classifier = ridge_classifier(shots[few], classes[few], CLASSES, has_copies=no_copies(few))
    np.testing.assert_allclose(chances_of(classifier, shots), 1 / CLASSES, atol=1e-6)
