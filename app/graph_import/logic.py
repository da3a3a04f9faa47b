"""Preview of a class list import, computed on a background thread. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.collection.importing.import_graph import GraphPreview, preview_import
from engine.errors import GraphError
from engine.graph.traversal import reachable
from engine.interchange.detect import FORMATS, detect_format, read_graph
from engine.interchange.imported import ImportedGraph
from engine.project import Project

SHOWN_LEVELS = 3  # of the preview tree
SHOWN_CHILDREN = 12  # per class, and at the top level; the others are counted
MOST_LINES = 500  # of each list of changes


@dataclass(frozen=True, slots=True)
class FirstClass:
    """A class of the first levels."""

    name: str
    below: int  # number of descendants
    children: tuple[FirstClass, ...] = ()  # displayed ones
    more: int = 0  # number of children that are not displayed


@dataclass(frozen=True)
class GraphSurvey:
    """A class list, compared with the project."""

    source: Path  # file or folder
    format_name: str  # key of `engine.interchange.detect.FORMATS`
    imported: ImportedGraph  # content, reused by the import
    top: FirstClass  # unnamed root of the preview tree
    # Preview of adding the new classes; None if impossible.
    adding: GraphPreview | None
    failure: str = ""  # why it is impossible
    # Preview of all changes; None if the project has no earlier version.
    updating: GraphPreview | None = None

    @property
    def known_name(self) -> str:
        """Name of the file with an earlier version; "" if there is none."""
        return self.updating.known_name if self.updating else ""

    def preview(self, *, updates: bool) -> GraphPreview | None:
        return self.updating if updates else self.adding


def survey_graph(
    project_path: Path, source: Path, columns: Mapping[str, str] | None = None
) -> GraphSurvey:
    """Read a class list and compare it with the project, which is not changed.

    Args:
        columns: of a table by role, as chosen by the user.

    Raises:
        FormatError, StorageError: it cannot be read.
        GraphError: it cannot be imported into this project.
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
    """Filter of the file dialog: `*.csv *.json …`."""
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
