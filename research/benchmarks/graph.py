"""The category graph at scale: WordNet imported, opened, searched; 10,000 classes drawn."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.collection.importing.import_graph import import_graph
from engine.collection.new_project import new_project
from engine.config import CacheFolders
from engine.graph.category_graph import CategoryGraph
from engine.graph_drawing.layout import CardSize, Layout, lay_out
from engine.graph_drawing.shown import ShownGraph, shown_graph
from engine.new_folder import scratch_folder
from engine.project import Project
from research.benchmarks.made_taxonomy import WORDNET_CLASSES, write_taxonomy
from research.benchmarks.window_process import report_of

REPORT_VARIABLE = "PROTOLEAF_GRAPH_REPORT"
WORDNET_RUN = {"PROTOLEAF_GRAPH_RUN": "look"}
"""The window draws the graph and centres some classes."""
CLASSES_RUN = {"PROTOLEAF_GRAPH_RUN": "edit"}
"""The window moves classes, expands all branches, pans and zooms."""
CARD = CardSize(width=168, height=72, gap_across=16, gap_along=72)
"""About as large as the window's; times hardly depend on it."""
NAMES_TYPED = 40
"""Names that are searched for letter by letter."""
MOST_LETTERS = 12
"""Most letters of a name that are typed."""


@dataclass(frozen=True)
class GraphFigure:
    """One measured value.

    Attributes:
        name: of the value.
        value: the value.
        unit: "s", "ms", "MiB", or "" for numbers.
        limit: largest allowed value; `None` without one.
        computing: processor time of a time; on a busy machine the rest was spent waiting.
    """

    name: str
    value: float
    unit: str
    limit: float | None = None
    computing: float | None = None

    @property
    def is_kept(self) -> bool:
        """Whether the limit is met."""
        return self.limit is None or self.value <= self.limit


@dataclass(frozen=True)
class GraphFigures:
    """All measured values.

    Attributes:
        synsets: classes of the large taxonomy.
        classes: classes of the graph that is drawn.
        figures: in the order of measuring.
    """

    synsets: int
    classes: int
    figures: tuple[GraphFigure, ...]

    @property
    def are_kept(self) -> bool:
        """Whether every limit is met."""
        return all(figure.is_kept for figure in self.figures)


def measure_graph(
    wordnet: Path | None = None,
    *,
    synsets: int = WORDNET_CLASSES,
    classes: int = 10_000,
    in_window: bool = True,
) -> GraphFigures:
    """Measure the graph.

    Args:
        wordnet: folder with `wordnet.is_a.txt` and `words.txt`; a generated taxonomy of that shape
            by default.
        synsets: classes classes of the generated taxonomy.
        classes: classes of the graph that is drawn.
        in_window: also measure the window; needs a display or Qt's offscreen platform.
    """
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        large, drawn = folder / "large.protoleaf", folder / "drawn.protoleaf"
        (folder / "large").mkdir()
        (folder / "drawn").mkdir()
        source = wordnet or write_taxonomy(folder / "large", synsets)
        figures = [
            _imported(large, source),
            *_opened(large, lambda project: _search(project.classes.graph)),
        ]
        _imported(drawn, write_taxonomy(folder / "drawn", classes))
        with Project.open(drawn, is_backed_up=False) as project:
            figures += _laid_out(project.classes.graph)
        with Project.open(large, is_backed_up=False) as project:
            count = len(project.classes.graph)
        if in_window:
            figures += _edited(
                report_of(
                    ["-m", "research.window", str(drawn)], caches, REPORT_VARIABLE, CLASSES_RUN
                )
            )
            figures += _looked_at(
                report_of(
                    ["-m", "research.window", str(large)], caches, REPORT_VARIABLE, WORDNET_RUN
                )
            )
    return GraphFigures(count, classes, tuple(figures))


def _imported(target: Path, source: Path) -> GraphFigure:
    with new_project(target) as project:
        return _timed("WordNet imported", [_spent(lambda: import_graph(project, source))])


