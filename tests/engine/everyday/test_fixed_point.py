"""Embeddings in 16 bits."""

import numpy as np

from engine.everyday.back_off import back_off
from engine.everyday.blocks import SCALE, block_of, factor_of, to_fixed, to_floats
from engine.everyday.prototypical.classification import classify_all, linear_classifier
from engine.everyday.scores import similarity
from tests.support.everyday import tree

WIDTH = 48


def unit_vectors(count: int, seed: int = 0) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Random embeddings of length 1."""
    drawn = np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def test_numbers_by_hand() -> None:
    """Ends of the range, nothing, and halves rounded to even."""
    found = to_fixed(np.array([[1.0, -1.0, 0.0, 0.5]], dtype=np.float32))
    assert found.tolist() == [[32767, -32767, 0, 16384]]
    assert to_floats(found)[0, 0] == 1.0


def test_there_and_back_is_within_half_a_step() -> None:
    """Rounding is all that is lost."""
    embeddings = unit_vectors(200)
    assert np.abs(to_floats(to_fixed(embeddings)) - embeddings).max() <= 0.51 / SCALE


def test_a_block_times_its_factor_is_the_embeddings() -> None:
    """For floats and for fixed point."""
    embeddings = unit_vectors(50)
    np.testing.assert_array_equal(block_of(embeddings) * factor_of(embeddings), embeddings)
    fixed = to_fixed(embeddings)
    np.testing.assert_allclose(block_of(fixed) * factor_of(fixed), embeddings, atol=2e-5)


def test_similarity_is_the_inner_product() -> None:
    """Over several blocks."""
    embeddings, vector = unit_vectors(5000), unit_vectors(1)[0]
    np.testing.assert_allclose(similarity(to_fixed(embeddings), vector), embeddings @ vector, atol=1e-4)


def test_classification_is_that_of_the_floats() -> None:
    """The likeliest class and its score."""
    graph = tree(4, 5)
    leaves = np.array(graph.leaves())
    embeddings = unit_vectors(3000, seed=2)
    squares, rules = np.ones(3000, dtype=np.float32), back_off(graph, leaves, {})
    classifier = linear_classifier(unit_vectors(len(leaves), seed=1), 0.2)
    floats = classify_all(classifier, rules, embeddings, squares)
    fixed = classify_all(classifier, rules, to_fixed(embeddings), squares)
    assert (fixed.best != floats.best).mean() < 0.002
    np.testing.assert_allclose(fixed.best_score, floats.best_score, atol=2e-3)
