"""A table of texts, aligned for a terminal or as Markdown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MISSING = "-"
"""Content of an empty cell."""


@dataclass(frozen=True)
class TextTable:
    """Texts in rows of equal length; the first column names the row.

    Attributes:
        header: names of the columns.
        rows: cells.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def as_text(self) -> str:
        """Padded columns, the first left-aligned, others right-aligned; nothing is truncated."""
        widths = [max(map(len, cells)) for cells in zip(self.header, *self.rows, strict=True)]
        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        lines = [_padded(self.header, widths), rule, *(_padded(row, widths) for row in self.rows)]
        return "\n".join(lines)

    def as_markdown(self) -> str:
        """Markdown table; names of rows are escaped, other cells are Markdown already."""
        rule = ("---", *("---:" for _ in self.header[1:]))
        rows = [(_escaped(row[0]), *row[1:]) for row in self.rows]
        return "\n".join("| " + " | ".join(cells) + " |" for cells in [self.header, rule, *rows])


def titled_tables(tables: Iterable[tuple[str, TextTable]], *, is_markdown: bool) -> str:
    """Tables with titles, for a terminal or for the documents."""
    parts = (
        (title, table.as_markdown() if is_markdown else table.as_text()) for title, table in tables
    )
    return "\n\n".join("\n\n".join(pair) for pair in parts)


def _padded(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        f"{cell:{'>' if place else '<'}{widths[place]}}" for place, cell in enumerate(cells)
    )
    return "  ".join([first, *others]).rstrip()


def _escaped(text: str) -> str:
    for character in "\\*_|":
        text = text.replace(character, "\\" + character)
    return text
