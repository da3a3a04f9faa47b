"""Boxes of one thing are reduced to the best of them."""

import numpy as np
import pytest

from engine.detection.detections import CATEGORY, SCORE, best_first, without_overlaps


def candidates(*rows: tuple[float, ...]) -> np.ndarray:
    """Left, top, right, lower edge, score and category of each."""
    return np.array(rows, dtype=np.float32).reshape(-1, 6)


def test_overlaps_of_a_category(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two squares of 10, moved by 3, share 70 of 130: more than 0.45, less than 0.6."""
    pair = candidates((0, 0, 10, 10, 0.6, 0), (3, 0, 13, 10, 0.9, 0))
    assert without_overlaps(pair, 9).tolist() == pair[1:].tolist()
    monkeypatch.setattr("engine.detection.detections.OVERLAP", 0.6)
    assert len(without_overlaps(pair, 9)) == 2


def test_another_category_stays() -> None:
    """A bird on a cow is a bird and a cow."""
    pair = candidates((0, 0, 10, 10, 0.6, 0), (0, 0, 10, 10, 0.9, 1))
    assert without_overlaps(pair, 9)[:, CATEGORY].tolist() == [1, 0]


def test_the_best_come_first() -> None:
    """At most so many."""
    apart = candidates(
        *(
            (20 * place, 0, 20 * place + 10, 10, score, 0)
            for place, score in enumerate((0.2, 0.9, 0.5))
        )
    )
    assert without_overlaps(apart, 2)[:, SCORE].tolist() == best_first(apart, 2)[:, SCORE].tolist()
    assert np.allclose(without_overlaps(apart, 9)[:, SCORE], (0.9, 0.5, 0.2))


def test_nothing_is_left_of_nothing() -> None:
    """And a box without an extent overlaps nothing."""
    assert without_overlaps(candidates(), 9).shape == (0, 6)
    assert len(without_overlaps(candidates((1, 1, 1, 1, 0.5, 0), (1, 1, 1, 1, 0.4, 0)), 9)) == 2


def test_chosen_boxes_do_not_overlap() -> None:
    """Of many random ones, in one category: each that went overlaps a better one that stayed."""
    generator = np.random.default_rng(0)
    corners = generator.random((300, 2)) * 80
    boxes = np.column_stack([corners, corners + 5 + generator.random((300, 2)) * 20])
    every = np.column_stack([boxes, generator.random(300), np.zeros(300)]).astype(np.float32)
    chosen = without_overlaps(every, 300)

    def shares(box: np.ndarray, others: np.ndarray) -> np.ndarray:
        sides = np.minimum(box[2:4], others[:, 2:4]) - np.maximum(box[:2], others[:, :2])
        common = np.clip(sides, 0, None).prod(axis=1)
        areas = (others[:, 2:4] - others[:, :2]).prod(axis=1) + (box[2:4] - box[:2]).prod()
        return common / (areas - common)

    for box in every:
        better = chosen[chosen[:, SCORE] >= box[SCORE]]
        is_chosen = (chosen == box).all(axis=1).any()
        assert (shares(box, better) > 0.45).sum() >= (0 if is_chosen else 1)
        assert not is_chosen or (shares(box, chosen) > 0.45).sum() == 1
