"""The first rows of a table and what each column is taken for, for a person to look through and correct."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import FormatError, StorageError, UsageError
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.read_table import TABLE_FILES, opened_table
from engine.interchange.tables.recognise import (
    ColumnLayout,
    Row,
    cell_at,
    layout_of,
    partial_layout,
)

PREVIEW_ROWS: Final = 4
_FEWEST_COLUMNS: Final = 2  # of a table; one column is a list
RANK: Final = "rank:"  # before the rank in a meaning
LANGUAGE: Final = "language:"  # before the code of a language in a meaning


@dataclass(frozen=True)
class ColumnPreview:
    """The columns of a table.

    Attributes:
        columns: their names.
        rows: cells of the first rows, one for each column.
        meanings: of each column a role, `RANK` with a rank, `LANGUAGE` with a code, or "" where it is not used.
        is_clear: whether the table says all that is needed.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    meanings: tuple[str, ...]
    is_clear: bool

    @property
    def header(self) -> str:
        """Tells tables with these columns from others."""
        return "\t".join(self.columns)


def preview_columns(
    source: Path, purpose: TablePurpose, given: Mapping[str, str] | None = None
) -> ColumnPreview | None:
    """Look at the first rows of a file; None where it is no table with a header.

    Args:
        source: a file or folder.
        purpose: what the table would be read for.
        given: column by role or rank, as a person named them.

    Raises:
        UsageError: a role, or a column, in `given` is not there.
    """
    if not source.is_file() or source.suffix.casefold() not in TABLE_FILES:
        return None

    def fits(columns: Sequence[str], rows: Sequence[Row]) -> bool:
        try:
            return layout_of(columns, rows, purpose, given) is not None
        except UsageError:  # a column that another separator would bring out
            return False

    try:
        with opened_table(source, fits) as table:
            layout = partial_layout(table.columns, table.sample, purpose, given)
            if len(table.columns) < _FEWEST_COLUMNS or not layout.has_header:
                return None
            count = range(len(table.columns))
            rows = tuple(
                tuple(cell_at(cells, at) for at in count)
                for _, cells in table.sample[:PREVIEW_ROWS]
            )
            is_clear = layout_of(table.columns, table.sample, purpose, given) is not None
            return ColumnPreview(table.columns, rows, _meanings(layout, len(count)), is_clear)
    except (FormatError, StorageError):
        return None


def _meanings(layout: ColumnLayout, count: int) -> tuple[str, ...]:
    found = [""] * count
    for code, at in layout.vernacular:
        found[at] = LANGUAGE + code
    for rank, at in layout.ranks:
        found[at] = RANK + rank
    for role, at in layout.columns.items():
        found[at] = found[at] or role.value
    return tuple(found)
