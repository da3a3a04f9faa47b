"""Estimates of an audit: hand-computed shares, and coverage of the intervals."""

from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np
import pytest

from engine.collection.audit_figures import AuditFigures, cautious_interval, estimated, figures_of
from engine.evaluation.audit.draw import allocation
from engine.everyday.scores import PRIOR_ERRORS
from engine.project import Audit, AuditItem, Label
from engine.project.labels import IN_BULK
from tests.support.reports import ANIMAL, AUK, BIRD, DOG, GULL, zoo

WHEN = datetime(2026, 3, 1, tzinfo=UTC)
AUDITS = 400
LEAST_HELD = 0.93  # of 400 audits, where 95 % are meant
REMOVED = 99


def item(
    image_id: int, best: int | None, safe: int | None, stratum: tuple[int, int] = (0, 100)
) -> AuditItem:
    return AuditItem(image_id, image_id - 1, best, 0.7, safe, 0.9 if safe else 0.0, *stratum)


def figures(
    items: list[AuditItem], answers: Mapping[int, int | None], source: str = "review"
) -> AuditFigures:
    audit = Audit(1, WHEN, "ada", is_stratified=False, population=100, size=50, items=items)
    return figures_of(
        audit,
        {each: Label(each, answer, "ada", WHEN, source) for each, answer in answers.items()},
        zoo(),
    )


def test_claims_are_compared_with_answers_in_the_graph() -> None:
    """A coarser claim is right; a coarser answer does not tell; removed classes are omitted."""
    items = [
        item(1, GULL, BIRD),
        item(2, GULL, BIRD),
        item(3, GULL, ANIMAL),
        item(4, GULL, None),
        item(5, None, None),
        item(6, None, None),
        item(7, REMOVED, REMOVED),
        item(8, DOG, DOG),
    ]
    found = figures(items, {1: GULL, 2: AUK, 3: BIRD, 4: None, 5: None, 6: DOG, 7: GULL})
    assert (found.asked, found.answered, found.is_done) == (8, 7, False)
    assert (found.accuracy.right, found.accuracy.count) == (2, 5)  # 1 and 5 of 1, 2, 4, 5, 6
    assert (found.sure.right, found.sure.count) == (3, 3)


def test_without_answers_nothing_is_known() -> None:
    found = figures([item(1, GULL, BIRD)], {})
    assert (found.answered, found.accuracy.count, found.accuracy.interval) == (0, 0, (0.0, 1.0))
    assert np.isnan(found.accuracy.share)


def test_wrong_claims_raise_the_odds_of_errors() -> None:
    """Ten safe classes at 90 % expect one error, four are wrong; images without do not count."""
    claimed = [item(image_id, GULL, GULL) for image_id in range(1, 11)]
    answers: dict[int, int | None] = {
        image_id: DOG if image_id <= 4 else GULL for image_id in range(1, 11)
    }
    expected = pytest.approx((PRIOR_ERRORS + 4) / (PRIOR_ERRORS + 1))
    assert figures(claimed, answers).error_odds == expected
    unsure = [item(image_id, GULL, None) for image_id in range(11, 21)]
    assert (
        figures([*claimed, *unsure], answers | dict.fromkeys(range(11, 21), DOG)).error_odds
        == expected
    )
    assert (
        figures(unsure, dict.fromkeys(range(11, 21), DOG)).error_odds
        == figures(claimed, {}).error_odds
        == 1
    )


def test_what_was_accepted_in_bulk_is_no_answer() -> None:
    """Labels accepted in bulk were not checked, so they do not count."""
    found = figures([item(1, GULL, BIRD), item(2, GULL, BIRD)], {1: GULL}, IN_BULK)
    assert (found.answered, found.in_bulk, found.accuracy.count) == (0, 1, 0)


def test_classes_with_enough_answers_have_their_own_precision() -> None:
    items = [item(each, GULL, GULL) for each in range(1, 7)] + [
        item(each, DOG, DOG) for each in range(7, 11)
    ]
    found = figures(items, dict.fromkeys(range(1, 6), GULL) | dict.fromkeys(range(6, 11), DOG))
    assert [(class_id, each.right, each.count) for class_id, each in found.classes] == [
        (GULL, 5, 6)
    ]


def test_images_stand_for_as_many_as_their_stratum_has_for_each_answer() -> None:
    """Weighted by stratum: 2 of 3 of 900 images, 0 of 2 of 100 give 0.9 times 2/3."""
    items = [item(each, GULL, None, (0, 900)) for each in (1, 2, 3)]
    items += [item(each, DOG, DOG, (1, 100)) for each in (4, 5)]
    found = figures(items, {1: GULL, 2: GULL, 3: DOG, 4: GULL, 5: GULL})
    assert found.accuracy.share == pytest.approx(0.9 * 2 / 3)
    effective = 1000**2 / (3 * 300**2 + 2 * 50**2)
    assert found.accuracy.interval == pytest.approx(cautious_interval(0.6, effective))
    assert (found.accuracy.right, found.accuracy.count) == (2, 5)
    assert (found.sure.right, found.sure.count) == (0, 2)


def test_the_interval_is_that_of_the_literature() -> None:
    """Newcombe's examples of method 4: 81 of 263, 15 of 148, 0 of 20, 1 of 29."""
    shares = [(81, 263), (15, 148), (0, 20), (1, 29)]
    found = [cautious_interval(hits / count, count) for hits, count in shares]
    expected = [(0.2535, 0.3682), (0.0598, 0.1644), (0.0, 0.2005), (0.0018, 0.1963)]
    for interval, limits in zip(found, expected, strict=True):
        assert interval == pytest.approx(limits, abs=6e-5)


@pytest.mark.parametrize("accuracy", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("size", [20, 50, 100])
def test_the_interval_of_a_uniform_audit_holds_the_truth(accuracy: float, size: int) -> None:
    right = round(2_000 * accuracy)
    hits = np.random.default_rng(size).hypergeometric(right, 2_000 - right, size, AUDITS)
    intervals = [cautious_interval(each / size, size) for each in hits.tolist()]
    assert np.mean([low <= accuracy <= high for low, high in intervals]) >= LEAST_HELD


@pytest.mark.parametrize("accuracy", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("size", [20, 50, 100])
@pytest.mark.parametrize("answered", [1.0, 0.5])
def test_the_interval_of_a_stratified_audit_holds_the_truth(
    accuracy: float, size: int, answered: float
) -> None:
    """Coverage with very different strata, audited completely or by half."""
    random = np.random.default_rng(size)
    sizes = (4_000 / np.arange(1, max(2, size // 6) + 1) ** 1.5).astype(np.int64)
    errors = np.clip((1 - accuracy) * np.linspace(0, 2, len(sizes)), 0, 1)
    wrong = random.permutation(np.round(sizes * errors).astype(np.int64))
    wrong = np.minimum(wrong, sizes)
    truth = 1 - wrong.sum() / sizes.sum()
    asked = np.array(list(allocation(sizes.tolist(), size)))
    is_held = []
    for _ in range(AUDITS):
        strata = random.permutation(asked)[: round(size * answered)]
        counts = np.bincount(strata, minlength=len(sizes))
        mistakes = random.hypergeometric(wrong, sizes - wrong, counts)
        low, high = estimated(
            [
                (whole / count, place >= bad)
                for whole, count, bad in zip(
                    sizes.tolist(), counts.tolist(), mistakes.tolist(), strict=True
                )
                for place in range(count)
            ]
        ).interval
        is_held.append(low <= truth <= high)
    assert np.mean(is_held) >= LEAST_HELD
