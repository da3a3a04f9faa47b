"""Places that files are dropped on: boxes that open a dialog when clicked, and the light while files are dragged."""

from collections.abc import Callable
from typing import final

from PySide6.QtCore import QEvent, QMimeData, QObject, QSize, Qt
from PySide6.QtGui import QDragEnterEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel, QStyle, QStyleOption, QWidget

from app.controls import fill_column
from app.dragging import IMAGES_MIME
from app.theme.tokens import tokens


@final
class DropBox(QAbstractButton):
    """A framed box with words; a click, Enter or Space does what a drop would, after asking for files.

    Args:
        name: what the click does, for screen readers.
        on_click: asks for files.
        parts: what stands in it, from above to below. Labels let clicks through.
        has_focus: whether the Tab key stops here; not where a button in it does the same.
    """

    def __init__(self, name: str, on_click: Callable[[], None], *parts: QWidget, has_focus: bool = True) -> None:
        super().__init__()
        self.setProperty("role", "drop_box")
        self.setAccessibleName(name)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if has_focus else Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        column = fill_column(self, *parts, spacing=tokens().spacing.tiny)
        column.setContentsMargins(*4 * (tokens().spacing.large,))
        for part in parts:
            if isinstance(part, QLabel):
                part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.clicked.connect(lambda _is_checked=False: on_click())

    def set_open(self, *, is_open: bool) -> None:
        """Be a box, or plain words where nothing can be dropped."""
        self.setProperty("role", "drop_box" if is_open else "")
        self.setCursor(Qt.CursorShape.PointingHandCursor if is_open else Qt.CursorShape.ArrowCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if is_open else Qt.FocusPolicy.NoFocus)
        self.style().polish(self)

    def sizeHint(self) -> QSize:
        layout = self.layout()
        return QSize() if layout is None else layout.sizeHint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        option = QStyleOption()
        option.initFrom(self)
        painter = QPainter(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        painter.end()


def brings_files(data: QMimeData) -> bool:
    """Whether files from outside are dragged, not images of the project."""
    return data.hasUrls() and not data.hasFormat(IMAGES_MIME)


@final
class DropLight(QFrame):
    """A frame around a place, while something is dragged that would go there.

    Args:
        receiver: what takes the drop.
        place: what lights up; the receiver itself when it is the same.
        takes: what would be taken.
    """

    def __init__(
        self, receiver: QWidget, place: QWidget | None = None, takes: Callable[[QMimeData], bool] = brings_files
    ) -> None:
        super().__init__(place or receiver)
        self._place = place or receiver
        self._takes = takes
        self.setProperty("role", "drop_light")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        receiver.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDragEnterEvent):
            self.setGeometry(self._place.rect())
            self.raise_()
            self.setVisible(self._takes(event.mimeData()))
        elif event.type() in (QEvent.Type.DragLeave, QEvent.Type.Drop):
            self.hide()
        return False
