"""Results on label errors, as tables and as plain data."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from engine.everyday.scores import share_interval
from research.label_errors.measurement import FIRST, Draw
from research.label_errors.planted import ErrorKind
from research.reports.text_table import TextTable, titled_tables
from research.transfer.estimates import Estimate, estimate

Situation = tuple[float, ErrorKind]
FIGURES = {
    "precision": f"Precision of the first {FIRST}",
    "recall": f"Recall of the first {FIRST}",
    "precision_at_planted": "Precision of as many as were planted",
    "average_precision": "Average precision",
}


@dataclass(frozen=True)
class LabelErrorReport:
    """All draws of a collection."""

    collection: str
    backbone: str
    images: int
    classes: int
    draws: int  # of each situation
    measured: tuple[Draw, ...]

    def as_text(self, *, is_markdown: bool = False) -> str:
        """Tables for a terminal, or for the documents."""
        return titled_tables(self._tables(), is_markdown=is_markdown)

    def as_fields(self) -> dict[str, Any]:
        """Everything as plain data; shares are in [0, 1]."""
        return {
            "collection": self.collection,
            "backbone": self.backbone,
            "images": self.images,
            "classes": self.classes,
            "draws": self.draws,
            "measured": [asdict(draw) for draw in self.measured],
        }

    def figure(self, situation: Situation, method: str, name: str) -> Estimate:
        """A figure of a method in a situation, over all draws."""
        return estimate([getattr(draw.found[method], name) for draw in self._of(situation)])

    @property
    def situations(self) -> tuple[Situation, ...]:
        """Measured situations, in order."""
        return tuple(dict.fromkeys((draw.share, draw.kind) for draw in self.measured))

    def _of(self, situation: Situation) -> list[Draw]:
        return [draw for draw in self.measured if (draw.share, draw.kind) == situation]

    def _tables(self) -> Iterator[tuple[str, TextTable]]:
        facts = (
            f"{self.collection}, {self.backbone}, {self.images:,} labels of {self.classes} "
            "classes, "
        )
        facts += f"{self.draws} draw{'s' * (self.draws > 1)}"
        header = ("", *(f"{share:.0%} {kind}" for share, kind in self.situations))
        for name, title in FIGURES.items():
            rows = tuple(
                (
                    method,
                    *(self.figure(each, method, name).as_percent() for each in self.situations),
                )
                for method in self.measured[0].found
            )
            yield f"{title}, in %; {facts}", TextTable(header, rows)
        yield f"What the program calls wrong; {facts}", self._called(header)

    def _called(self, header: tuple[str, ...]) -> TextTable:
        rows: dict[str, list[str]] = {}
        for situation in self.situations:
            called = [draw.called for draw in self._of(situation)]
            labels, hits = sum(each.labels for each in called), sum(each.hits for each in called)
            low, high = share_interval(hits, labels)
            expected = sum(each.expected for each in called) / labels if labels else float("nan")
            values = {
                "labels, a draw": f"{labels / len(called):.1f}",
                "said to be wrong, in %": f"{100 * expected:.1f}",
                "planted among them, in %": (
                    f"{100 * hits / labels:.1f} ({100 * low:.1f} to {100 * high:.1f})"
                )
                if labels
                else "-",
                "right class proposed for these, in "
                "%": f"{100 * sum(each.proposals for each in called) / hits:.1f}" if hits else "-",
            }
            for name, value in values.items():
                rows.setdefault(name, []).append(value)
        return TextTable(header, tuple((name, *values) for name, values in rows.items()))
