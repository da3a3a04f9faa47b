"""Blocks: whole, on every core, one thread for each product, and cancelled when requested."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from engine.errors import Cancelled
from engine.events import CancelToken
from engine.everyday.back_off import back_off
from engine.everyday.blocks import (
    SCALE,
    block_of,
    factor_of,
    in_blocks,
    one_thread_each,
    stop_if_requested,
    stopped_by,
    to_fixed,
    to_floats,
)
from engine.everyday.prototypical.classification import classify_all, linear_classifier
from engine.everyday.scores import similarity
from tests.support.everyday import tree

ROWS = 1000
BLOCK = 8


def _threads_of_a_product() -> int:
    np.ones((2, 2)) @ np.ones((2, 2))
    return max(int(pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas")


@pytest.mark.parametrize("count", [0, 1, BLOCK, BLOCK + 1, ROWS])
def test_every_row_is_worked_on_once(count: int) -> None:
    """Whatever the number of blocks."""
    done = np.zeros(count, dtype=np.int64)

    def work(rows: slice) -> None:
        done[rows] += 1

    in_blocks(count, work, BLOCK)
    assert (done == 1).all()


@pytest.mark.parametrize("count", [BLOCK, ROWS])
def test_it_stops_before_the_next_block(count: int) -> None:
    """Whoever asks, from whatever thread; what is outside the context goes on."""
    cancel = CancelToken()
    done: list[slice] = []

    def work(rows: slice) -> None:
        done.append(rows)
        cancel.cancel()

    def run() -> None:
        with stopped_by(cancel):
            in_blocks(count, work, BLOCK)
            stop_if_requested()

    with pytest.raises(Cancelled):
        run()
    assert len(done) < ROWS / BLOCK
    stop_if_requested()
    in_blocks(count, done.append, BLOCK)


def test_nobody_asked() -> None:
    """Without a token, or with one that says nothing, all is done."""
    for cancel in (None, CancelToken()):
        with stopped_by(cancel):
            stop_if_requested()
            in_blocks(ROWS, lambda _rows: None, BLOCK)


def test_a_question_does_not_wait_for_work_behind() -> None:
    """Blocks of the work behind that hold every one of its threads do not hold up others."""
    is_answered = threading.Event()
    answers: list[slice] = []
    behind = threading.Thread(target=_behind, args=(is_answered,))
    behind.start()
    in_blocks(ROWS, answers.append, BLOCK)
    is_answered.set()
    behind.join()
    assert len(answers) == ROWS / BLOCK


def _behind(is_answered: threading.Event) -> None:
    def work(_rows: slice) -> None:
        assert is_answered.wait(20), "the question waited"

    with stopped_by(None):
        in_blocks(ROWS, work, BLOCK)


def test_products_have_their_threads_back_when_the_last_one_is_done() -> None:
    """Two pieces of work beside one another.

    Who leaves first must not set the other's threads, nor leave them set.
    """
    before = _threads_of_a_product()
    with one_thread_each:
        is_inside, may_leave = threading.Event(), threading.Event()

        def other() -> None:
            with one_thread_each:
                is_inside.set()
                may_leave.wait(20)

        thread = threading.Thread(target=other)
        thread.start()
        is_inside.wait(20)
    assert _threads_of_a_product() == 1
    may_leave.set()
    thread.join()
    assert _threads_of_a_product() == before


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
    np.testing.assert_allclose(
        similarity(to_fixed(embeddings), vector), embeddings @ vector, atol=1e-4
    )


def test_classification_is_that_of_the_floats() -> None:
    """The most likely class and its score."""
    graph = tree(4, 5)
    leaves = np.array(graph.leaves())
    embeddings = unit_vectors(3000, seed=2)
    rules = back_off(graph, leaves, {})
    classifier = linear_classifier(unit_vectors(len(leaves), seed=1), 0.2)
    floats = classify_all(classifier, rules, embeddings)
    fixed = classify_all(classifier, rules, to_fixed(embeddings))
    assert (fixed.best != floats.best).mean() < 0.002
    np.testing.assert_allclose(fixed.best_score, floats.best_score, atol=2e-3)
