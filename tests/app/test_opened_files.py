"""A double click on a project while the program runs, as macOS tells it."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from app.opened_files import OpenedFiles


def test_projects_are_opened_and_other_files_are_not(qapp: QApplication) -> None:
    """Whoever else wants the others gets them."""
    opened: list[Path] = []
    listener = OpenedFiles(qapp, opened.append)
    try:
        for name in ("/photos/birds.protoleaf", "/photos/gull.jpg"):
            QCoreApplication.sendEvent(qapp, QFileOpenEvent(name))
    finally:
        qapp.removeEventFilter(listener)
        listener.deleteLater()
    assert opened == [Path("/photos/birds.protoleaf")]
