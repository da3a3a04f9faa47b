"""Results of stages and sessions, as tables and as plain data."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from research.honesty.claims import ClaimTally, total
from research.honesty.labels import RANDOM
from research.honesty.measurement import StageResult
from research.honesty.records import METHODS, OURS
from research.honesty.replay import ReplayedSession
from research.honesty.session_report import session_fields, session_tables
from research.honesty.shares import PooledShare, share_of
from research.reports.text_table import MISSING, TextTable, titled_tables

MOST_ERROR = 0.08
"""Largest calibration error of a stage; and of one where all classes have examples:"""
MOST_ERROR_OF_ALL = 0.06
LEAST_SAFE = 0.92
"""Least accuracy of safe classes."""
LEAST_LEAF = 0.8
"""Least accuracy of leaves as safe classes."""
HEADER = (
    "classes, shots",
    "best: claimed, right",
    "calibration error",
    "mean of draws",
    "safe class",
    "claimed",
    "right",
    "leaf claimed",
    "right",
    "rightly sure kept",
    "outside",
)


@dataclass(frozen=True)
class HonestyReport:
    """Results of one collection on one backbone.

    Attributes:
        collection, backbone: names.
        classes: leaves with images in `train`.
        labels: the way of labelling.
        is_elsewhere: whether the collection is `val`.
        results: of all stages; none where only sessions were replayed.
        sessions: that were replayed.
    """

    collection: str
    backbone: str
    classes: int
    labels: str
    is_elsewhere: bool
    results: tuple[StageResult, ...]
    sessions: tuple[ReplayedSession, ...] = ()

    def as_text(self, *, is_markdown: bool = False) -> str:
        """Tables for a terminal, or for the documents."""
        return titled_tables(self._tables(), is_markdown=is_markdown)

    def as_fields(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "collection": self.collection,
            "backbone": self.backbone,
            "classes": self.classes,
            "labels": self.labels,
            "elsewhere": self.is_elsewhere,
            "stages": [self._stage_fields(result) for result in self.results],
            "sessions": [session_fields(session) for session in self.sessions],
        }

    def _stage_fields(self, result: StageResult) -> dict[str, Any]:
        draws = {name: [asdict(draw[name]) for draw in result.draws] for name in METHODS}
        outside = outside_limits(
            _tallies([result], OURS), is_all=result.stage.classes == self.classes
        )
        return {**asdict(result.stage), "outside": list(outside), "draws": draws}

    def _tables(self) -> Iterator[tuple[str, TextTable]]:
        if self.results:
            facts = self._facts()
            for method, title in METHODS.items():
                rows = tuple(self._rows(method))
                yield (
                    f"{title}, shares in % (95 % interval by draws); {facts}",
                    TextTable(HEADER, rows),
                )
        for session in self.sessions:
            yield from session_tables(session, f"{self.collection}, {self.backbone}")

    def _facts(self) -> str:
        draws = len(self.results[0].draws)
        place = "labels from train, the collection is val" if self.is_elsewhere else ""
        labels = "" if self.labels == RANDOM else f"labels: {self.labels}"
        count = f"{draws} draw{'s' * (draws > 1)}"
        parts = (self.collection, self.backbone, f"{self.classes} classes", place, labels, count)
        return ", ".join(filter(None, parts))

    def _rows(self, method: str) -> Iterator[tuple[str, ...]]:
        counts = list(dict.fromkeys(result.stage.classes for result in self.results))
        for count in counts:
            own = [result for result in self.results if result.stage.classes == count]
            is_all = count == self.classes
            for result in own:
                yield _row(result.stage.name, _tallies([result], method), is_all=is_all)
            yield _row(f"{count}, all", _tallies(own, method), is_all=is_all)


def _tallies(results: Sequence[StageResult], method: str) -> list[ClaimTally]:
    """One tally for each draw, over all these stages."""
    draws = zip(*(result.draws for result in results), strict=True)
    return [total([each[method] for each in draw]) for draw in draws]


def outside_limits(draws: Sequence[ClaimTally], *, is_all: bool) -> tuple[str, ...]:
    """Names of figures outside the project's limits.

    Args:
        draws: of a method.
        is_all: whether all classes have examples.
    """
    whole = total(draws)
    safe, leaf = _safe_right(draws), _leaf_right(draws)
    found = {
        "calibration": whole.calibration_error > (MOST_ERROR_OF_ALL if is_all else MOST_ERROR),
        "safe": safe.count > 0 and safe.value < LEAST_SAFE,
        "leaf": leaf.count > 0 and leaf.value < LEAST_LEAF,
    }
    return tuple(name for name, is_outside in found.items() if is_outside)


def _safe_right(draws: Sequence[ClaimTally]) -> PooledShare:
    return share_of([each.safe_right for each in draws], [each.safe for each in draws])


def _leaf_right(draws: Sequence[ClaimTally]) -> PooledShare:
    return share_of([each.leaf_right for each in draws], [each.leaf for each in draws])


def _row(name: str, draws: Sequence[ClaimTally], *, is_all: bool) -> tuple[str, ...]:
    whole = total(draws)
    errors = [each.calibration_error for each in draws]
    still = share_of([each.sure_still for each in draws], [each.sure_before for each in draws])
    return (
        name,
        f"{_percent(whole.claimed, whole.images)}, {_percent(whole.right, whole.images)}",
        f"{100 * whole.calibration_error:.1f}",
        f"{100 * sum(errors) / len(errors):.1f}",
        _percent(whole.safe, whole.images),
        _percent(whole.safe_claimed, whole.safe),
        _safe_right(draws).as_text(),
        _percent(whole.leaf, whole.images),
        _leaf_right(draws).as_text(),
        still.as_text(),
        ", ".join(outside_limits(draws, is_all=is_all)),
    )


def _percent(part: float, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else MISSING
