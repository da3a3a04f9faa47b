"""Pictures of the window without a display: for the sample run, the documents, and for looking at what was built."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEventLoop, QSize, QTimer
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from app.main_window import MainWindow

SIZE: Final = QSize(1440, 900)
TIMEOUT_S: Final = 60
LOOK_MS: Final = 50


def take_screenshots(project: Path, shots: dict[str, Path], *, class_name: str = "", size: QSize = SIZE) -> None:
    """Open a project, wait until predictions and thumbnails are there, and save the window.

    Args:
        project: the project file.
        shots: "light" and "dark" to the PNG file to write.
        class_name: a class to choose; by default the whole collection is shown.
        size: of the window in logical pixels.

    Raises:
        TimeoutError: the window was not complete in time.
    """
    from app.main_window import MainWindow
    from app.theme import apply_theme, set_scheme

    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    apply_theme(application)
    window = MainWindow()
    try:
        window.resize(size)
        loaded = [False]
        window.session.loaded.connect(lambda: loaded.__setitem__(0, True))
        window.show()
        window.session.open(project)
        wait_until(lambda: loaded[0])
        choose(window, class_name)
        for scheme, target in shots.items():
            set_scheme(scheme)
            wait_until(lambda: is_complete(window))
            window.grab().save(str(target))
    finally:
        window.close()


def choose(window: "MainWindow", class_name: str) -> None:
    """Choose a class, if any, and an image in it."""
    if class_name:
        window.tree.select_class(window.session.graph.find(class_name))
    window.workspace.grid.select_row(2)


def is_complete(window: "MainWindow") -> bool:
    """Whether the inspector has answered and no thumbnail is on its way."""
    has_answer = window.inspector.image_facts is not None or window.inspector.class_facts is not None
    return has_answer and not window.thumbnails.is_busy


def wait_until(is_true: Callable[[], bool], timeout_s: float = TIMEOUT_S) -> None:
    """Let the window work until a condition has held for two looks.

    Raises:
        TimeoutError: it did not come true in time.
    """
    loop, held = QEventLoop(), [0]
    end_s = time.monotonic() + timeout_s

    def look() -> None:
        held[0] = held[0] + 1 if is_true() else 0
        if held[0] > 1 or time.monotonic() > end_s:
            loop.quit()

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(LOOK_MS)
    loop.exec()
    timer.stop()
    if not is_true():
        raise TimeoutError("the window was not complete in time")
