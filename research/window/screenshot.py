"""Pictures of the window without a display, for the sample run and the documents.

`python -m research.window.screenshot PROJECT FOLDER` makes those of the README.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QSize, QTimer
from PySide6.QtWidgets import QApplication

from app.backbones.controller import Backbones
from app.training.controller import Models

if TYPE_CHECKING:
    from app.main_window import MainWindow

SIZE = QSize(1440, 900)
TIMEOUT_S = 60
LOOK_MS = 50
ITERATIONS = 60
"""Iterations of the training that is shown: enough for a curve."""
TRAINING_S = 600

CLASS_IN_GRAPH = "Berries"
"""A class of the sample project; one of its children is also below roses."""

Show = Callable[["MainWindow"], None]


def take_screenshots(
    project: Path, shots: dict[str, Path], *, class_name: str = "", size: QSize = SIZE
) -> None:
    """Open a project, wait until predictions and thumbnails are complete, and save the window.

    Args:
        project: the project file.
        shots: "light" and "dark" to the PNG file to write.
        class_name: a class to select; by default the whole collection is shown.
        size: of the window in logical pixels.

    Raises:
        TimeoutError: the window was not complete in time.
    """
    with opened(project, size) as window:
        choose(window, class_name)
        grab(window, shots, is_complete)


def take_pictures(project: Path, folder: Path, show: "Mapping[str, Show]") -> None:
    """Make pictures of a project, each in light and dark.

    Args:
        project: the project file.
        folder: for `NAME-light.png` and `NAME-dark.png`.
        show: functions that show the content of each picture, by name.

    Raises:
        TimeoutError: a timeout was reached.
    """
    with opened(project, SIZE) as window:
        choose_coarse(window)
        wait_until(lambda: is_complete(window))
        for name, bring in show.items():
            bring(window)
            shots = {scheme: folder / f"{name}-{scheme}.png" for scheme in ("light", "dark")}
            grab(window, shots, is_still)


@contextmanager
def opened(project: Path, size: QSize) -> "Iterator[MainWindow]":
    """A window with a project, classified."""
    from app.main_window import MainWindow
    from app.theme import apply_theme

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
        yield window
    finally:
        window.close()


def grab(
    window: "MainWindow", shots: Mapping[str, Path], is_ready: "Callable[[MainWindow], bool]"
) -> None:
    """Save the window in each scheme."""
    from app.theme import set_scheme

    for scheme, target in shots.items():
        set_scheme(scheme)
        wait_until(lambda: is_ready(window))
        window.grab().save(str(target))


def choose_coarse(window: "MainWindow") -> None:
    """Select the first image with a sure coarse and no sure exact class, else the first of all."""
    from engine.graph.codes import NO_CLASS

    state, leaves = window.session.state, {*window.session.graph.leaves(), NO_CLASS}
    assert state is not None
    is_coarse = {
        i: int(safe) not in leaves
        for i, safe in zip(state.image_ids.tolist(), state.safe_class, strict=True)
    }
    shown = [int(image_id) for image_id in window.workspace.model.image_ids]
    window.workspace.grid.select_image(next(filter(is_coarse.get, shown), shown[0]))


def show_training(window: "MainWindow") -> None:
    """Train the backbone briefly, to its end."""
    from app.training.job import Phase
    from app.training.logic import Depth

    window.registry.trigger("train_backbone")
    models = window.of(Models)
    panel = models.made_panel()
    wait_until(lambda: bool(panel.versions.rows))
    form = panel.forms[Depth.BACKBONE]
    wait_until(lambda: not models.forecast.is_measuring and form.start_button.isEnabled())
    form.iterations.setValue(ITERATIONS)
    form.start_button.click()
    ends = (Phase.DONE, Phase.FAILED)
    wait_until(lambda: models.training.phase in ends, TRAINING_S)


def show_published(window: "MainWindow") -> None:
    """Published networks of the installed packages."""
    from app.backbones.logic import Source

    backbones = window.of(Backbones)
    backbones.open_panel(Source.PUBLISHED)
    wait_until(lambda: bool(backbones.made_panel().published.model.rows))


def show_graph(window: "MainWindow") -> None:
    """The class graph, with a selected class that has relatives in another branch."""
    window.registry.trigger("show_graph")
    wait_until(lambda: is_still(window))
    window.tree.select_class(window.session.graph.find(CLASS_IN_GRAPH))


PICTURES: "Mapping[str, Show]" = {
    "window": lambda _window: None,
    "graph": show_graph,
    "training": show_training,
    "backbones": show_published,
}
"""Pictures of the README, by file name."""


def choose(window: "MainWindow", class_name: str) -> None:
    """Select a class, if any, and an image in it."""
    if class_name:
        window.tree.select_class(window.session.graph.find(class_name))
    window.workspace.grid.select_row(2)


def is_complete(window: "MainWindow") -> bool:
    """Whether the inspector is complete and no thumbnail is pending."""
    has_answer = (
        window.inspector.image_facts is not None or window.inspector.class_facts is not None
    )
    return has_answer and not window.thumbnails.is_busy


def is_still(window: "MainWindow") -> bool:
    """Whether no thumbnail is pending, and the drawing of the classes is complete."""
    if window.thumbnails.is_busy or not window.workspace.is_graph_shown:
        return not window.thumbnails.is_busy
    board = window.workspace.graph.board
    return not board.model.layouts.is_busy and board.canvas.is_complete


def wait_until(is_true: Callable[[], bool], timeout_s: float = TIMEOUT_S) -> None:
    """Process events until a condition has held twice.

    Raises:
        TimeoutError: the timeout was reached.
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


if __name__ == "__main__":
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    take_pictures(Path(sys.argv[1]), Path(sys.argv[2]), PICTURES)
