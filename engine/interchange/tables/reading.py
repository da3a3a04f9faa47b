"""What was read of a table, for a person to check: its columns, its first rows, and what each column was taken for."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.interchange.tables.recognise import Layout, Row
from engine.texts import Message, enumerated, marked


@dataclass(frozen=True)
class TableReading:
    """A table as it was understood."""

    columns: tuple[str, ...]  # as the table names them; the first row where it names none
    sample: tuple[Row, ...]  # the first rows
    layout: Layout
    used: Mapping[str, tuple[str, ...]]  # the columns that are read, by what they were taken for

    @property
    def title(self) -> str:
        """The program or standard that the table is of; "" for none that is known."""
        return "" if self.layout.dialect is None else self.layout.dialect.title

    @property
    def summary(self) -> str:
        """`Read as a table of Wildlife Insights: file from filename, class from genus and species`."""
        template = marked("Read as a table of {title}: {used}") if self.title else marked("Read as a table: {used}")
        part = marked("{role} from {columns}")
        used = enumerated(
            Message(part, {"role": role, "columns": enumerated(names)}) for role, names in self.used.items()
        )
        return Message(template, {"title": Message(self.title), "used": used})
