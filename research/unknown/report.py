"""Results on unknown images, as tables and as plain data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from research.reports.text_table import TextTable, titled_tables
from research.unknown.detectors import DETECTORS
from research.unknown.measurement import FALSE_RATES, OpenSetOutcome


@dataclass(frozen=True)
class UnknownReport:
    """Outcomes of several draws of every situation.

    Attributes:
        collection: name of the folder.
        backbone: name of the model.
        draws: of each situation.
        outcomes: of all, at least one.
    """

    collection: str
    backbone: str
    draws: int
    outcomes: tuple[OpenSetOutcome, ...]

    def as_text(self, *, is_markdown: bool = False) -> str:
        """Tables for a terminal, or for the documents."""
        return titled_tables(self._tables(), is_markdown=is_markdown)

    def as_fields(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "collection": self.collection,
            "backbone": self.backbone,
            "draws": self.draws,
            "false_rates": list(FALSE_RATES),
            "outcomes": [vars(outcome) for outcome in self.outcomes],
        }

    def _tables(self) -> Iterator[tuple[str, TextTable]]:
        names = list(dict.fromkeys(outcome.name for outcome in self.outcomes))
        by_name = {name: [each for each in self.outcomes if each.name == name] for name in names}
        facts = f"{self.collection}, {self.backbone}, {self.draws} draw{'s' * (self.draws > 1)}"
        rows = [(name, *_own_point(found)) for name, found in by_name.items()]
        header = ("situation", "false unknown", "worst draw", "strangers found")
        yield f"the program's own threshold, in %; {facts}", TextTable(header, tuple(rows))
        shown = [name for name in names if "session" not in name]
        yield f"AUROC; {facts}", _by_detector(shown, by_name, _auroc)
        for place, rate in enumerate(FALSE_RATES):
            title = (
                f"strangers found where {rate:.0%} of known images are called unknown, in "
                f"%; {facts}"
            )

            def found_at(
                detector: str, outcomes: Sequence[OpenSetOutcome], place: int = place
            ) -> str:
                return _percent(_mean(outcome.found[detector][place] for outcome in outcomes))

            yield title, _by_detector(shown, by_name, found_at)


def _own_point(outcomes: Sequence[OpenSetOutcome]) -> tuple[str, str, str]:
    false_rates = [outcome.false_unknown for outcome in outcomes]
    found = _mean(outcome.found_unknown for outcome in outcomes)
    return _percent(_mean(false_rates)), _percent(max(false_rates)), _percent(found)


def _by_detector(names: Sequence[str], by_name: Any, figure: Any) -> TextTable:
    rows = [
        (detector.title, *(figure(key, by_name[name]) for name in names))
        for key, detector in DETECTORS.items()
    ]
    return TextTable(("score", *names), tuple(rows))


def _auroc(detector: str, outcomes: Sequence[OpenSetOutcome]) -> str:
    return f"{_mean(outcome.auroc[detector] for outcome in outcomes):.3f}"


def _mean(values: Any) -> float:
    found = [value for value in values if not np.isnan(value)]
    return float(np.mean(found)) if found else np.nan


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
