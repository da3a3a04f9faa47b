"""Results of engine and peers, as tables and as plain data."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from research.peers.measurement import CALIBRATION, MISTAKE_DISTANCE, OURS, SECONDS, PeerResult
from research.peers.run_peer import PEERS
from research.reports.text_table import MISSING, TextTable, titled_tables
from research.transfer.estimates import estimate
from research.transfer.results import TOP1

HEADER = (
    "method",
    "unlabelled images",
    "graph",
    "leaf top-1, %",
    "mistake distance",
    "calibration error, %",
    "CPU seconds",
)


@dataclass(frozen=True)
class PeerReport:
    """All results on one collection.

    Attributes:
        collection: name of the folder.
        backbone: its name.
        images: that are in the collection.
        classes: number of classes.
        is_elsewhere: whether the images to classify are those of `val` alone.
        results: of all methods and numbers of shots.
    """

    collection: str
    backbone: str
    images: int
    classes: int
    is_elsewhere: bool
    results: tuple[PeerResult, ...]

    def as_text(self, *, is_markdown: bool = False) -> str:
        """A table for each number of shots, and the reason of each failure."""
        failures = [
            f"{_title(each.method)}, {each.shots} shot{'s' * (each.shots > 1)}: failed: "
            f"{each.failure}"
            for each in self.results
            if each.failure
        ]
        return "\n".join([titled_tables(self._tables(), is_markdown=is_markdown), *failures])

    def as_fields(self) -> dict[str, Any]:
        """Everything as plain data; None in place of NaN."""
        return {
            **{name: value for name, value in asdict(self).items() if name != "results"},
            "results": [
                {
                    "method": each.method,
                    "title": _title(each.method),
                    "shots": each.shots,
                    "failure": each.failure,
                }
                | {"draws": [_plain(figures) for figures in each.draws]}
                for each in self.results
            ],
        }

    def _tables(self) -> Iterator[tuple[str, TextTable]]:
        for shots in dict.fromkeys(each.shots for each in self.results):
            some = [each for each in self.results if each.shots == shots]
            draws = max(len(each.draws) for each in some)
            part = "val is the collection, " if self.is_elsewhere else ""
            title = f"{self.collection}, {self.backbone}, {part}{shots} shot{'s' * (shots > 1)}: "
            title += (
                f"{self.classes} classes, {self.images:,} images, {draws} "
                f"draw{'s' * (draws != 1)}, 95 % interval"
            )
            yield title, TextTable(HEADER, tuple(map(_row, some)))


def _row(result: PeerResult) -> tuple[str, ...]:
    method = OURS.get(result.method) or PEERS[result.method]
    cells = [
        method.title,
        *("yes" if each else "no" for each in (method.is_transductive, method.has_graph)),
    ]
    if result.failure:
        return (*cells, "failed", *[MISSING] * (len(HEADER) - len(cells) - 1))
    distance = estimate(result.values(MISTAKE_DISTANCE)).mean
    return (
        *cells,
        estimate(result.values(TOP1)).as_percent(),
        MISSING if math.isnan(distance) else f"{distance:.2f}",
        estimate(result.values(CALIBRATION)).as_percent(),
        f"{estimate(result.values(SECONDS)).mean:.2f}",
    )


def _title(method: str) -> str:
    return (OURS.get(method) or PEERS[method]).title


def _plain(figures: Any) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in figures.items()}
