"""Groups for review: every open image once, sure ones by class, others by similarity."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import Cancelled
from engine.events import CancelToken
from engine.everyday.blocks import stopped_by
from engine.everyday.grouping.groups import SMALL, groups_of
from engine.everyday.look_alikes import FEW_SHOTS, SCREEN, Opinions
from engine.graph.codes import NO_CLASS
from tests.engine.everyday.grouping.test_clusters import basis_of

SIZES = (4, 16, 8, 32)
BASIS = basis_of(SIZES, width=12)
KIND = np.repeat(np.arange(4), SIZES)
ALL = np.arange(60)


def opinions(probability: float = 0.95, *, shots: int = 5) -> Opinions:
    """Class 10 plus the kind of each image, all as sure."""
    return replace(
        Opinions.none(60),
        best=10 + KIND,
        probability=np.full(60, probability, dtype=np.float32),
        shots=dict.fromkeys(range(10, 14), shots),
    )


def test_without_labels_groups_are_look_alikes_without_a_class() -> None:
    """None holds two kinds; the one that decides most comes first."""
    groups = groups_of(BASIS, Opinions.none(60), ALL)
    assert {(each.class_id, each.is_sure, each.expected_errors > 0) for each in groups} == {
        (NO_CLASS, False, True)
    }
    assert all(len(set(KIND[each.rows])) == 1 for each in groups)
    assert KIND[groups[0].rows[0]] == 3
    assert [len(each.rows) for each in groups if KIND[each.rows[0]] < 3] == [16, 8, 4]


def test_what_is_sure_comes_by_class_with_the_errors_to_expect() -> None:
    """Look-alikes or not: two kinds of one class are one group."""
    known = opinions(0.9)
    known = replace(known, best=np.where(KIND == 0, 12, known.best))
    groups = groups_of(BASIS, known, ALL)
    assert [(len(each.rows), each.class_id) for each in groups] == [(32, 13), (16, 11), (12, 12)]
    assert [each.expected_errors for each in groups] == pytest.approx([3.2, 1.6, 1.2], rel=1e-5)
    assert all(each.is_sure for each in groups)


def test_odd_ones_come_first() -> None:
    """The least probable image of a sure group; of look-alikes the one that is least alike."""
    known = opinions()
    known.probability[50] = 0.81
    group = groups_of(BASIS, known, ALL)[0]
    assert (group.rows[0], len(group.rows)) == (50, 32)


def test_classes_with_few_labels_are_held_back() -> None:
    """Only a few of their images come at a time."""
    groups = groups_of(BASIS, opinions(shots=FEW_SHOTS - 1), ALL)
    assert max(len(each.rows) for each in groups) <= SMALL
    assert all(each.is_held_back for each in groups)
    assert not any(each.is_held_back for each in groups_of(BASIS, opinions(shots=FEW_SHOTS), ALL))


def test_what_was_passed_over_comes_last_and_finer_classes_first() -> None:
    """Order: finer classes of what was decided, the others by their gain, those passed over."""
    known = opinions()
    passed = np.where(KIND == 3, 1, 0)
    branch = np.where(KIND == 0, 5, NO_CLASS)
    groups = groups_of(BASIS, replace(known, passed=passed, branch=branch), ALL)
    assert [each.class_id for each in groups] == [10, 11, 12, 13]
    assert groups[0].branch == 5


def test_an_answer_settles_look_alikes_beyond_the_screen() -> None:
    """A cluster larger than a screen comes in parts, each of which settles more than itself."""
    groups = groups_of(BASIS, Opinions.none(60), ALL, most=10)
    parts = [each for each in groups if set(KIND[each.rows]) == {3}]
    assert len(parts) >= 4
    assert all(len(each.rows) <= 10 and each.settles > len(each.rows) for each in parts)
    assert groups_of(BASIS, Opinions.none(60), ALL[KIND == 0])[0].settles == 4


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, SCREEN))
def test_every_image_is_in_one_group(seed: int, most: int) -> None:
    """Whatever a model predicts, no group is too large, and no expected error impossible."""
    generator = np.random.default_rng(seed)
    known = replace(
        Opinions.none(60),
        best=generator.integers(-1, 4, 60),
        passed=generator.integers(0, 3, 60),
        probability=generator.random(60).astype(np.float32),
        branch=generator.choice([NO_CLASS, NO_CLASS, 7], 60),
        shots={0: 5, 1: 1},
    )
    rows = np.flatnonzero(generator.random(60) < generator.random())
    groups = groups_of(BASIS, known, rows, most=most)
    found = (
        np.concatenate([each.rows for each in groups]) if groups else np.zeros(0, dtype=np.int64)
    )
    assert sorted(found.tolist()) == rows.tolist()
    for each in groups:
        assert len(each.rows) <= most
        assert 0 <= each.expected_errors <= len(each.rows) + 1e-4
        assert each.settles >= len(each.rows)
        assert 0 <= each.odd <= len(each.rows)
        assert len(np.unique(known.branch[each.rows][known.is_sure[each.rows]])) <= 1


def test_it_stops_on_a_cancel() -> None:
    """Nobody waits for groups that are not wanted any more."""
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled), stopped_by(token):
        groups_of(BASIS, opinions(), ALL)
