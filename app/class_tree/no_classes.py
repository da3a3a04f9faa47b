"""What stands where no class is to be seen; images dropped there are to become the first shots of a new one."""

from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QLabel, QWidget

from app.dragging import DraggedImages, read_dragged
from app.drops import LazyChip, new_class_text
from app.theme.tokens import tokens


@final
class NoClasses(QLabel):
    """A quiet text."""

    images_dropped = Signal(tuple)  # image ids

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.is_editable = False
        self._chip = LazyChip(self)
        self.setProperty("role", "muted")
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        space = tokens().spacing.large
        self.setContentsMargins(space, space, space, space)
        self.setAcceptDrops(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # keys for classes work here, too

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Let images in; files go to the window around it."""
        is_welcome = self.is_editable and isinstance(read_dragged(event.mimeData()), DraggedImages)
        event.accept() if is_welcome else event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        dragged = read_dragged(event.mimeData())
        if not isinstance(dragged, DraggedImages):
            return
        place = self.mapToGlobal(event.position().toPoint())
        self._chip.say(new_class_text(len(dragged.image_ids)), place, dragged)
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        self._chip.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self._chip.hide()
        dragged = read_dragged(event.mimeData())
        if isinstance(dragged, DraggedImages):
            event.accept()
            self.images_dropped.emit(dragged.image_ids)
