"""The queue of suspected label errors, without a window."""

from app.label_check.logic import LabelQueue
from engine.review.label_check import SuspectLabel, SuspectReason


def suspect(image_id: int, probability: float = 0.9) -> SuspectLabel:
    return SuspectLabel(
        image_id, 1, 2, probability, 0.8, SuspectReason.MODEL, ((2, 9),), None, (), (), (2, 1)
    )


def queue_of(*image_ids: int) -> LabelQueue:
    queue = LabelQueue()
    queue.renew([suspect(each, 1 - each / 100) for each in image_ids])
    return queue


def ids(queue: LabelQueue) -> list[int]:
    return [each.image_id for each in queue.open]


def test_the_first_is_under_the_eye_and_the_next_follows() -> None:
    queue = queue_of(1, 2, 3)
    assert queue.current == 1
    queue.settle([1])
    assert (queue.current, ids(queue)) == (2, [2, 3])
    queue.step(5)
    queue.settle([3])
    assert (queue.current, ids(queue)) == (2, [2])
    queue.settle([2])
    assert ids(queue) == []
    assert queue.current_suspect is None


def test_a_new_outcome_keeps_what_is_looked_at_and_forgets_no_decision() -> None:
    """The current label keeps its position and figures, also if the check no longer lists it."""
    queue = queue_of(1, 2, 3, 4)
    queue.settle([1])
    queue.go_to(3)
    queue.renew([suspect(each) for each in (1, 5, 4, 2)])
    assert (queue.current, ids(queue)) == (3, [5, 3, 4, 2])
    assert queue.current_suspect == suspect(3, 1 - 3 / 100)


def test_what_is_undone_comes_back_in_its_place_under_the_eye() -> None:
    queue = queue_of(1, 2, 3)
    queue.settle([1, 2])
    queue.reopen([2])
    assert (queue.current, ids(queue)) == (2, [2, 3])
    queue.reopen([7])
    assert ids(queue) == [2, 3]


def test_what_is_put_off_stays_last() -> None:
    queue = queue_of(1, 2, 3)
    queue.put_off([1])
    queue.put_off([2])
    assert (queue.current, ids(queue)) == (3, [3, 1, 2])
    queue.put_off([3])
    assert (queue.current, ids(queue)) == (1, [1, 2, 3])
    queue.renew([suspect(each) for each in (3, 2, 1, 4)])
    assert ids(queue)[0] in (1, 4)
    assert set(ids(queue)) == {1, 2, 3, 4}


def test_labels_that_changed_elsewhere_are_dropped() -> None:
    queue = queue_of(1, 2, 3)
    queue.drop([1, 3])
    assert (queue.current, ids(queue)) == (2, [2])
    queue.forget()
    assert (queue.current, ids(queue), list(queue.settled)) == (None, [], [])
