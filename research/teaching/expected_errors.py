"""Expected errors shown for groups and bulk accepts, compared with the true ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.collection.review_groups import GroupInput, ReviewGroup, make_queue
from engine.everyday.grouping.groups import BasisLinks
from engine.everyday.scores import share_interval
from engine.graph.codes import NO_CLASS
from research.teaching.review_person import AnsweredGroup, Desk
from research.transfer.class_sizes import AS_IS
from research.transfer.draws import Situation, draw
from research.transfer.embedded import EmbeddedCollection

SHOTS = (2, 5, 20, 1000)  # of each class; the last are all
RARER = "sure ones of all classes but the largest"
BARS = (0.8, 0.95)  # of bulk accepts
EVERY_GROUP = 100_000
FEWEST_GROUPS = 2  # for a variance
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class ExpectedErrors:
    """Expected and true errors of one kind of accept.

    Attributes:
        shots: labels of each class, at most.
        kind: of accepts.
        images: accepted ones.
        expected: errors shown.
        wrong: true errors.
        design_effect: variance of the errors relative to that of independent images, as errors of
            similar images are correlated (Kish, Survey Sampling, 1965).
    """

    shots: int
    kind: str
    images: int
    expected: float
    wrong: int
    design_effect: float = 1.0

    @property
    def image_interval(self) -> tuple[float, float]:
        """95 % interval of the true errors for independent images."""
        return self._interval(1.0)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the true errors, with groups as clusters."""
        return self._interval(self.design_effect)

    def _interval(self, design_effect: float) -> tuple[float, float]:
        low, high = share_interval(self.wrong / design_effect, self.images / design_effect)
        return low * self.images, high * self.images

    @property
    def is_kept(self) -> bool:
        """Whether the expected number is in the interval."""
        low, high = self.interval
        return low <= self.expected <= high


def measure_expected_errors(
    embedded: EmbeddedCollection, shots: Sequence[int] = SHOTS, sizes: str = AS_IS
) -> tuple[ExpectedErrors, ...]:
    """Label images of each class in `train`, and evaluate all possible accepts of others.

    Args:
        embedded: the collection. As it is, the others are those of `val`; else they are drawn from
            all.
        shots: labels of each class, in turn.
        sizes: of the classes in it.
    """
    return tuple(found for count in shots for found in _with_shots(embedded, sizes, count))


def _with_shots(embedded: EmbeddedCollection, sizes: str, shots: int) -> Iterator[ExpectedErrors]:
    desk = _labelled(embedded, sizes, shots)
    given = GroupInput(
        BasisLinks(desk.basis), desk.snapshot(), desk.fitted, desk.scores, desk.graph
    )
    groups = make_queue(given, ahead=EVERY_GROUP).groups
    proposed = [_judged(desk, group) for group in groups if group.class_id != NO_CLASS]
    yield from errors_of_groups(proposed, shots)
    assert desk.fitted is not None, "there are labels"
    score = desk.scores.best_score
    free = (desk.labels == NO_CLASS) & ~desk.fitted.is_unknown(desk.scores)
    for bar in BARS:
        above = free & (score > bar)
        wrong = int(np.count_nonzero(desk.predicted[above] != desk.truth[above]))
        yield ExpectedErrors(
            shots, f"bulk above {bar:.0%}", int(above.sum()), float((1 - score[above]).sum()), wrong
        )


def _labelled(embedded: EmbeddedCollection, sizes: str, shots: int) -> Desk:
    drawn = draw(
        embedded.collection,
        Situation(False, shots, is_elsewhere=sizes == AS_IS, sizes=sizes),
        seed=0,
    )
    is_known = embedded.collection.class_ids != NO_CLASS
    rows = drawn.rows[is_known[drawn.rows]]
    desk = Desk(embedded, rows)
    desk.labels[:] = np.where(np.isin(rows, drawn.shots), desk.truth, NO_CLASS)
    desk.fit()
    return desk


def errors_of_groups(groups: Sequence[AnsweredGroup], shots: int) -> Iterator[ExpectedErrors]:
    """Errors of all groups with a class, of those of a sure class, and of rarer classes."""
    sure = [group for group in groups if group.is_sure]
    rarer = [group for group in sure if not group.is_largest]
    for kind, chosen in (
        ("groups with a class", groups),
        ("of these, sure ones", sure),
        (RARER, rarer),
    ):
        counts = np.array([group.images for group in chosen], dtype=np.float64)
        errors = np.array([group.wrong for group in chosen], dtype=np.float64)
        expected = sum(group.expected for group in chosen)
        effect = design_effect_of(counts, errors)
        yield ExpectedErrors(shots, kind, int(counts.sum()), expected, int(errors.sum()), effect)


def design_effect_of(sizes: Numbers, wrong: Numbers) -> float:
    """Design effect of clustered errors, see `ExpectedErrors`; at least 1.

    Args:
        sizes: (g,) images of each group.
        wrong: (g,) errors in each group.
    """
    share = wrong.sum() / max(sizes.sum(), 1)
    by_image = sizes.sum() * share * (1 - share)
    if len(sizes) < FEWEST_GROUPS or by_image == 0:
        return 1.0
    by_group = len(sizes) / (len(sizes) - 1) * np.square(wrong - share * sizes).sum()
    return max(1.0, float(by_group / by_image))


def _judged(desk: Desk, group: ReviewGroup) -> AnsweredGroup:
    """Judge a group; a true broader class is no error."""
    right = sorted(desk.graph.descendants(group.class_id) | {group.class_id})
    wrong = int(np.count_nonzero(~np.isin(desk.truth[list(group.image_ids)], right)))
    is_largest = group.class_id == desk.largest
    return AnsweredGroup(
        len(group.image_ids), group.expected_errors, wrong, group.is_sure, is_largest, group.settles
    )
