"""Measure methods, situations and draws that are not stored yet, on one backbone's embeddings."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.errors import InputError, UsageError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from research.transfer import results
from research.transfer.class_sizes import AS_IS, EQUAL, check_forms
from research.transfer.collection import TRAIN, TransferCollection
from research.transfer.draws import Situation
from research.transfer.embedded import EmbeddedCollection
from research.transfer.methods import DEFAULT_METHODS, METHODS
from research.transfer.results import Outcome, TransferCell, TransferResult
from research.transfer.side_by_side import AskedDraw, measure_all


@dataclass(frozen=True)
class TransferPlan:
    """Options of a measurement.

    Attributes:
        shots: of each leaf, one column each.
        draws: in each of which every method gets the same shots.
        methods: identifiers.
        with_coarse_labels: whether every column is measured with coarse labels too.
        is_elsewhere: whether labels are of `train` and the collection to classify is `val`.
        sizes: of the classes in the collection.
        shot_sizes: distribution of shots among the classes.
    """

    shots: tuple[int, ...] = (1, 2, 3, 5, 10)
    draws: int = 10
    methods: tuple[str, ...] = DEFAULT_METHODS
    with_coarse_labels: bool = True
    is_elsewhere: bool = False
    sizes: str = AS_IS
    shot_sizes: str = EQUAL

    def situations(self, shots: int, method: str) -> tuple[Situation, ...]:
        """The situations of a column in which a method is measured."""
        coarse = (False, True) if self.with_coarse_labels else (False,)
        return tuple(
            Situation(has_coarse_labels, shots, self.is_elsewhere, self.sizes, self.shot_sizes)
            for has_coarse_labels in coarse
            if has_coarse_labels or not METHODS[method].needs_coarse_labels
        )


def check_plan(collection: TransferCollection, plan: TransferPlan) -> TransferPlan:
    """Check that there is something to score before anything is computed.

    Returns:
        The plan, without coarse labels where the collection has no coarse class.

    Raises:
        InputError: `val` is to be classified, and has no image of a class of `train`.
        UsageError: every method needs coarse labels, and there are none, or they are not to be
            measured with; or there are no such sizes.
    """
    check_forms(plan.sizes, plan.shot_sizes)
    plan = replace(plan, with_coarse_labels=plan.with_coarse_labels and bool(collection.coarse_ids))
    if not any(plan.situations(1, method) for method in plan.methods):
        raise UsageError(
            f"{', '.join(plan.methods)}: nothing to measure without coarse labels",
            expected=(
                "a class with several children below a root, or several such roots, and "
                "no --no-coarse-labels"
            ),
        )
    if (
        plan.is_elsewhere
        and not np.isin(collection.class_ids[~collection.is_train], collection.leaf_ids).any()
    ):
        raise InputError(
            "nothing in val can be scored",
            expected=f"images in class folders that {collection.source / TRAIN} has too",
            found=f"{np.count_nonzero(~collection.is_train)} images, none of such a class",
        )
    return plan


def measure_transfer(
    embedded: EmbeddedCollection,
    plan: TransferPlan,
    *,
    runs: Path | None = None,
    is_from_scratch: bool = False,
    workers: int = 1,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[TransferResult, ...]:
    """Measure every cell of the plan; draws stored in `runs` are read from there.

    Args:
        embedded: the collection.
        plan: what to measure.
        runs: folder for results of draws; none are stored when None.
        is_from_scratch: whether to ignore results in `runs`.
        workers: number of parallel processes.
        on_progress: called with draws of methods.
        cancel: stops between two draws.

    Raises:
        FormatError: a file in `runs` is corrupt.
        StorageError: `runs` cannot be written.
        Cancelled: `cancel` was set.
    """
    columns = [
        _Column(
            embedded, method, plan.situations(shots, method), runs, is_from_scratch=is_from_scratch
        )
        for shots in plan.shots
        for method in plan.methods
    ]
    wanted = [(column, asked) for column in columns for asked in column.missing(plan.draws)]
    total = len(columns) * plan.draws
    meter = ProgressMeter(total, on_progress, unit="draws", already_done=total - len(wanted))
    outcomes = measure_all(
        embedded, [asked for _, asked in wanted], workers, cancel or CancelToken()
    )
    with closing(outcomes):
        for (column, _), outcome in zip(wanted, outcomes, strict=True):
            column.keep(outcome)
            meter.advance()
    return tuple(result for column in columns for result in column.results(plan.draws))


class _Column:
    """Outcomes of a method in the situations of one number of shots."""

    def __init__(
        self,
        embedded: EmbeddedCollection,
        method: str,
        situations: Sequence[Situation],
        runs: Path | None,
        *,
        is_from_scratch: bool,
    ) -> None:
        self._embedded = embedded
        self._method = method
        self._runs = runs
        identity = embedded.collection.identity
        self._cells = {
            each: TransferCell.of(identity, embedded.model, each, method) for each in situations
        }
        self._outcomes = {
            each: [] if is_from_scratch else list(self._stored(each)) for each in situations
        }

    def _stored(self, situation: Situation) -> tuple[Outcome, ...]:
        """Stored draws; none where the method had other options."""
        stored = None if self._runs is None else results.read(self._cells[situation], self._runs)
        return (
            ()
            if stored is None or METHODS[self._method].default not in stored.options
            else stored.draws
        )

    def missing(self, draws: int) -> Iterator[AskedDraw]:
        """Draws missing in some situations, in order."""
        for seed in range(draws):
            situations = tuple(
                each for each, outcomes in self._outcomes.items() if len(outcomes) <= seed
            )
            if situations:
                yield AskedDraw(self._method, situations, seed)

    def keep(self, outcome: Mapping[Situation, Outcome]) -> None:
        """Store the next draw of each situation."""
        for situation, figures in outcome.items():
            self._outcomes[situation].append(figures)
            if self._runs is not None:
                results.write(self._result(situation), self._runs)

    def _result(self, situation: Situation) -> TransferResult:
        return TransferResult(self._cells[situation], tuple(self._outcomes[situation]))

    def results(self, draws: int) -> tuple[TransferResult, ...]:
        """One result for each situation."""
        return tuple(self._result(situation).first(draws) for situation in self._outcomes)
