"""What a person requests of classes, in the tree and in the drawing of the graph alike."""

from typing import final

from PySide6.QtCore import QObject, QPoint, Signal

from app.session.subsets import Subset
from app.signal_types import either


@final
class ClassRequests(QObject):
    """Emitted by the views, which change nothing themselves; answered by the window's features."""

    create_requested = Signal(either(int | None))  # parent of the new class, or None
    rename_requested = Signal(int, str)  # class, new name
    remove_requested = Signal(tuple)  # class ids
    unlink_requested = Signal(tuple)  # `Places`: classes, each to be taken away from a parent
    images_requested = Signal(int)  # class
    classes_dropped = Signal(tuple, either(int | None), bool)  # `Places`, new parent or None, whether to link
    images_dropped = Signal(either(int | Subset | None), tuple)  # class, fixed row, or None for a new class; image ids
    files_dropped = Signal(int, tuple)  # class, paths
    menu_requested = Signal(either(int | None), QPoint)  # class or None, place on the screen
