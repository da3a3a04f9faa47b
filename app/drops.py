"""Drop targets: the text at the pointer, boxes for files, and frames around targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QDragEnterEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel, QStyle, QStyleOption, QWidget

from app.controls import fill_column
from app.dragging import (
    CARRIED_HEIGHTS,
    IMAGES_MIME,
    Dragged,
    DraggedClasses,
    DraggedImages,
    Places,
)
from app.key_names import ENTER_KEYS
from app.painting import colour_of, paint_box, smooth_painter
from app.texts import fill, plural, shortened, tr, with_breaks
from app.theme.tokens import tokens
from app.wording import images
from engine.graph.placement import Obstacle

if TYPE_CHECKING:
    from engine.graph.category_graph import CategoryGraph
    from engine.graph.placement import Refusal


STEPS_NAMED = 4
"""Most classes of a path that are named; the middle of a longer one is left out."""


def classes_text(count: int) -> str:
    return plural(count, "1 class", "{n} classes")


def drop_text(graph: CategoryGraph, places: Places, to_parent: int | None, *, is_link: bool) -> str:
    """Describe moving or linking classes: `Move under Oak`, `Move from Elm to Oak`, ..."""
    count = len({class_id for class_id, _parent in places})
    if to_parent is None:
        return plural(count, "Move to the top level", "Move {n} classes to the top level")
    name = shortened(graph.shown_name(to_parent))
    if count == 1 and not is_link and (left := _left_parent(graph, *places[0])):
        return tr("Move from {1} to {2}", left, name)
    if count == 1:
        return fill(tr("Add {1} as a parent") if is_link else tr("Move under {1}"), name)
    template = tr("Add {2} as a parent of {1}") if is_link else tr("Move {1} under {2}")
    return fill(template, classes_text(count), name)


def _left_parent(graph: CategoryGraph, class_id: int, parent_id: int | None) -> str:
    """The parent that a class of several parents is moved from; "" where it has no other."""
    is_named = parent_id is not None and len(graph.parents(class_id)) > 1
    return shortened(graph.shown_name(parent_id)) if is_named and parent_id is not None else ""


def dropped_text(
    graph: CategoryGraph, dragged: Dragged, class_id: int | None, *, is_link: bool
) -> str:
    """Describe a drop on a class, or on empty space (None): `Label 12 images as Oak`, ..."""
    if isinstance(dragged, DraggedClasses):
        return drop_text(graph, dragged.places, class_id, is_link=is_link)
    name = "" if class_id is None else graph.shown_name(class_id)
    if isinstance(dragged, DraggedImages):
        count = len(dragged.image_ids)
        return (
            new_class_text(count)
            if class_id is None
            else tr("Label {1} as {2}", images(count), name)
        )
    return tr("Add and label as {1}", name)


def new_class_text(count: int) -> str:
    return tr("New class with {1}", images(count))


def refusal_text(graph: CategoryGraph, refusal: Refusal, to_parent: int | None) -> str:
    """The reason why a drop is refused; "" where it would change nothing."""
    name = shortened(graph.shown_name(refusal.class_id))
    place = "" if to_parent is None else shortened(graph.shown_name(to_parent))
    match refusal.obstacle:
        case Obstacle.CYCLE:
            return tr("{1} cannot be its own ancestor: {2}", name, _path_text(graph, refusal.path))
        case Obstacle.ALREADY_THERE:
            return tr("{1} is already under {2}", name, place)
        case Obstacle.OTHER_PARENTS:
            return tr("{1} has another parent; unlink it there first", name)
        case Obstacle.NAME_TAKEN if to_parent is None:
            return tr("There is already a class “{1}” at the top level", name)
        case Obstacle.NAME_TAKEN:
            return tr("There is already a class “{1}” under {2}", name, place)
        case Obstacle.NOTHING_TO_DO:
            return ""


def _path_text(graph: CategoryGraph, path: tuple[int, ...]) -> str:
    """The path as text: `Animal > Bird > Gull`."""
    names = [shortened(graph.shown_name(class_id), 30) for class_id in path]
    if len(names) > STEPS_NAMED:
        names = [*names[: STEPS_NAMED // 2], "…", *names[-(STEPS_NAMED // 2) :]]
    return " > ".join(names)


WIDEST = 320  # maximum width of the text, in logical pixels
MARGIN = 12
# Offset of the chip from the pointer: below the arrow, clear of the row.
FROM_POINTER = QPoint(16, 18)
_WRAPPED = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap


@final
class LazyChip:
    """A drop chip that is made on first use."""

    def __init__(self, view: QWidget) -> None:
        self._view = view
        self._chip: DropChip | None = None

    def show_message(
        self, text: str, place: QPoint, dragged: Dragged | None = None, *, is_refusal: bool = False
    ) -> None:
        """Show a text below the drag pixmap at a screen position; "" hides the chip."""
        if not text:
            self.hide()
            return
        if self._chip is None:
            self._chip = DropChip(self._view.window())
        self._chip.show_message(
            text, place, CARRIED_HEIGHTS.get(type(dragged), 0), is_refusal=is_refusal
        )

    def hide(self) -> None:
        if self._chip is not None:
            self._chip.hide()


@final
class DropChip(QWidget):
    """Floats over the window; transparent for the mouse and for drags."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.text = ""
        self.is_refusal = False  # whether the text is the reason of a refusal
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def show_message(
        self, text: str, place: QPoint, carried_height: int, *, is_refusal: bool = False
    ) -> None:
        window = self._window
        self.is_refusal = is_refusal
        if text != self.text:
            self.text = text
            self.setAccessibleName(text)
            self.resize(self.sizeHint())
        tip = window.mapFromGlobal(place)
        corner = tip + FROM_POINTER + QPoint(0, carried_height)
        if corner.y() + self.height() > window.height():
            corner.setY(tip.y() - self.height() - MARGIN)
        corner.setX(max(MARGIN, min(corner.x(), window.width() - self.width() - MARGIN)))
        self.move(corner)
        self.raise_()
        self.show()
        self.update()

    def sizeHint(self) -> QSize:
        text = self.fontMetrics().boundingRect(
            QRect(0, 0, WIDEST, WIDEST), int(_WRAPPED), with_breaks(self.text)
        )
        return QSize(text.width() + 1 + 2 * MARGIN, text.height() + MARGIN)

    def paintEvent(self, _event: QPaintEvent) -> None:
        fill, ink = ("danger_soft", "danger") if self.is_refusal else ("inverse", "on_inverse")
        painter, box = smooth_painter(self), QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        edge = ink if self.is_refusal else ""
        paint_box(painter, box, tokens().spacing.radius, fill, edge=edge)
        painter.setPen(colour_of(ink))
        painter.drawText(
            self.rect().adjusted(MARGIN, 0, -MARGIN, 0), int(_WRAPPED), with_breaks(self.text)
        )
        painter.end()


