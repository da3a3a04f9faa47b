"""Results on suggestions, as tables and as plain data."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from research.graph_suggestions.measurement import Measured
from research.graph_suggestions.placements import FURTHEST, AskedEdge, is_shown
from research.reports.text_table import TextTable, titled_tables

SURE = 0.85
"""Score of a suggestion that is called sure."""


@dataclass(frozen=True)
class SuggestionReport:
    """Figures of one backbone on one collection.

    Attributes:
        collection: name of the folder.
        backbone: its name.
        classes: leaves with images.
        shots: of each.
        draws: of shots.
        measured: the results.
    """

    collection: str
    backbone: str
    classes: int
    shots: int
    draws: int
    measured: Measured

    def as_text(self, *, is_markdown: bool = False) -> str:
        """Tables for a terminal, or for the documents."""
        return titled_tables(self._tables(), is_markdown=is_markdown)

    def as_fields(self) -> dict[str, Any]:
        """Everything as plain data; shares are in [0, 1]."""
        measured = self.measured
        return {
            "collection": self.collection,
            "backbone": self.backbone,
            "classes": self.classes,
            "shots": self.shots,
            "draws": self.draws,
            "trust": measured.trust,
            "edges": {name: _recall_fields(edges) for name, edges in self._parts()},
            "shown": {
                "edges": _shown_fields([each for each in measured.edges if is_shown(each.score)])
            },
            "strangers": _score_fields(measured.strangers),
            "top_level": _score_fields(measured.roots),
            "planted": {name: vars(planted) for name, planted in measured.planted.items()},
            "helped": {name: _helped_fields(measured, is_suggested=flag) for name, flag in _HELPED},
        }

    def _parts(self) -> Iterator[tuple[str, list[AskedEdge]]]:
        edges = self.measured.edges
        yield "all edges", edges
        yield "whose parent has other images", [each for each in edges if each.has_answer]
        yield "leaves among them", [each for each in edges if each.has_answer and each.is_leaf]

    def _tables(self) -> Iterator[tuple[str, TextTable]]:
        facts = (
            f"{self.collection}, {self.backbone}, {self.classes} classes, {self.shots} "
            f"shots, {self.draws} draws"
        )
        yield (
            f"The parent of an edge that was taken away, in % (by chance); {facts}",
            self._recall(),
        )
        yield (
            (
                "How far the suggestion is from that parent, all edges: share within so many "
                "steps, in % (by chance)"
            ),
            self._distance(),
        )
        yield "What the program would say", self._shown()
        yield "Faults that were put in, one at a time", self._planted()
        yield (
            (
                "Images of a class named rightly and for sure after 3 more shots of it, more than "
                "before"
            ),
            self._helped(),
        )

    def _recall(self) -> TextTable:
        rows = []
        for name, edges in self._parts():
            figures = _recall_fields(edges)
            rows.append(
                (
                    name,
                    str(figures["edges"]),
                    _beside(figures["at_1"], figures["chance_at_1"]),
                    _beside(figures["at_3"], figures["chance_at_3"]),
                )
            )
        return TextTable(("edges", "number", "first", "among three"), tuple(rows))

    def _distance(self) -> TextTable:
        edges = self.measured.edges
        columns = ["0 steps", "1 step", *(f"{steps} steps" for steps in range(2, FURTHEST + 1))]
        first, three = ["first"], ["nearest of three"]
        for steps in range(FURTHEST + 1):
            first.append(
                _beside(
                    _mean([e.first <= steps for e in edges]),
                    _mean([e.chance_first[steps] for e in edges]),
                )
            )
            three.append(
                _beside(
                    _mean([e.nearest <= steps for e in edges]),
                    _mean([e.chance_three[steps] for e in edges]),
                )
            )
        return TextTable(("suggestion", *columns), (tuple(first), tuple(three)))

    def _shown(self) -> TextTable:
        shown = [each for each in self.measured.edges if is_shown(each.score)]
        sure = [each for each in shown if each.score >= SURE]
        rows = []
        for name, scores, right in (
            (
                "an edge was taken away",
                [e.score for e in self.measured.edges],
                _mean([e.first == 0 for e in shown]),
            ),
            (
                "the same, said with 85 % or more",
                [e.score for e in sure],
                _mean([e.first == 0 for e in sure]),
            ),
            ("the whole branch of the class is gone", self.measured.strangers, math.nan),
            ("the class belongs at the top level", self.measured.roots, math.nan),
        ):
            fields = _score_fields(scores)
            rows.append(
                (
                    name,
                    str(fields["asked"]),
                    str(fields["shown"]),
                    _percent(right),
                    _percent(fields["highest"]),
                )
            )
        return TextTable(
            ("asked where", "asked", "suggested", "right", "highest score"), tuple(rows)
        )

    def _planted(self) -> TextTable:
        return TextTable(
            (
                "kind",
                "put in",
                "found, in %",
                "remedy right, in %",
                "flagged without a fault, in %",
            ),
            tuple(
                (
                    name,
                    str(each.planted),
                    _percent(each.found / max(1, each.planted)),
                    _percent(each.right / each.found if each.found else math.nan),
                    _percent(each.flagged / max(1, each.untouched)),
                )
                for name, each in self.measured.planted.items()
            ),
        )

    def _helped(self) -> TextTable:
        rows = []
        for name, flag in _HELPED:
            fields = _helped_fields(self.measured, is_suggested=flag)
            rows.append(
                (
                    name,
                    str(fields["classes"]),
                    f"{fields['promised']:.1f}",
                    f"{fields['helped']:.1f}",
                )
            )
        return TextTable(("classes", "number", "promised", "helped"), tuple(rows))


_HELPED = (("suggested", True), ("drawn from the others", False))


def _recall_fields(edges: Sequence[AskedEdge]) -> dict[str, float]:
    return {
        "edges": len(edges),
        "at_1": _mean([each.first == 0 for each in edges]),
        "at_3": _mean([each.nearest == 0 for each in edges]),
        "chance_at_1": _mean([each.chance_first[0] for each in edges]),
        "chance_at_3": _mean([each.chance_three[0] for each in edges]),
    }


def _shown_fields(shown: Sequence[AskedEdge]) -> dict[str, float]:
    return {
        "shown": len(shown),
        "right": _mean([each.first == 0 for each in shown]),
        "score": _mean([each.score for each in shown]),
    }


def _score_fields(scores: Sequence[float]) -> dict[str, float]:
    return {
        "asked": len(scores),
        "shown": sum(map(is_shown, scores)),
        "highest": max(scores, default=math.nan),
    }


def _helped_fields(measured: Measured, *, is_suggested: bool) -> dict[str, float]:
    chosen = [each for each in measured.helped if each.is_suggested == is_suggested]
    return {
        "classes": len(chosen),
        "promised": _mean([each.promised for each in chosen]),
        "helped": _mean([each.helped for each in chosen]),
    }


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def _beside(share: float, chance: float) -> str:
    return f"{_percent(share)} ({_percent(chance)})"


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f}"
