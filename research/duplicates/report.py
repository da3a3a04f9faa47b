"""Results of detection of copies, as tables and as plain data."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from research.duplicates.measurement import DetectorOutcome
from research.duplicates.variants import VARIANTS
from research.reports.text_table import TextTable, titled_tables


@dataclass(frozen=True)
class DuplicatesReport:
    """Results of all rules on one collection."""

    collection: str  # name of the folder
    backbone: str  # name of the model
    photos: int
    outcomes: tuple[DetectorOutcome, ...]

    def as_text(self, *, is_markdown: bool = False) -> str:
        """Tables for a terminal, or for the documents."""
        return titled_tables(self._tables(), is_markdown=is_markdown)

    def as_fields(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "collection": self.collection,
            "backbone": self.backbone,
            "photos": self.photos,
            "rules": [vars(outcome) for outcome in self.outcomes],
        }

    def _tables(self) -> Iterator[tuple[str, TextTable]]:
        facts = f"{self.collection}, {self.photos:,} photos, {self.backbone}"
        header = ("rule", "precision", "recall", "pairs of other photos", "of other classes")
        rows = tuple(
            (
                each.name,
                _percent(each.precision),
                _percent(each.recall),
                f"{each.other_photos:,}",
                f"{each.other_classes:,}",
            )
            for each in self.outcomes
        )
        yield f"copies found, in %; {facts}", TextTable(header, rows)
        recalls = tuple(
            (each.name, *(_percent(each.recalls[variant]) for variant in VARIANTS))
            for each in self.outcomes
        )
        yield (
            f"recall by what was done to a photo, in %; {facts}",
            TextTable(("rule", *VARIANTS), recalls),
        )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
