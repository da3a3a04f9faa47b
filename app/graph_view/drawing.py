"""The laid-out graph as arrays, with hit testing, and a thread that computes layouts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.canvas.camera import Rect
from app.jobs.background_thread import BackgroundThread
from engine.arrays import Doubles, Integers

if TYPE_CHECKING:
    from engine.graph.category_graph import CategoryGraph
    from engine.graph_drawing.layout import CardSize, Layout

CARD_WIDTH = 168.0  # of a card, in drawing units: logical pixels at full size
CARD_HEIGHT = 148.0  # of a card: a picture and two lines
GAP_ACROSS = 28.0  # between cards side by side
GAP_ALONG = 72.0  # between levels: room for curved edges
# Classes in the first drawing of a graph, at most, however large the screen is.
MOST_AT_FIRST = 80

Route = Doubles


@dataclass(frozen=True)
class Drawing:
    """Classes and edges with their positions."""

    ids: Integers  # (n,) class ids
    centres: Doubles  # (n, 2) centres of their cards
    hidden: Integers  # (n,) number of classes folded into a card
    distances: Integers  # (n,) steps from the class in focus; -1 without a focus
    parents: Integers  # (e,) row of each edge's parent
    children: Integers
    routes: Sequence[Route]  # polyline of each edge, from the parent's card to the child's
    ends: Doubles  # (e, 4) start and end of each route
    boxes: Doubles  # (e, 4) bounding box of each route
    bounds: Rect  # bounding box of the drawing
    rows: Mapping[int, int] = field(repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    def row_of(self, class_id: int) -> int | None:
        return self.rows.get(class_id)

    def box(self, row: int) -> Rect:
        x, y = self.centres[row].tolist()
        return x - CARD_WIDTH / 2, y - CARD_HEIGHT / 2, x + CARD_WIDTH / 2, y + CARD_HEIGHT / 2

    def rows_in(self, rect: Rect) -> Integers:
        half = (CARD_WIDTH / 2, CARD_HEIGHT / 2)
        inside = (self.centres + half >= rect[:2]) & (self.centres - half <= rect[2:])
        return np.flatnonzero(inside[:, 0] & inside[:, 1])

    def edges_in(self, rect: Rect) -> Integers:
        inside = (self.boxes[:, :2] <= rect[2:]) & (self.boxes[:, 2:] >= rect[:2])
        return np.flatnonzero(inside[:, 0] & inside[:, 1])

    def row_at(self, x: float, y: float) -> int | None:
        found = self.rows_in((x, y, x, y))
        return int(found[-1]) if len(found) else None

    def edge_near(self, x: float, y: float, reach: float) -> int | None:
        """The edge nearest to a point, within `reach`."""
        best, best_distance = None, reach
        for edge in self.edges_in((x - reach, y - reach, x + reach, y + reach)).tolist():
            distance = _distance(np.array((x, y)), curve_points(self.routes[edge]))
            if distance <= best_distance:
                best, best_distance = edge, distance
        return best

    def shifted(self, dx: float, dy: float) -> Drawing:
        """The same classes, translated; edges are not updated."""
        return replace(self, centres=self.centres + np.array((dx, dy)))

    def edges_of(self, row: int, rect: Rect) -> Integers:
        edges = self.edges_in(rect)
        return edges[(self.parents[edges] == row) | (self.children[edges] == row)]

    def edge_between(self, parent_id: int, child_id: int) -> int | None:
        parent, child = self.rows.get(parent_id), self.rows.get(child_id)
        if parent is None or child is None:
            return None
        found = np.flatnonzero((self.parents == parent) & (self.children == child))
        return int(found[0]) if len(found) else None


def make_drawing(
    places: Mapping[int, tuple[float, float]],
    edges: Iterable[tuple[int, int]],
    routes: Mapping[tuple[int, int], Sequence[tuple[float, float]]],
    *,
    hidden: Mapping[int, int],
    distances: Mapping[int, int],
) -> Drawing:
    ids = list(places)
    rows = {class_id: row for row, class_id in enumerate(ids)}
    centres = np.array([places[each] for each in ids], dtype=np.float64).reshape(-1, 2)
    pairs = [pair for pair in edges if pair[0] in rows and pair[1] in rows]
    lines = [
        np.array(routes[pair], dtype=np.float64)
        if pair in routes
        else straight(centres[rows[pair[0]]], centres[rows[pair[1]]])
        for pair in pairs
    ]
    ends, boxes = _ends_and_boxes(lines)
    return Drawing(
        np.array(ids, dtype=np.int64),
        centres,
        np.array([hidden.get(each, 0) for each in ids], dtype=np.int64),
        np.array([distances.get(each, -1) for each in ids], dtype=np.int64),
        np.array([rows[parent] for parent, _ in pairs], dtype=np.int64),
        np.array([rows[child] for _, child in pairs], dtype=np.int64),
        lines,
        ends,
        boxes,
        _bounds(centres, boxes),
        rows,
    )


def first_row(drawing: Drawing) -> int | None:
    """Row of the topmost class, of several the leftmost."""
    if not len(drawing):
        return None
    return int(np.lexsort((drawing.centres[:, 0], drawing.centres[:, 1]))[0])


def empty_drawing() -> Drawing:
    return make_drawing({}, (), {}, hidden={}, distances={})


def moved_along(before: Drawing, after: Drawing, share: float) -> Drawing:
    """Interpolate positions between two drawings; new classes are at their final position."""
    centres = after.centres.copy()
    known = [
        (row, before.rows[class_id])
        for class_id, row in after.rows.items()
        if class_id in before.rows
    ]
    if known:
        to, of = np.array(known).T
        centres[to] = before.centres[of] + share * (after.centres[to] - before.centres[of])
    lines = [
        straight(centres[parent], centres[child])
        for parent, child in zip(after.parents.tolist(), after.children.tolist(), strict=True)
    ]
    ends, boxes = _ends_and_boxes(lines)
    bounds = _bounds(centres, boxes)
    return replace(after, centres=centres, routes=lines, ends=ends, boxes=boxes, bounds=bounds)


def straight(parent: Doubles, child: Doubles) -> Route:
    """A straight line from the bottom of a parent's card to the top of a child's."""
    return np.array(
        ((parent[0], parent[1] + CARD_HEIGHT / 2), (child[0], child[1] - CARD_HEIGHT / 2))
    )


def _ends_and_boxes(lines: Sequence[Route]) -> tuple[Doubles, Doubles]:
    if not lines:
        return np.zeros((0, 4)), np.zeros((0, 4))
    starts = np.cumsum([0, *(len(line) for line in lines[:-1])])
    points = np.concatenate(lines)
    ends = np.concatenate((points[starts], points[np.append(starts[1:], len(points)) - 1]), axis=1)
    boxes = np.concatenate(
        (np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)), axis=1
    )
    return ends, boxes


def _bounds(centres: Doubles, boxes: Doubles) -> Rect:
    if not len(centres):
        return 0.0, 0.0, 1.0, 1.0
    low, high = centres.min(axis=0), centres.max(axis=0)
    left, top = low[0] - CARD_WIDTH / 2, low[1] - CARD_HEIGHT / 2
    right, bottom = high[0] + CARD_WIDTH / 2, high[1] + CARD_HEIGHT / 2
    if len(boxes):
        left, top = min(left, boxes[:, 0].min()), min(top, boxes[:, 1].min())
        right, bottom = max(right, boxes[:, 2].max()), max(bottom, boxes[:, 3].max())
    return float(left), float(top), float(right), float(bottom)


def curve_points(route: Route, pieces: int = 8) -> Route:
    """Points on the curve that is drawn for a route."""
    share = np.linspace(0.0, 1.0, pieces + 1)[:, None]
    parts = []
    for start, end in pairwise(route):
        middle = (start[1] + end[1]) / 2
        bend, back = np.array((start[0], middle)), np.array((end[0], middle))
        rest = 1 - share
        parts.append(
            rest**3 * start
            + 3 * rest**2 * share * bend
            + 3 * rest * share**2 * back
            + share**3 * end
        )
    return np.concatenate(parts)


def _distance(point: Doubles, line: Route) -> float:
    start, step = line[:-1], np.diff(line, axis=0)
    length = np.maximum((step**2).sum(axis=1), 1e-12)
    share = np.clip(((point - start) * step).sum(axis=1) / length, 0.0, 1.0)
    nearest = start + share[:, None] * step
    return float(np.sqrt(((nearest - point) ** 2).sum(axis=1)).min())


@dataclass(frozen=True)
class LayoutRequest:
    """Input of a layout."""

    graph: CategoryGraph  # a copy that is never changed
    # Expanded branches; None for the initial ones.
    opened: frozenset[int] | None
    focus: int | None = None  # class whose neighbourhood is drawn
    shown: int | None = None  # class that must be visible
    anchor: int | None = None  # class that keeps its position on the screen
    # Size of the viewport at a readable scale, in drawing units.
    room: tuple[float, float] | None = None

    @property
    def shape(self) -> float | None:
        """Aspect ratio of the viewport, width by height."""
        return None if self.room is None else self.room[0] / self.room[1]


@dataclass(frozen=True)
class LaidOut:
    """A drawing with its request and the expanded branches."""

    request: LayoutRequest
    opened: frozenset[int]
    drawing: Drawing


@final
class Layouts(QObject):
    """Lays out graphs on a background thread; a newer request replaces a pending one."""

    done = Signal(LaidOut)
    failed = Signal(str)  # error text for the user

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = BackgroundThread("graph-layout", self)
        self._waiting: LayoutRequest | None = None
        self.is_busy = False  # whether a layout is running
        self._before: Layout | None = None

    def want(self, request: LayoutRequest) -> None:
        """Request a layout; a pending request is dropped."""
        self._waiting = request
        if not self.is_busy:
            self._begin()

    def forget(self) -> None:
        self._waiting = self._before = None

    def stop(self) -> None:
        self._waiting = None
        self._thread.stop()

    def _begin(self) -> None:
        request, before = self._waiting, self._before
        if request is None:
            return
        self._waiting, self.is_busy = None, True
        self._thread.ask(
            lambda: lay_out_requested(request, before),
            lambda made: self._deliver(*made),
            self._on_failed,
        )

    def _deliver(self, answer: LaidOut, layout: Layout) -> None:
        self.is_busy, self._before = False, layout
        if self._waiting is None:
            self.done.emit(answer)
        else:
            self._begin()

    def _on_failed(self, message: str) -> None:
        self.is_busy = False
        self.failed.emit(message)
        self._begin()


def lay_out_requested(request: LayoutRequest, before: Layout | None) -> tuple[LaidOut, Layout]:
    from engine.graph_drawing.layout import lay_out
    from engine.graph_drawing.shown import opened_to, shown_graph

    graph = request.graph
    opened = _first_opened(request) if request.opened is None else request.opened
    if request.shown is not None and request.shown in graph:
        opened = opened_to(graph, opened, request.shown)
    focus = request.focus if request.focus is not None and request.focus in graph else None
    shown = shown_graph(graph, opened, focus=focus)
    layout = lay_out(shown, _card_size(), before=before, shape=request.shape)
    drawing = make_drawing(
        layout.places,
        shown.edges,
        layout.routes,
        hidden={each.class_id: each.hidden for each in shown.classes},
        distances={
            each.class_id: each.distance for each in shown.classes if each.distance is not None
        },
    )
    return LaidOut(request, opened, drawing), layout


def _first_opened(request: LayoutRequest) -> frozenset[int]:
    """Expand as many branches as fit into the viewport at a readable scale."""
    from engine.graph_drawing.layout import lay_out
    from engine.graph_drawing.shown import first_opened, shown_graph

    def fits(opened: frozenset[int]) -> bool:
        layout = lay_out(
            shown_graph(request.graph, opened, is_counted=False), _card_size(), shape=request.shape
        )
        _left, _top, width, height = layout.bounds
        return request.room is None or (width <= request.room[0] and height <= request.room[1])

    return first_opened(request.graph, MOST_AT_FIRST, fits)


def _card_size() -> CardSize:
    from engine.graph_drawing.layout import CardSize

    return CardSize(CARD_WIDTH, CARD_HEIGHT, GAP_ACROSS, GAP_ALONG)
