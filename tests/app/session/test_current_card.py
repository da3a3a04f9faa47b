"""The ranking on the current card is frozen until it is left; keys respect a reaction time."""

from dataclasses import replace

import pytest

from app.session.current_card import QUIET_S, REACTION_S, FrozenRanking, Ranking
from engine.collection.state import NO_CLASS
from engine.everyday.classifier import ScoredClass

IMAGE = 7
APPLE, BANANA, CHERRY, FRUIT = 1, 2, 3, 9


class Clock:
    """A clock that a test sets, in seconds."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        """The time in seconds."""
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    """A stopped clock."""
    return Clock()


@pytest.fixture
def frozen(clock: Clock) -> FrozenRanking:
    """A frozen ranking of Apple, Banana."""
    frozen = FrozenRanking(clock)
    frozen.look_at(ranked(APPLE, BANANA))
    return frozen


def ranked(*classes: int, safe: int = NO_CLASS, is_complete: bool = True) -> Ranking:
    """A ranking of classes, most likely first."""
    tops = tuple(ScoredClass(class_id, 0.9 / (place + 1)) for place, class_id in enumerate(classes))
    return Ranking(
        IMAGE, classes[0], 0.9, safe, 0.9, is_unknown=False, tops=tops, is_complete=is_complete
    )


def shown(frozen: FrozenRanking) -> list[int]:
    """The classes on the screen."""
    assert frozen.shown is not None
    return [top.class_id for top in frozen.shown.tops]


def meant(frozen: FrozenRanking) -> list[int]:
    """The classes that keys refer to."""
    assert frozen.meant is not None
    return [top.class_id for top in frozen.meant.tops]


def test_new_predictions_wait(frozen: FrozenRanking) -> None:
    """The shown ranking stays; a flag marks a pending one."""
    frozen.offer(ranked(BANANA, APPLE))
    assert (shown(frozen), meant(frozen), frozen.has_news) == (
        [APPLE, BANANA],
        [APPLE, BANANA],
        True,
    )


def test_only_figures_are_no_news(frozen: FrozenRanking) -> None:
    """Other scores are taken over after a quiet moment, without a mark."""
    other = ranked(APPLE, BANANA)
    frozen.offer(replace(other, tops=(replace(other.tops[0], score=0.2), other.tops[1])))
    assert frozen.pending is not None
    assert not frozen.has_news


def test_what_waits_is_shown_after_a_quiet_second(frozen: FrozenRanking, clock: Clock) -> None:
    """A pending ranking is not shown while keys are pressed or the pointer hovers."""
    frozen.offer(ranked(BANANA, APPLE))
    clock.now_s += QUIET_S - 0.1
    assert not frozen.settle()
    frozen.freeze()
    clock.now_s += QUIET_S - 0.1
    assert not frozen.settle()
    clock.now_s += 0.1
    assert frozen.settle()
    assert (shown(frozen), frozen.has_news) == ([BANANA, APPLE], False)


def test_a_key_right_after_a_change_means_what_stood_there_before(
    frozen: FrozenRanking, clock: Clock
) -> None:
    """The reaction time is 400 ms, from the paint on."""
    frozen.offer(ranked(BANANA, APPLE))
    frozen.take_over()
    clock.now_s += 2 * REACTION_S
    assert (shown(frozen), meant(frozen)) == ([BANANA, APPLE], [APPLE, BANANA])
    frozen.start_reaction()
    clock.now_s += REACTION_S - 0.01
    assert (shown(frozen), meant(frozen)) == ([BANANA, APPLE], [APPLE, BANANA])
    clock.now_s += 0.02
    assert meant(frozen) == [BANANA, APPLE]


def test_rows_that_were_missing_are_added_below(frozen: FrozenRanking) -> None:
    """The first prediction was on the card before the others were known; it stays first."""
    frozen.look_at(ranked(APPLE, is_complete=False))
    frozen.offer(ranked(CHERRY, APPLE, BANANA))
    assert shown(frozen) == [APPLE, CHERRY, BANANA]
    assert frozen.has_news


def test_another_card_is_shown_as_it_is_known(frozen: FrozenRanking) -> None:
    """A pending ranking of the previous card is dropped."""
    frozen.offer(ranked(BANANA, APPLE))
    frozen.look_at(ranked(CHERRY, BANANA))
    assert (shown(frozen), meant(frozen), frozen.has_news) == (
        [CHERRY, BANANA],
        [CHERRY, BANANA],
        False,
    )


def test_a_card_without_a_prediction_takes_the_first_one_at_once(frozen: FrozenRanking) -> None:
    """There was no ranking to freeze."""
    frozen.look_at(Ranking(IMAGE, NO_CLASS, 0.0, NO_CLASS, 0.0, is_unknown=False, tops=()))
    frozen.offer(ranked(APPLE))
    assert shown(frozen) == [APPLE]


def test_the_headline_is_the_safe_class_where_there_is_one() -> None:
    """A card shows "Fruit, Apple?"; an unknown one names its most likely class."""
    coarse = ranked(APPLE, safe=FRUIT)
    assert coarse.headline == FRUIT
    assert ranked(APPLE).headline == APPLE
    assert replace(coarse, is_unknown=True).headline == APPLE
