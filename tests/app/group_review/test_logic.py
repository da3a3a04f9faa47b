"""State of the review queue: answers, ticks, undo, and queues that arrive meanwhile."""

from dataclasses import replace

import pytest

from app.group_review.logic import AnswerKind, Review, majority_of, without
from engine.collection.review_groups import ReviewGroup, ReviewMemory, ReviewQueue
from engine.everyday.classifier import ScoredClass
from engine.everyday.scores import PRIOR_ERRORS
from engine.graph.codes import NO_CLASS, UNKNOWN

GROUP = ReviewGroup(
    (1, 2, 3, 4),
    1,
    7,
    (0.4, 0.2, 0.1, 0.1),
    5,
    (0.1, 0.1, 0.0, 0.0),
    (ScoredClass(7, 0.8), ScoredClass(8, 0.1)),
    9,
    NO_CLASS,
    is_sure=True,
    is_held_back=False,
)


def queue_of(*groups: ReviewGroup) -> ReviewQueue:
    """A complete queue of these groups."""
    return ReviewQueue(groups, (), sum(len(each.image_ids) for each in groups), None)  # type: ignore[arg-type]


@pytest.fixture
def review() -> Review:
    """A review at the first of three groups."""
    review = Review(ReviewMemory())
    review.take(
        queue_of(
            GROUP, replace(GROUP, image_ids=(5, 6, 7, 8)), replace(GROUP, image_ids=(9, 10, 11, 12))
        ),
        (),
    )
    return review


def test_a_group_without_some_images() -> None:
    """Expected errors, outliers and settled images are adjusted."""
    left = without(GROUP, {1, 3})
    assert left is not None
    assert (left.image_ids, left.odd, left.settles) == ((2, 4), 0, 7)
    assert left.expected_errors == pytest.approx(0.3)
    assert without(GROUP, {1, 2, 3, 4}) is None
    assert without(GROUP, {99}) is GROUP


def test_what_most_of_a_group_are() -> None:
    """The class is the proposed one, else the most likely one, else none."""
    assert majority_of(GROUP) == 7
    assert majority_of(replace(GROUP, class_id=NO_CLASS)) == 7
    assert majority_of(replace(GROUP, class_id=NO_CLASS, tops=())) == NO_CLASS


def test_an_answer_is_about_the_ticked_and_goes_on(review: Review) -> None:
    """An image left out counts as an error of the model; M includes it."""
    review.toggle(1)
    decision = review.label(7, children=())
    assert decision is not None
    assert (decision.image_ids, decision.left_out) == ((2, 3, 4), frozenset({1}))
    assert review.memory.dismissed == {1: frozenset({7})}
    odds = pytest.approx((PRIOR_ERRORS + 1) / (PRIOR_ERRORS + GROUP.expected_errors))
    assert review.memory.error_odds == {7: odds, NO_CLASS: odds}
    assert review.current is not None
    assert (review.current.image_ids[0], review.position, review.labelled) == (5, 2, 3)
    review.toggle_all()
    assert review.label(7, children=()) is None
    assert review.label(7, children=(), every=True) is not None


def test_answers_say_how_far_a_class_is_right(review: Review) -> None:
    """A class that was always right is trusted more, and so are classes without answers."""
    review.label(7, children=())
    odds = pytest.approx(PRIOR_ERRORS / (PRIOR_ERRORS + GROUP.expected_errors))
    assert review.memory.error_odds == {7: odds, NO_CLASS: odds}
    sure = Review(ReviewMemory())
    sure.take(queue_of(replace(GROUP, errors=(0.4, 0.4, 0.1, 0.1))), ())
    sure.toggle(1)
    sure.label(7, children=())
    assert sure.memory.error_odds == pytest.approx({7: 1, NO_CLASS: 1})


def test_the_group_under_the_eye_stays_while_queues_come(review: Review) -> None:
    """Its images and those decided meanwhile are removed from later groups."""
    newer = replace(GROUP, image_ids=(4, 5, 20, 21))
    review.take(queue_of(newer), decided={20})
    assert review.current is GROUP
    assert [each.image_ids for each in review.ahead] == [(5, 21)]


def test_labels_from_elsewhere_take_images_out(review: Review) -> None:
    """A group without remaining images is skipped."""
    assert review.drop({2, 6})
    assert review.current is not None
    assert review.current.image_ids == (1, 3, 4)
    assert not review.drop({99})
    assert review.drop({1, 3, 4})
    assert review.current.image_ids == (5, 7, 8)


def test_taking_back_shows_the_group_as_it_was(review: Review) -> None:
    """Ticks, memory and position; the group in between follows it."""
    review.toggle(2)
    review.label(7, children=())
    assert review.is_taken_back_by({1: NO_CLASS, 3: NO_CLASS, 4: NO_CLASS}, ())
    assert not review.is_taken_back_by({1: 7, 3: 7, 4: 7}, ())
    assert not review.is_taken_back_by({1: NO_CLASS}, ())
    review.take_back()
    assert (review.current, review.left_out, review.position) == (GROUP, {2}, 1)
    assert review.memory == ReviewMemory()
    assert review.ahead[0].image_ids[0] == 5


def test_dismissed_passed_and_unknown(review: Review) -> None:
    """What each stores in the memory."""
    review.toggle(1)
    dismissed = review.dismiss()
    assert dismissed is not None
    assert (dismissed.kind, review.memory.dismissed) == (
        AnswerKind.DISMISSED,
        dict.fromkeys((2, 3, 4), frozenset({7})),
    )
    review.pass_over()
    assert review.memory.passed == {5: 1, 6: 1, 7: 1, 8: 1}
    odds = review.memory.error_odds
    review.label(UNKNOWN, children=())
    assert review.memory.error_odds == odds
    assert review.current is None
    assert review.label(7, children=()) is None


def test_a_coarse_answer_is_remembered_until_a_finer_one(review: Review) -> None:
    """A broader class contradicts no proposal."""
    review.label(5, children=(7, 8))
    assert (review.memory.branches, review.memory.error_odds) == (
        dict.fromkeys((1, 2, 3, 4), 5),
        {},
    )
    review.take(queue_of(replace(GROUP, branch=5)), decided=())
    while review.current is not None and review.current.branch != 5:
        review.pass_over()
    review.label(8, children=())
    assert review.memory.branches == {}
    assert review.memory.error_odds[NO_CLASS] > 1


def test_leaving_the_page_forgets_the_queue_not_the_answers(review: Review) -> None:
    """The next visit begins with a new queue."""
    review.label(7, children=())
    review.leave()
    assert (review.current, review.count, len(review.decisions)) == (None, 0, 1)
