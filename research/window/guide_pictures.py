"""`make guide-pictures`: generate all pictures of the user guide from the sample collection."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QLocale, QMargins, QPoint, QRect, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QScrollArea, QWidget

from app.backups.controller import Backups
from app.computing.controller import Computing
from app.exporting.controller import Exporting
from app.help.typesetting import PIXELS_FOR_ONE
from app.inspector.page import FoldHead
from app.label_import.controller import LabelImports
from app.welcome.controller import Projects
from research.window.screenshot import (
    choose_coarse,
    is_complete,
    is_still,
    opened,
    show_graph,
    show_published,
    show_training,
    wait_until,
)

if TYPE_CHECKING:
    from PySide6.QtGui import QPixmap

    from app.main_window import MainWindow
    from app.palette.overlay import Overlay

SIZE = QSize(960, 600)
"""Size of the window, in logical pixels."""
WIDE = QSize(1320, 600)
"""Size of the window for its parts, about as wide as on most screens."""
THUMBNAILS = 128
"""Side in logical pixels, small enough for several rows."""
COLOURS = 128
"""Colours of a picture; more are indistinguishable, fewer show in the drawings."""
BESIDE = 16
"""Logical pixels around a floating card."""
SELECTED = 9  # images, which are two or three rows
TABLE_ROWS = 24  # of the imported labels
LONG_S = 600  # device tests or drawing the sample on a busy machine
HOME = {
    "PROTOLEAF_CACHE": "cache",
    "PROTOLEAF_BACKUPS": "backups",
    "PROTOLEAF_BACKBONES": "backbones",
    "PROTOLEAF_LOGS": "logs",
    "XDG_CONFIG_HOME": "settings",
}
"""Environment variables that replace the user's folders, each with a scratch folder."""

Show = Callable[["MainWindow"], QRect]
"""Show something on the screen, and return where it is."""


def make_pictures(project: Path, folder: Path) -> None:
    """Make all pictures.

    Args:
        project: the sample project, embedded; it is changed by training.
        folder: output folder.

    Raises:
        TimeoutError: a timeout was reached.
    """
    from app.image_grid.held_order import Order

    with without_project() as window:
        take(window, folder, BEFORE)
    with opened(project, SIZE) as window:
        wait_until(lambda: not window.session.jobs.jobs and window.session.is_settled, LONG_S)
        window.workspace.offer_notice.hide()
        window.workspace.choose_order(Order.SUREST_FIRST)
        choose_coarse(window)
        wait_until(lambda: is_complete(window))
        take(window, folder, WHOLE)
        window.resize(WIDE)
        take(window, folder, PARTS)


def take(window: "MainWindow", folder: Path, shows: Mapping[str, Show]) -> None:
    """Make some pictures of a window, in turn."""
    from app.palette.overlay import Overlay

    for name, show in shows.items():
        for card in window.findChildren(Overlay):
            card.dismiss()
        place = show(window)
        wait_until(lambda: not window.thumbnails.is_busy)
        save(window.grab(place), folder / f"{name}.png")


@contextmanager
def without_project() -> "Iterator[MainWindow]":
    """A window with its first page."""
    from app.main_window import MainWindow
    from app.theme import apply_theme

    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    apply_theme(application)
    window = MainWindow()
    try:
        window.resize(SIZE)
        window.show()
        wait_until(window.isVisible)
        yield window
    finally:
        window.close()


def save(picture: "QPixmap", path: Path) -> None:
    """Write a picture as a small PNG."""
    import numpy as np
    from PIL import Image
    from PySide6.QtGui import QImage

    from engine.new_file import output_file

    image = picture.toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    pixels = rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3)
    few = Image.fromarray(pixels).quantize(
        COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
    )
    with output_file(path) as file:
        few.save(file, "PNG", optimize=True)


# -- what is shown


def _whole(window: "MainWindow") -> QRect:
    return window.rect()


def _part(window: "MainWindow", part: QWidget, *, height: int | None = None) -> QRect:
    corner = part.mapTo(window, QPoint(0, 0))
    return QRect(corner, QSize(part.width(), min(part.height(), height or part.height())))


