"""What importing a class list would do, found out on a thread of its own. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.collection.importing.import_graph import GraphPreview, preview_import
from engine.errors import GraphError
from engine.graph.traversal import reachable
from engine.interchange.detect import FORMATS, detect_format, read_graph
from engine.interchange.imported import ImportedGraph
from engine.project import Project

SHOWN_LEVELS: Final = 3  # of the tree that shows how a list begins
SHOWN_CHILDREN: Final = 12  # of one class, and of the top level; the others are counted
MOST_LINES: Final = 500  # of each list of changes


@dataclass(frozen=True, slots=True)
class FirstClass:
    """A class of the first levels."""

    name: str
    below: int  # how many classes are below it
    children: tuple[FirstClass, ...] = ()  # those that are shown
    more: int = 0  # how many children are not


@dataclass(frozen=True)
class GraphSurvey:
    """A class list, compared with the project."""

    source: Path  # the file or folder
    format_name: str  # a key of `engine.interchange.detect.FORMATS`
    imported: ImportedGraph  # what is in it; the project's own thread need not read it again
    top: FirstClass  # how it begins; a class without a name, above the top level
    adding: (
        GraphPreview | None
    )  # what adding the new classes would do; None where that is not possible
    failure: str = ""  # why not
    updating: GraphPreview | None = (
        None  # what all changes would do; None where the project has nothing like it
    )

    @property
    def known_name(self) -> str:
        """File of an earlier version that was imported; "" where there is none."""
        return self.updating.known_name if self.updating else ""

    def preview(self, *, updates: bool) -> GraphPreview | None:
        return self.updating if updates else self.adding


def survey_graph(
    project_path: Path, source: Path, columns: Mapping[str, str] | None = None
) -> GraphSurvey:
    """Read a class list and compare it with the project; nothing is changed.

    Args:
        columns: of a table by role, as a person named them.

    Raises:
        FormatError, StorageError: it cannot be read.
        GraphError: it cannot be brought into this project.
    """
    name = "csv" if columns else detect_format(source)
    imported = read_graph(source, name, columns=columns)
    with Project.open(project_path, for_writing=False) as project:
        updating = preview_import(project, imported, source.name, updates=True, most=MOST_LINES)
        adding, failure = None, ""
        try:
            adding = preview_import(project, imported, source.name, updates=False, most=MOST_LINES)
        except GraphError as error:
            if not updating.is_alike:
                raise
            failure = error.translated()
    alike = updating if updating.is_alike else None
    return GraphSurvey(source, name, imported, first_levels(imported), adding, failure, alike)


def file_patterns() -> str:
    """What the dialog for files offers: `*.csv *.json …`."""
    return " ".join(sorted({pattern for one in FORMATS.values() for pattern in one.patterns}))


def first_levels(imported: ImportedGraph) -> FirstClass:
    names = {each.key: each.name for each in imported.classes}
    roots = [key for key, parents in imported.parent_keys.items() if not parents]
    shown, more = _children_shown(roots, names, imported.child_keys, SHOWN_LEVELS)
    return FirstClass("", len(names), shown, more)


def _children_shown(
    keys: Sequence[str],
    names: Mapping[str, str],
    children: Mapping[str, Sequence[str]],
    levels: int,
) -> tuple[tuple[FirstClass, ...], int]:
    if not levels:
        return (), 0
    rows = []
    for key in keys[:SHOWN_CHILDREN]:
        below, more = _children_shown(children.get(key, ()), names, children, levels - 1)
        below_count = len(reachable(lambda each: children.get(each, ()), key))
        rows.append(FirstClass(names[key], below_count, below, more))
    return tuple(rows), max(0, len(keys) - SHOWN_CHILDREN)
