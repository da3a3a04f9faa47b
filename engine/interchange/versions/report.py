"""What importing a source would do, or did, in words and figures."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, Literal, get_args

from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.names import join_path
from engine.interchange.imported import ImportedGraph, levels_of, parents_first
from engine.interchange.versions.plan import ImportPlan

ReportKind = Literal["new", "renamed", "moved", "merged", "split", "gone", "removed_here", "kept"]

REPORT_KINDS: Final[tuple[ReportKind, ...]] = get_args(ReportKind)  # in the order in which they are shown
MOST_PARTS: Final = 5  # places, or classes that one became, in one line


@dataclass(frozen=True, slots=True)
class ReportLine:
    """What happens to one class."""

    path: str  # the class as it is here; a new one as it will be
    becomes: str = ""  # its new name, its new places, the class it goes into, those it became, or what the source says
    why: str = ""  # for what stays though the source says otherwise, the reason; else ""
    labels: int = 0  # images that a person labelled with it


@dataclass(frozen=True)
class ImportReport:
    """All of it."""

    source: str  # name of the file or folder
    classes: int  # of the source
    edges: int
    levels: tuple[int, ...]  # classes of the source on each level, the top level first
    is_update: bool  # whether renames, moves and so on are taken over
    same: int  # classes that are here, as the source says
    completed: int  # classes that get a source id or synonyms
    counts: Mapping[ReportKind, int] = field(default_factory=dict)  # how many classes each list is about
    lists: Mapping[ReportKind, tuple[ReportLine, ...]] = field(default_factory=dict)
    """The lists, perhaps only their beginnings."""

    def plain(self) -> dict[str, Any]:
        """The same for a JSON file."""
        lists: dict[str, Any] = {
            kind: [
                {name: value for name in ReportLine.__slots__ if (value := getattr(line, name)) or name == "path"}
                for line in lines
            ]
            for kind, lines in self.lists.items()
        }
        return {
            "source": self.source, "classes_in_source": self.classes, "edges_in_source": self.edges,
            "levels": list(self.levels), "update": self.is_update, "same": self.same, "completed": self.completed,
            **lists,
        }  # fmt: skip


def import_report(
    graph: CategoryGraph,
    imported: ImportedGraph,
    plan: ImportPlan,
    labels: Mapping[ClassId, int],
    *,
    most: int | None = None,
) -> ImportReport:
    """A plan in words.

    Args:
        graph: that the plan was made for, as it is before.
        imported: the source.
        plan: what would be done.
        labels: number of images that a person labelled with exactly each class.
        most: lines of each list; all by default.
    """
    after = graph.copy()
    after.apply(plan.edits)
    makers: Mapping[ReportKind, tuple[Sequence[Any], Callable[[Any], ReportLine]]] = {
        "new": (plan.new, lambda each: ReportLine(after.path_text(each))),
        "renamed": (plan.renamed, lambda each: ReportLine(graph.path_text(each), after.name(each))),
        "moved": (plan.moved, lambda each: ReportLine(graph.path_text(each), _places(after, each))),
        "merged": (plan.merged, lambda pair: ReportLine(graph.path_text(pair[0]), after.path_text(pair[1]))),
        "split": (plan.split, lambda pair: ReportLine(graph.path_text(pair[0]), _several(map(after.name, pair[1])))),
        "gone": (plan.gone, lambda each: ReportLine(graph.path_text(each))),
        "removed_here": (plan.removed_here, ReportLine),
        "kept": (plan.kept, lambda kept: ReportLine(_path_in(graph, kept.class_id), kept.theirs, kept.clash.value)),
    }
    lists = {
        kind: tuple(
            replace(make(each), labels=labels.get(_class_of(each), 0))
            for each in (items if most is None else items[:most])
        )
        for kind, (items, make) in makers.items()
    }
    return ImportReport(
        source=plan.version.name,
        classes=len(imported.classes),
        edges=len(imported.edges),
        levels=_levels(imported),
        is_update=plan.is_update,
        same=plan.same_count,
        completed=len(plan.completed),
        counts={kind: len(items) for kind, (items, _make) in makers.items()},
        lists=lists,
    )


def _class_of(item: Any) -> ClassId:
    """The class that a line is about; 0 for a name that is not here any more."""
    if isinstance(item, tuple):
        return int(item[0])
    return item if isinstance(item, int) else int(getattr(item, "class_id", 0))


def _places(graph: CategoryGraph, class_id: ClassId) -> str:
    return _several(join_path(map(graph.name, path)) for path in graph.paths(class_id))


def _several(texts: Iterable[str]) -> str:
    found = list(islice(texts, MOST_PARTS + 1))
    return ", ".join([*found[:MOST_PARTS], "…"] if len(found) > MOST_PARTS else found)


def _path_in(graph: CategoryGraph, class_id: ClassId) -> str:
    return graph.path_text(class_id) if class_id in graph else ""


def _levels(imported: ImportedGraph) -> tuple[int, ...]:
    counts = Counter(levels_of(imported, parents_first(imported)).values())
    return tuple(counts[level] for level in range(len(counts)))