def _card(window: "MainWindow", card: "Overlay | None") -> QRect:
    """A floating card, with some surroundings if the picture is not too wide."""
    assert card is not None
    beside = max(0, min(BESIDE, (SIZE.width() - card.panel.width()) // 2))
    place = _part(window, card.panel).marginsAdded(QMargins(beside, BESIDE, beside, BESIDE))
    return place.intersected(window.rect())


def _new_project(window: "MainWindow") -> QRect:
    making = window.of(Projects).making
    making.begin()
    wait_until(lambda: making.card is not None and making.card.isVisible(), LONG_S)
    wait_until(lambda: not making.measuring.is_busy, LONG_S)
    return _card(window, making.card)


def _classes(window: "MainWindow") -> QRect:
    window.tree.front.expandAll()
    return _part(window, window.tree)


def _graph(window: "MainWindow") -> QRect:
    show_graph(window)
    wait_until(lambda: is_still(window))
    return _part(window, window.workspace)


def _image_panel(window: "MainWindow") -> QRect:
    return _part(window, window.inspector)


def _class_panel(window: "MainWindow") -> QRect:
    graph = window.session.graph
    window.tree.select_class(min(graph.leaves()))
    wait_until(lambda: window.inspector.class_facts is not None)
    wait_until(lambda: is_complete(window))
    scroll = next(area for area in window.inspector.findChildren(QScrollArea) if area.isVisible())
    rules = next(head for head in scroll.findChildren(FoldHead) if head.isVisible())
    rules.setChecked(True)
    last = scroll.findChild(QCheckBox)
    assert isinstance(last, QCheckBox)
    scroll.ensureWidgetVisible(last)  # below the required confidence
    return _part(window, window.inspector)


def _selection(window: "MainWindow") -> QRect:
    window.registry.trigger("show_to_review")
    wait_until(lambda: is_complete(window))
    grid = window.workspace.grid
    grid.select_row(0)
    for _ in range(SELECTED - 1):
        key = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
        QApplication.sendEvent(grid, key)
    bar = window.workspace.selection_bar
    wait_until(bar.isVisible)
    return _part(window, window.workspace)


def _performance(window: "MainWindow") -> QRect:
    window.registry.trigger("choose_device")
    wait_until(lambda: not window.of(Computing).looking.is_busy, LONG_S)
    return _card(window, window.of(Computing).panel)


def _export(window: "MainWindow") -> QRect:
    window.registry.trigger("export")
    exporting = window.of(Exporting)
    wait_until(lambda: exporting.card is not None and exporting.card.look is not None)
    card = exporting.card
    assert card is not None
    with QSignalBlocker(card.target):  # hides the path of this computer
        card.target.setText(f"~/{Path(card.target.text()).name}")
    return _card(window, card)


def _import_labels(window: "MainWindow") -> QRect:
    """Import labels of three images, one of them a finer class."""
    window.registry.trigger("import_labels")
    imports = window.of(LabelImports)
    imports.read(_table(window))
    wait_until(lambda: imports.card is not None and bool(imports.card.summary))
    return _card(window, imports.card)


def _table(window: "MainWindow") -> Path:
    from engine.graph.codes import NO_CLASS
    from engine.new_file import write_file

    state, graph = window.session.state, window.session.graph
    assert state is not None
    labelled = [
        place for place, label in enumerate(state.label_class.tolist()) if label != NO_CLASS
    ]
    others = [place for place, label in enumerate(state.label_class.tolist()) if label == NO_CLASS]
    leaves = sorted(graph.leaves())
    lines = ["image,class"]
    for place, class_id in zip([labelled[0], *others[: TABLE_ROWS - 1]], leaves[1:], strict=False):
        lines.append(f"{state.path_of(int(state.image_ids[place]))},{graph.name(class_id)}")
    path = Path(os.environ["PROTOLEAF_CACHE"]).parent / "volunteers.csv"
    write_file(path, "\n".join([*lines, f"elsewhere.jpg,{graph.name(leaves[0])}"]))
    return path


def _backups(window: "MainWindow") -> QRect:
    window.registry.trigger("backups")
    panel = window.of(Backups).panel
    assert panel is not None
    wait_until(lambda: bool(panel.cards))
    return _part(window, panel)


def _backbones(window: "MainWindow") -> QRect:
    show_published(window)
    return _part(window, window.side)


def _training(window: "MainWindow") -> QRect:
    show_training(window)
    return _part(window, window.side)


BEFORE: Mapping[str, Show] = {"welcome": _whole, "new-project": _new_project}
"""Pictures without a project, by file name."""
WHOLE: Mapping[str, Show] = {"window": _whole}
"""Pictures of the sample project."""
PARTS: Mapping[str, Show] = {
    "classes": _classes,
    "image-panel": _image_panel,
    "class-panel": _class_panel,
    "selection": _selection,
    "performance": _performance,
    "export": _export,
    "import-labels": _import_labels,
    "backups": _backups,
    "backbones": _backbones,
    "training": _training,
    "graph": _graph,
}
"""Pictures of the sample project in a wide window."""


def main(folder: Path) -> int:
    """Draw the sample collection in a scratch folder, and make the pictures from it."""
    from app.preferences import view as preferences
    from app.review import labelling
    from app.settings import Settings
    from engine.config import CacheFolders
    from engine.new_folder import scratch_folder
    from research.window.embedded_sample import make_sample_project

    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    folder.mkdir(parents=True, exist_ok=True)
    with scratch_folder() as scratch:
        os.environ |= {name: str(scratch / place) for name, place in HOME.items()}
        settings = Settings()
        settings.zoom = THUMBNAILS
        for hint in (labelling.HINT, preferences.HINT):
            settings.remember_shown(hint)
        project = make_sample_project(scratch / "sample", CacheFolders.default())
        make_pictures(project, folder)
    return 0


if __name__ == "__main__":
    os.environ |= {"QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": str(PIXELS_FOR_ONE)}
    sys.exit(main(Path(sys.argv[1])))
