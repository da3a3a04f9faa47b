"""Results on objects in photos, as tables and as plain data."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from research.objects.measurement import METHODS, ObjectOutcome, of_margin
from research.reports.text_table import TextTable, titled_tables
from research.transfer.estimates import estimate


@dataclass(frozen=True)
class ObjectsReport:
    """Outcomes of all methods, margins and numbers of shots."""

    source: str  # name of the data set
    backbone: str
    objects: int
    photos: int
    outcomes: tuple[ObjectOutcome, ...]

    def as_text(self, *, is_markdown: bool = False) -> str:
        """Tables for a terminal, or for the documents."""
        return titled_tables(self._tables(), is_markdown=is_markdown)

    def as_fields(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**asdict(self), "outcomes": [asdict(each) for each in self.outcomes]}

    def _tables(self) -> Iterator[tuple[str, TextTable]]:
        shots = tuple(dict.fromkeys(each.shots for each in self.outcomes))
        header = ("method", "margin", *(f"{count} shot{'s' * (count > 1)}" for count in shots))
        rows = [
            (method, f"{margin:g}" if margin else "-", *(_cell(found, count) for count in shots))
            for method in METHODS
            for margin, found in of_margin(self.outcomes, method).items()
        ]
        draws = len(self.outcomes[0].balanced)
        title = (
            f"balanced accuracy over objects in %; {self.source}, {self.objects:,} objects of "
            f"{self.photos:,} photos, "
            f"{self.backbone}, {draws} draws"
        )
        yield title, TextTable(header, tuple(rows))


def _cell(outcomes: list[ObjectOutcome], shots: int) -> str:
    return next(estimate(each.balanced).as_percent() for each in outcomes if each.shots == shots)
