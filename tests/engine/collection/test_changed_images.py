"""Comparison of two snapshots: which images changed class."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.collection.state import (
    NO_CLASS,
    UNKNOWN,
    ChangedImages,
    CollectionState,
    ImageStatus,
    changed_images,
)
from tests.support.states import Picture, many_pictures, state_of

FRUIT, APPLE, PEPPER = 1, 2, 3


def plain_moves(changes: ChangedImages) -> list[tuple[int, int, list[int], bool]]:
    """Moves as tuples."""
    return [
        (move.before, move.after, move.image_ids.tolist(), move.is_safe_class)
        for move in changes.moves
    ]


def compared(before: Sequence[Picture], after: Sequence[Picture]) -> ChangedImages:
    """The same images before and after; ids start at 11."""
    return changed_images(state_of(before), state_of(after))


def test_images_are_grouped_by_where_they_went() -> None:
    """Largest group first, most certain image first; unchanged images are omitted."""
    before = [Picture(best=APPLE, score=0.9)] * 4 + [Picture(best=PEPPER, score=0.9)]
    after = [
        Picture(best=PEPPER, score=0.5),
        Picture(best=APPLE, score=0.6),
        Picture(best=PEPPER, score=0.8),
        Picture(best=PEPPER, score=0.7, is_unknown=True),
        Picture(best=PEPPER, score=0.3),
    ]
    changes = compared(before, after)
    assert plain_moves(changes) == [(APPLE, PEPPER, [13, 11], False), (APPLE, UNKNOWN, [14], False)]
    assert (changes.other_class, changes.other_safe_class, changes.count) == (3, 0, 3)


def test_how_far_unknown_moved_and_by_which_labels() -> None:
    """Net change of unknown images; new labels by count, none of removed labels."""
    unknown, apple, pepper = (
        Picture(best=APPLE, is_unknown=True),
        Picture(best=APPLE),
        Picture(best=PEPPER),
    )
    before = [unknown, apple, apple, apple, apple, pepper, pepper, replace(apple, label=APPLE)]
    after = [
        apple,
        unknown,
        unknown,
        unknown,
        replace(apple, label=APPLE),
        replace(pepper, label=PEPPER),
        replace(pepper, label=PEPPER),
        apple,
    ]
    changes = compared(before, after)
    assert changes.more_unknown == 2
    assert changes.new_labels == ((PEPPER, 2), (APPLE, 1))
    assert compared(after, before).more_unknown == -2


def test_a_bar_moves_safe_classes_only() -> None:
    """Moves of safe classes are listed after moves of the most probable class."""
    before = [
        Picture(best=APPLE, safe=FRUIT),
        Picture(best=APPLE, safe=FRUIT),
        Picture(best=APPLE, safe=APPLE),
    ]
    after = [
        Picture(best=APPLE, safe=NO_CLASS),
        Picture(best=APPLE, safe=NO_CLASS, safe_score=0.1),
        Picture(best=PEPPER, safe=FRUIT),
    ]
    changes = compared(before, after)
    assert plain_moves(changes) == [(APPLE, PEPPER, [13], False), (FRUIT, NO_CLASS, [12, 11], True)]
    assert (changes.other_class, changes.other_safe_class, changes.count) == (1, 2, 3)


def test_what_is_labelled_or_not_embedded_is_left_out() -> None:
    """Images labelled or not embedded in either snapshot do not count."""
    stayed, moved = Picture(best=APPLE), Picture(best=PEPPER)
    before = [
        replace(stayed, label=APPLE),
        stayed,
        replace(stayed, status=ImageStatus.WAITING),
        stayed,
    ]
    after = [moved, replace(moved, label=PEPPER), moved, replace(moved, status=ImageStatus.FAILED)]
    assert compared(before, after) == ChangedImages((), new_labels=((PEPPER, 1),))


def test_images_that_came_or_went_are_no_change() -> None:
    """Only images in both snapshots are compared, at whatever rows."""
    before = state_of([Picture(best=APPLE)] * 3, first_id=11)
    after = state_of([Picture(best=PEPPER)] * 3, first_id=12)
    assert plain_moves(changed_images(before, after)) == [(APPLE, PEPPER, [12, 13], False)]


def test_a_first_prediction_is_a_change() -> None:
    """The first prediction of an image counts as a change."""
    assert plain_moves(compared([Picture()], [Picture(best=APPLE)])) == [
        (NO_CLASS, APPLE, [11], False)
    ]


def slowly(before: CollectionState, after: CollectionState) -> dict[tuple[int, int], set[int]]:
    """The same by a plain loop, with no image labelled, unknown or pending."""
    found: dict[tuple[int, int], set[int]] = {}
    for image_id, was, now in zip(
        before.image_ids.tolist(),
        before.best_class.tolist(),
        after.best_class.tolist(),
        strict=True,
    ):
        if was != now:
            found.setdefault((was, now), set()).add(image_id)
    return found


def test_many_images_are_counted_as_one_by_one() -> None:
    """The vectorised result equals the loop's."""
    before = many_pictures(3_000, seed=1)
    drawn = np.random.default_rng(2).integers(1, 8, 3_000)
    after = replace(
        before, best_class=np.where(np.arange(3_000) % 3 == 0, drawn, before.best_class)
    )
    changes = changed_images(before, after)
    expected = slowly(before, after)
    assert {
        (move.before, move.after): set(move.image_ids.tolist()) for move in changes.moves
    } == expected
    sizes = [len(move.image_ids) for move in changes.moves]
    assert sizes == sorted(sizes, reverse=True)
    assert changes.count == sum(map(len, expected.values())) > 500