def _opened(path: Path, then: Callable[[Project], Iterator[GraphFigure]]) -> Iterator[GraphFigure]:
    start = _now()
    with Project.open(path, is_backed_up=False) as project:
        len(project.classes.graph)
        yield _timed("WordNet opened", [_since(start)])
        yield from then(project)


def _search(graph: CategoryGraph) -> Iterator[GraphFigure]:
    """Search some names letter by letter."""
    classes = graph.classes()
    names = [graph.name(class_id) for class_id in classes[:: max(1, len(classes) // NAMES_TYPED)]]
    texts = [
        name[:letters] for name in names for letters in range(1, min(len(name), MOST_LETTERS) + 1)
    ]
    yield _timed("search made ready, beside opening", [_spent(graph.make_searchable)])
    spent = [_spent(partial(graph.search, text)) for text in texts]
    yield _timed("search, a letter, 95 %", spent, "ms", 50, percent=95)
    yield _timed("search, a letter, longest", spent, "ms", 50)


def _laid_out(graph: CategoryGraph) -> Iterator[GraphFigure]:
    """Lay out all classes: from scratch, and after one was moved."""
    opened = frozenset(graph.classes())
    shown: list[ShownGraph] = []
    layouts: list[Layout] = []

    def draw(before: Layout | None = None) -> None:
        shown.append(shown_graph(graph, opened))
        layouts.append(lay_out(shown[-1], CARD, before=before))

    yield _timed("all classes laid out", [_spent(draw)], "s", 2)
    leaf, other = (
        graph.leaves()[-1],
        next(each for each in graph.levels()[1] if graph.children(each)),
    )
    graph.move(leaf, graph.parents(leaf)[0], other)
    yield _timed("all laid out after a move", [_spent(lambda: draw(layouts[0]))])
    moved = [
        abs(place[0] - layouts[0].places[class_id][0]) / CARD.width
        for class_id, place in layouts[1].places.items()
    ]
    yield GraphFigure("median way of a class then, cards", float(np.median(moved)), "")
    yield GraphFigure("edges that cross", layouts[0].crossings, "")


def _edited(report: dict[str, Any]) -> Iterator[GraphFigure]:
    """Figures of the window's report with the drawn graph."""
    yield GraphFigure("classes drawn at first", report["first_classes"], "")
    yield _timed("first drawn", [report["first"]], "s", 2)
    yield _timed("a class moved until all stands, 95 %", report["moves"], "ms", 100, percent=95)
    yield GraphFigure("classes drawn, all open", report["all_classes"], "")
    yield _timed("all drawn", [report["all"]], "s", 2)
    for name in ("pan", "zoom"):
        yield _timed(f"{name}, a frame, 95 %", report[name], "ms", 16, percent=95)
        yield _timed(f"{name}, a frame, longest", report[name], "ms")


def _looked_at(report: dict[str, Any]) -> Iterator[GraphFigure]:
    """Figures of the window's report with the large taxonomy."""
    yield _timed("WordNet first drawn", [report["first"]], "s", 2)
    yield _timed("flown to a class, longest", report["flights"])
    yield GraphFigure("memory of the window at most", report["memory_mib"], "MiB", 350)


def _timed(
    name: str,
    spent: Sequence[Sequence[float]],
    unit: str = "s",
    limit: float | None = None,
    *,
    percent: float = 100,
) -> GraphFigure:
    """A figure from pairs of wall-clock and processor seconds."""
    factor = 1000 if unit == "ms" else 1
    passed, computing = (
        float(each) * factor for each in np.percentile(np.array(spent), percent, axis=0)
    )
    return GraphFigure(name, passed, unit, limit, computing)


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(start: tuple[float, float]) -> tuple[float, float]:
    now = _now()
    return now[0] - start[0], now[1] - start[1]


def _spent(act: Callable[[], object]) -> tuple[float, float]:
    start = _now()
    act()
    return _since(start)
