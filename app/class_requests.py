"""Requests and drops on classes that the class tree and the drawing of the graph share."""

from dataclasses import dataclass
from typing import final

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QDrag
from PySide6.QtWidgets import QWidget

from app.dragging import (
    Dragged,
    DraggedClasses,
    DraggedFiles,
    DraggedImages,
    Places,
    classes_mime_data,
    drag_picture,
)
from app.drops import classes_text, dropped_text, refusal_text
from app.session.subsets import Subset
from app.signal_types import either
from engine.graph.category_graph import CategoryGraph
from engine.graph.placement import Refusal, placement_refusal


@final
class ClassRequests(QObject):
    """Signals of the views, which change nothing themselves; handled by the window's features."""

    import_requested = Signal()  # of a class list
    create_requested = Signal(either(int | None))  # parent of the new class, or None
    rename_requested = Signal(int, str)  # class, new name
    remove_requested = Signal(tuple)  # class ids
    unlink_requested = Signal(tuple)  # `Places`: classes, each to be taken away from a parent
    images_requested = Signal(int)  # class
    # `Places`, new parent or None, whether to link.
    classes_dropped = Signal(tuple, either(int | None), bool)
    # Class, fixed row, or None for a new class; image ids.
    images_dropped = Signal(either(int | Subset | None), tuple)
    files_dropped = Signal(int, tuple)  # class, paths
    menu_requested = Signal(either(int | None), QPoint)  # class or None, place on the screen

    def drop(self, dragged: Dragged, class_id: int | None, *, is_link: bool) -> None:
        """Emit the request for a drop on a class, or on empty space (None)."""
        if isinstance(dragged, DraggedClasses):
            self.classes_dropped.emit(dragged.places, class_id, is_link)
        elif isinstance(dragged, DraggedImages):
            self.images_dropped.emit(class_id, dragged.image_ids)
        else:
            self.files_dropped.emit(class_id, dragged.paths)


@dataclass(frozen=True)
class DropVerdict:
    """Outcome of a drop on a class."""

    is_taken: bool = False
    text: str = ""  # the outcome or the reason of a refusal; "" where it means nothing
    refusal: Refusal | None = None

    @property
    def path(self) -> tuple[int, ...]:
        """The classes of the cycle that it would close."""
        return () if self.refusal is None else self.refusal.path


def judge_drop(
    graph: CategoryGraph, dragged: Dragged | None, class_id: int | None, *, is_link: bool
) -> DropVerdict:
    """Return the outcome of a drop on a class, or on empty space (None)."""
    if dragged is None or (class_id is None and isinstance(dragged, DraggedFiles)):
        return DropVerdict()
    if isinstance(dragged, DraggedClasses):
        refusal = placement_refusal(graph, dragged.places, class_id, is_link=is_link)
        if refusal is not None:
            return DropVerdict(text=refusal_text(graph, refusal, class_id), refusal=refusal)
    return DropVerdict(is_taken=True, text=dropped_text(graph, dragged, class_id, is_link=is_link))


def drag_classes(widget: QWidget, places: Places, graph: CategoryGraph) -> None:
    """Drag classes; returns after the drop."""
    names = [graph.name(class_id) for class_id, _parent in places]
    drag = QDrag(widget)
    drag.setMimeData(classes_mime_data(places, names))
    drag.setPixmap(
        drag_picture(
            widget, graph.shown_name(places[0][0]) if len(names) == 1 else classes_text(len(names))
        )
    )
    drag.setHotSpot(QPoint(-8, -8))
    actions = Qt.DropAction.MoveAction | Qt.DropAction.CopyAction | Qt.DropAction.LinkAction
    drag.exec(actions, Qt.DropAction.MoveAction)
