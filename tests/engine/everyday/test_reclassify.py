"""Working a few moved classes into the scores of a collection."""

import numpy as np

from engine.everyday.back_off import DEFAULT_BAR, back_off
from engine.everyday.classification import LinearClassifier, classify_all, reclassify
from engine.graph.category_graph import CategoryGraph

CLASSES = 100
MOVED = 5


def _classifier(offsets: np.ndarray[tuple[int], np.dtype[np.float32]]) -> LinearClassifier:
    """Logits are the embeddings themselves, plus offsets."""
    return LinearClassifier(np.eye(CLASSES, dtype=np.float32), offsets, np.zeros(CLASSES, dtype=np.float32), 1.0)


def test_many_small_moves_together_are_no_small_move() -> None:
    """Five classes that each gain 0.7 % push the likeliest one below its bar: its safe class must go."""
    graph = CategoryGraph()
    candidates = np.array([graph.add_class(f"Class {number}") for number in range(CLASSES)], dtype=np.int64)
    rules = back_off(graph, candidates, {})
    chances = np.full(CLASSES, (1 - 0.81 - MOVED * 0.001) / (CLASSES - 1 - MOVED), dtype=np.float32)
    chances[0], chances[1 : 1 + MOVED] = 0.81, 0.001
    embeddings, squares = np.log(chances)[None, :], np.ones(1, dtype=np.float32)
    offsets = np.zeros(CLASSES, dtype=np.float32)
    before = _classifier(offsets)
    raised = offsets.copy()
    raised[1 : 1 + MOVED] = np.log(8)
    after = _classifier(raised)

    scores = classify_all(before, rules, embeddings, squares)
    assert scores.safe_score[0] > DEFAULT_BAR
    full = classify_all(after, rules, embeddings, squares)
    updated = reclassify(scores, before, after, rules, embeddings, squares=squares)
    assert full.safe_class[0] == -1
    assert updated.safe_class[0] == -1
    np.testing.assert_allclose(updated.best_score, full.best_score, atol=1e-5)
