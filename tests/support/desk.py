"""Drives a window: opens, drops, presses keys and waits for the effects."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.image_grid.view import ImageGrid
from app.main_window import MainWindow
from app.palette.logic import PaletteRow
from app.settings import Settings
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus
from engine.graph.category_graph import CategoryGraph
from engine.log import Log
from engine.project import Change
from tests.support.collections import cache_of_test
from tests.support.sessions import LONG_MS, changed_by, open_project

NO_KEYS = Qt.KeyboardModifier.NoModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier


@final
class Desk:
    """A window and its simulated user."""

    def __init__(self, qtbot: QtBot, settings: Settings, log: Log | None = None) -> None:
        self.qtbot = qtbot
        self.window = MainWindow(cache_of_test(), settings, log)
        self.window.embedding.device = "cpu"
        self.window.resize(1200, 800)
        self.window.show()
        self.window.activateWindow()
        qtbot.waitExposed(self.window, timeout=LONG_MS)

    # -- state

    @property
    def grid(self) -> ImageGrid:
        """The grid of images."""
        return self.window.workspace.grid

    @property
    def state(self) -> CollectionState:
        """The newest state of the open project."""
        assert self.window.session.state is not None
        return self.window.session.state

    @property
    def graph(self) -> CategoryGraph:
        """The classes of the open project."""
        return self.window.session.graph

    def label_of(self, image_id: int) -> str:
        """Name of an image's labelled class; "" for none, "?" for none of the classes."""
        label = int(self.state.label_class[self.state.position(image_id)])
        return {NO_CLASS: "", -2: "?"}.get(label) or (
            self.graph.name(label) if label in self.graph else ""
        )

    def best_of(self, image_id: int) -> str:
        """Name of the class that is predicted for an image."""
        return self.graph.name(int(self.state.best_class[self.state.position(image_id)]))

    # -- actions

    def open(self, path: Path) -> None:
        """Open a project and wait for predictions."""
        open_project(self.qtbot, self.window.session, path)
        self.grid.setFocus()

    def choose(self, row: int) -> int:
        """Choose a card, wait until the inspector is complete, and return the image."""
        self.grid.setFocus()
        self.grid.select_row(row)
        image_id = self.grid.current_id
        assert image_id is not None
        self.wait(
            lambda: (
                self.inspected == image_id and not self.window.inspector.is_waiting_for(image_id)
            )
        )
        return image_id

    @property
    def inspected(self) -> int | None:
        """The image that the inspector shows."""
        facts = self.window.inspector.image_facts
        return None if facts is None else facts.image_id

    def press(self, key: Qt.Key, keys: Qt.KeyboardModifier = NO_KEYS) -> None:
        """Press a key where the focus is."""
        target = QApplication.focusWidget() or self.window
        self.qtbot.keyClick(target, key, keys)

    def press_for_change(self, key: Qt.Key, keys: Qt.KeyboardModifier = NO_KEYS) -> Change:
        """Press a key and wait for the change."""
        return changed_by(self.qtbot, self.window.session, lambda: self.press(key, keys))

    def type_into_palette(self, text: str) -> Sequence[PaletteRow]:
        """Type into the open palette and return its rows."""
        palette = self.window.palette_panel
        assert palette.isVisible()
        field = palette.findChild(QLineEdit)
        assert isinstance(field, QLineEdit)
        field.setText(text)
        return palette.rows

    def drop_files(self, target: QWidget, paths: Sequence[Path]) -> None:
        """Drop external files on a widget."""
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        self.drop(target, data, QPointF(20, 20))

    def drop_on_class(
        self, name: str, data: QMimeData, keys: Qt.KeyboardModifier = NO_KEYS
    ) -> None:
        """Drop data on the row of a class in the tree."""
        view = self.window.tree.front
        class_id = self.graph.find(name)
        view.expandAll()
        (index, *_others) = view.model().indexes_of(class_id)  # type: ignore[attr-defined]
        view.scrollTo(index)
        self.drop(view, data, QPointF(view.visualRect(index).center()), keys)

    def drop(
        self, target: QWidget, data: QMimeData, place: QPointF, keys: Qt.KeyboardModifier = NO_KEYS
    ) -> None:
        """Drop data at a position; it must be accepted."""
        every = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction | Qt.DropAction.LinkAction
        event = QDropEvent(place, every, data, Qt.MouseButton.LeftButton, keys)
        event.ignore()
        target.dropEvent(event)
        assert event.isAccepted()

    # -- waiting

    def click(self, button: QAbstractButton) -> None:
        """Click an enabled button."""
        assert button.isEnabled()
        self.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    def wait(self, is_true: Callable[[], bool]) -> None:
        """Wait until a condition is true."""
        self.qtbot.waitUntil(is_true, timeout=LONG_MS)

    def wait_until_read(self) -> None:
        """Wait until every image is read and predicted."""
        session, embedding = self.window.session, self.window.embedding
        self.wait(
            lambda: (
                session.state is not None
                and bool((session.state.status != ImageStatus.WAITING).all())
                and embedding.job is None
                and not session.jobs.jobs
                and session.is_settled
            )
        )

    def leave(self) -> None:
        """Close the window."""
        self.window.close()
