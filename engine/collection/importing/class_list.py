"""A class list for a project that is still to be made: read on its own, from a file or from text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from engine.collection.importing.folder_choice import FoundFolder, folders_called
from engine.errors import FormatError
from engine.graph.names import loose_name
from engine.interchange.detect import read_graph
from engine.interchange.imported import ImportedGraph
from engine.interchange.limits import TAXONOMY_BYTES
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.read_table import ColumnPreview, preview_columns
from engine.interchange.taxonomies.name_list import read_lines


@dataclass(frozen=True)
class ClassList:
    """What reading a class list gave.

    Attributes:
        source: the file or folder; the title of a text.
        imported: its classes; None for a table that does not say which of its columns is which.
        columns: where it is a table.
    """

    source: Path
    imported: ImportedGraph | None
    columns: ColumnPreview | None = None

    @property
    def count(self) -> int:
        return 0 if self.imported is None else len(self.imported.classes)

    @property
    def levels(self) -> int:
        """How many levels the classes are on: one more than the longest path has edges."""
        if self.imported is None:
            return 0
        level: dict[str, int] = {}
        for key in self.imported.parents_first:
            level[key] = 1 + max(
                (level[parent] for parent in self.imported.parent_keys[key]), default=0
            )
        return max(level.values(), default=0)

    @cached_property
    def _loose_names(self) -> frozenset[str]:
        return (
            frozenset(loose_name(each.name) for each in self.imported.classes)
            if self.imported
            else frozenset()
        )

    def known_folders(self, folders: Sequence[FoundFolder]) -> frozenset[Path]:
        """The folders that are called as a class is."""
        return folders_called(folders, lambda name: loose_name(name) in self._loose_names)

    def top_names(self, most: int) -> tuple[str, ...]:
        """Names of the first classes without a parent."""
        if self.imported is None:
            return ()
        parents = self.imported.parent_keys
        return tuple(each.name for each in self.imported.classes if not parents[each.key])[:most]


def read_class_list(source: Path, columns: Mapping[str, str]) -> ClassList:
    """Read a file or folder.

    Args:
        columns: of a table by role, as a person named them.

    Raises:
        FormatError, StorageError: it cannot be read, other than a table whose columns a person may name.
    """
    try:
        imported = read_graph(source, columns=columns)
    except FormatError:
        found = preview_columns(source, TablePurpose.CLASSES, columns)
        if found is None or found.is_clear or not found.rows:
            raise
        return ClassList(source, None, found)
    return ClassList(source, imported, preview_columns(source, TablePurpose.CLASSES, columns))


def read_class_text(text: str, title: str) -> ClassList:
    """Read names that a person typed or pasted, one to a line; what is indented lies below the line above.

    Raises:
        FormatError: no classes can be made of it.
    """
    TAXONOMY_BYTES.check(len(text), title)
    return ClassList(Path(title), read_lines(enumerate(text.splitlines(), start=1), title))
