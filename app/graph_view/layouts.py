"""Lays the graph out on a thread of its own; of what is asked while it works only the last counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QObject, Signal

from app.graph_view.drawing import CARD_HEIGHT, CARD_WIDTH, GAP_ACROSS, GAP_ALONG, Drawing, make_drawing
from app.jobs.background_thread import BackgroundThread

if TYPE_CHECKING:  # loads the layout's library
    from engine.graph.category_graph import CategoryGraph
    from engine.graph_drawing.layout import Layout


MOST_AT_FIRST: Final = 80  # classes that a graph is first drawn with, at most: so many can be seen with their faces


@dataclass(frozen=True)
class LayoutWish:
    """What is to be laid out."""

    graph: CategoryGraph  # a copy that nobody changes
    opened: frozenset[int] | None  # the open branches; None for those that a graph is first drawn with
    focus: int | None = None  # the class whose surroundings alone are drawn
    shown: int | None = None  # a class that must be drawn, or None
    anchor: int | None = None  # the class that is to stay where it is on the screen


@dataclass(frozen=True)
class LaidOut:
    """A drawing, and what it was made of."""

    wish: LayoutWish
    opened: frozenset[int]
    drawing: Drawing
    crossings: int  # pairs of edges that cross


@final
class Layouts(QObject):
    """Answers one wish after the other."""

    done = Signal(LaidOut)  # a `LaidOut`
    failed = Signal(str)  # one line for a person

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = BackgroundThread("graph-layout", self)
        self._waiting: LayoutWish | None = None
        self.is_busy = False  # a drawing is on its way
        self._before: Layout | None = None

    def want(self, wish: LayoutWish) -> None:
        """Lay something out; a wish that still waits is dropped."""
        self._waiting = wish
        if not self.is_busy:
            self._begin()

    def forget(self) -> None:
        """Another project: what was drawn says nothing about what is drawn next."""
        self._waiting = self._before = None

    def stop(self) -> None:
        self._waiting = None
        self._thread.stop()

    def _begin(self) -> None:
        wish, before = self._waiting, self._before
        if wish is None:
            return
        self._waiting, self.is_busy = None, True

        def work() -> None:
            answer, layout = lay_out_wish(wish, before)
            self._thread.post(lambda: self._deliver(answer, layout))

        self._thread.submit(work, self._on_failed)

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


def lay_out_wish(wish: LayoutWish, before: Layout | None) -> tuple[LaidOut, Layout]:
    """Find what is to be drawn, and where."""
    from engine.graph_drawing.card_size import CardSize
    from engine.graph_drawing.layout import lay_out
    from engine.graph_drawing.shown import first_opened, opened_to, shown_graph

    graph = wish.graph
    opened = first_opened(graph, MOST_AT_FIRST) if wish.opened is None else wish.opened
    if wish.shown is not None and wish.shown in graph:
        opened = opened_to(graph, opened, wish.shown)
    focus = wish.focus if wish.focus is not None and wish.focus in graph else None
    shown = shown_graph(graph, opened, focus=focus)
    layout = lay_out(shown, CardSize(CARD_WIDTH, CARD_HEIGHT, GAP_ACROSS, GAP_ALONG), before=before)
    drawing = make_drawing(
        layout.places, shown.edges, layout.routes,
        hidden={each.class_id: each.hidden for each in shown.classes},
        distances={each.class_id: each.distance for each in shown.classes if each.distance is not None},
    )  # fmt: skip
    return LaidOut(wish, opened, drawing, layout.crossings), layout
