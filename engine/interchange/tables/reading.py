"""How a table was understood, for a person to check: what it is, and which of its columns are read."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.texts import Message, enumerated, marked


@dataclass(frozen=True)
class TableReading:
    """A table as it was understood."""

    title: str  # the program or standard that it is of; "" for none that is known
    used: Mapping[str, tuple[str, ...]]  # the columns that are read, by what they were taken for

    @property
    def summary(self) -> str:
        """`Read as a table of Wildlife Insights: file from filename, class from genus and species`."""
        template = marked("Read as a table of {title}: {used}") if self.title else marked("Read as a table: {used}")
        part = marked("{role} from {columns}")
        used = enumerated(
            Message(part, {"role": role, "columns": enumerated(names)}) for role, names in self.used.items()
        )
        return Message(template, {"title": Message(self.title), "used": used})
