"""For `protoleaf benchmark graph`: draw the graph, move classes, pan, zoom; record the times."""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, Qt, QTimer

from research.window.startup_report import BYTES_PER_MIB, write_report

if TYPE_CHECKING:
    from app.graph_view.board import GraphBoard
    from app.graph_view.drawing import Drawing
    from app.main_window import MainWindow
    from engine.project import Change, Project

REPORT_VARIABLE = "PROTOLEAF_GRAPH_REPORT"
RUN_VARIABLE = "PROTOLEAF_GRAPH_RUN"
"""`look` draws the graph and centres some classes; `edit` moves classes, pans and zooms."""
SETTLE_MS = 1000
"""After loading, until the window is idle."""
POLL_MS = 1
"""Interval of polling a condition."""
MOVES = 20
"""Moves of classes; every other one moves back."""
FLIGHTS = 5
"""Classes to centre, spread over the graph."""
FRAME_MS = 16
FRAMES = 60
"""Frames of each kind of panning or zooming: about a second."""
PUSH = (-11.0, -7.0)
"""Pixels from one frame to the next, as by quick dragging."""
PINCH = 1.04
"""Zoom from one frame to the next: tenfold within a second."""
SCALES = (0.0, 0.25, 1.0)
"""Scales to pan at: all visible, many small cards, readable cards."""

Until = Callable[[], bool]
"""Condition that the script waits for."""
Spent = tuple[float, float]
"""Wall-clock and processor seconds."""


def attach_graph_report(window: "MainWindow") -> None:
    """Measure the drawing once loaded, where requested by the environment; then close."""
    target = os.environ.get(REPORT_VARIABLE)
    if target:
        _Report(window, Path(target), is_edited=os.environ.get(RUN_VARIABLE) == "edit")