class BoxButton(QAbstractButton):
    """A button sized to its content and framed by the theme; Enter clicks it as well as Space."""

    def sizeHint(self) -> QSize:
        layout = self.layout()
        return QSize() if layout is None else layout.sizeHint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS:
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        option = QStyleOption()
        option.initFrom(self)
        painter = QPainter(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        painter.end()


@final
class DropBox(BoxButton):
    """A framed box for drops; a click, Enter or Space opens a dialog instead.

    Args:
        name: accessible name.
        on_click: opens the dialog.
        parts: its content from top to bottom.
        has_focus: whether it is a tab stop; not where a button in it does the same.
    """

    def __init__(
        self, name: str, on_click: Callable[[], None], *parts: QWidget, has_focus: bool = True
    ) -> None:
        super().__init__()
        self.setProperty("role", "drop_box")
        self.setAccessibleName(name)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if has_focus else Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        space = tokens().spacing
        fill_column(self, *parts, spacing=space.tiny, margins=space.large)
        for part in parts:
            if isinstance(part, QLabel):
                part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.clicked.connect(lambda _is_checked=False: on_click())

    def set_open(self, *, is_open: bool) -> None:
        """Show a box, or plain text where nothing can be dropped."""
        self.setProperty("role", "drop_box" if is_open else "")
        self.setCursor(Qt.CursorShape.PointingHandCursor if is_open else Qt.CursorShape.ArrowCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if is_open else Qt.FocusPolicy.NoFocus)
        self.style().polish(self)


def brings_files(data: QMimeData) -> bool:
    return data.hasUrls() and not data.hasFormat(IMAGES_MIME)


@final
class DropLight(QFrame):
    """A frame shown while accepted data is dragged over the receiver.

    It is drawn around `place`, by default the receiver.
    """

    def __init__(
        self,
        receiver: QWidget,
        place: QWidget | None = None,
        takes: Callable[[QMimeData], bool] = brings_files,
    ) -> None:
        super().__init__(place or receiver)
        self._takes = takes
        self.setProperty("role", "drop_light")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        receiver.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        place = self.parentWidget()  # looked up now: PySide may drop its wrapper of a viewport
        if isinstance(event, QDragEnterEvent) and place is not None:
            self.setGeometry(place.rect())
            self.raise_()
            self.setVisible(self._takes(event.mimeData()))
        elif event.type() in (QEvent.Type.DragLeave, QEvent.Type.Drop):
            self.hide()
        return False
