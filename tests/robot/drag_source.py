"""A window of another program from which files are dragged: `python drag_source.py FILE...`."""

import sys
from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel

TITLE = "Drag source"
PLACE = QPoint(4, 400)
SIDE = 60


@final
class Source(QLabel):
    """A label that starts a drag of the files."""

    def __init__(self, files: Sequence[str]) -> None:
        super().__init__("files", alignment=Qt.AlignmentFlag.AlignCenter)
        self._files = files
        self.setWindowTitle(TITLE)
        self.setFixedSize(SIDE, SIDE)
        self.move(PLACE)

    def mouseMoveEvent(self, _event: QMouseEvent) -> None:
        """Start the drag."""
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(file) for file in self._files])
        drag = QDrag(self)
        drag.setMimeData(data)
        drag.setPixmap(self.grab())
        drag.exec(Qt.DropAction.CopyAction)


def main(files: Sequence[str]) -> int:
    """Show the window until the process is ended."""
    application = QApplication([TITLE])
    source = Source(files)
    source.show()
    return application.exec()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