@final
class _Report(QObject):
    """Run a script: a generator that yields the conditions to wait for."""

    def __init__(self, window: "MainWindow", target: Path, *, is_edited: bool) -> None:
        super().__init__(window)
        self._window, self._target = window, target
        self._fields: dict[str, Any] = {}
        self._script = self._edit() if is_edited else self._look()
        self._until: Until = lambda: True
        self._timer = QTimer(self, interval=POLL_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_timeout)
        window.session.loaded.connect(lambda: QTimer.singleShot(SETTLE_MS, self._timer.start))

    def _on_timeout(self) -> None:
        if not self._until():
            return
        try:
            following = next(self._script, None)
        except BaseException:
            self._timer.stop()
            self._window.close()  # without a report, which the waiting process handles
            raise
        if following is not None:
            self._until = following
            return
        self._timer.stop()
        from engine.worker.limits import peak_memory_bytes

        self._fields["memory_mib"] = peak_memory_bytes() / BYTES_PER_MIB
        write_report(self._target, self._fields)
        self._window.close()

    # -- scripts

    def _look(self) -> Iterator[Until]:
        yield from self._first()
        classes = self._window.session.graph.classes()
        flights = self._fields["flights"] = list[Spent]()
        for number in range(1, FLIGHTS + 1):
            start = _now()
            self._board.fly_to(classes[number * (len(classes) - 1) // FLIGHTS])
            yield self._stands
            flights.append(_since(start))

    def _edit(self) -> Iterator[Until]:
        yield from self._first()
        yield from self._moves()
        yield from self._all()
        yield from self._frames()

    def _first(self) -> Iterator[Until]:
        yield lambda: self._window.session.is_settled
        start = _now()
        self._window.registry.trigger("show_graph")
        yield self._stands
        self._fields["first"] = _since(start)
        self._fields["first_classes"] = len(self._board.canvas.drawing)

    def _moves(self) -> Iterator[Until]:
        """Move a class to another parent and back; wait until all is painted."""
        yield from self._open_some()
        canvas = self._board.canvas
        canvas.is_calm = True  # no animation, whose duration is fixed and not to be measured
        class_id, first, other = self._movable()
        moves = self._fields["moves"] = list[Spent]()
        for number in range(MOVES):
            yield lambda: self._window.session.is_settled  # one edit at a time, as by a user
            here, there = (other, first) if number % 2 else (first, other)
            before, start = self._board.canvas.drawing, _now()
            self._window.session.act(moving(class_id, here, there))
            yield partial(self._stands_anew, before)
            moves.append(_since(start))
        canvas.is_calm = False

    def _open_some(self) -> Iterator[Until]:
        """Expand two more branches, so that there are some to move between."""
        board, before = self._board, self._board.canvas.drawing
        closed = before.ids[before.hidden > 0].tolist()[:2]
        if closed:
            board.model.opened = (board.model.opened or frozenset()) | set(closed)
            board.model.lay_out()
            yield partial(self._stands_anew, before)

    def _movable(self) -> tuple[int, int, int]:
        """A drawn class with one parent, that parent, and another expanded one."""
        graph, drawing = self._window.session.graph, self._board.canvas.drawing
        ids = drawing.ids.tolist()
        ends = zip(drawing.parents.tolist(), drawing.children.tolist(), strict=True)
        below = {ids[child]: ids[parent] for parent, child in ends}
        for class_id, parent in reversed(below.items()):
            taken = graph.descendants(class_id) | {class_id, parent}
            others = [each for each in dict.fromkeys(below.values()) if each not in taken]
            if others and len(graph.parents(class_id)) == 1:
                return class_id, parent, others[-1]
        raise AssertionError("a class can be moved in every graph of some size")

    def _all(self) -> Iterator[Until]:
        board, before, start = self._board, self._board.canvas.drawing, _now()
        board.model.opened = frozenset(self._window.session.graph.classes())
        board.model.lay_out()
        yield lambda: board.canvas.drawing is not before
        board.canvas.set_camera(board.canvas.fitting)
        yield self._stands
        self._fields["all"] = _since(start)
        self._fields["all_classes"] = len(board.canvas.drawing)

    def _frames(self) -> Iterator[Until]:
        """Pan there and back at several scales; zoom in from all to one card, and out again."""
        canvas = self._board.canvas
        pan = self._fields["pan"] = list[Spent]()
        zoom = self._fields["zoom"] = list[Spent]()
        for scale in SCALES:
            canvas.set_camera(canvas.fitting)
            if scale:
                canvas.pinch(scale / canvas.camera.scale)
            for way in (1, -1):
                yield from self._timed(partial(canvas.pan, way * PUSH[0], way * PUSH[1]), pan)
        canvas.set_camera(canvas.fitting)
        for factor in (PINCH, 1 / PINCH):
            yield from self._timed(partial(canvas.pinch, factor), zoom)

    def _timed(self, act: Callable[[], None], times: list[Spent]) -> Iterator[Until]:
        """Act in each frame; record the time from its schedule until it was on the screen."""
        due_s = time.perf_counter()
        for _ in range(FRAMES):
            yield partial(_is_past, due_s)
            start_s = time.thread_time()
            act()
            self._board.canvas.repaint()
            now_s = time.perf_counter()
            times.append((now_s - due_s, time.thread_time() - start_s))
            due_s = max(now_s, due_s + FRAME_MS / 1000)

    # -- the drawing

    @property
    def _board(self) -> "GraphBoard":
        return self._window.workspace.graph.board

    def _stands_anew(self, before: "Drawing") -> bool:
        return self._board.canvas.drawing is not before and self._stands()

    def _stands(self) -> bool:
        """Whether all is drawn and painted."""
        board = self._board
        return (
            len(board.canvas.drawing) > 0
            and not board.model.layouts.is_busy
            and board.canvas.is_complete
        )


def _now() -> Spent:
    return time.perf_counter(), time.process_time()


def _since(start: Spent) -> Spent:
    now = _now()
    return now[0] - start[0], now[1] - start[1]


def _is_past(due_s: float) -> bool:
    return time.perf_counter() >= due_s


def moving(class_id: int, here: int, there: int) -> "Callable[[Project], Change]":
    """An action that moves a class."""
    return lambda project: project.classes.move([(class_id, here)], there)
