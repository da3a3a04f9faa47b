"""Ten views of the window in each language: `python -m research.window.language_pictures FOLDER`.

Each in light and dark, of the sample collection, whose classes have names in these languages.
`QT_SCALE_FACTOR=2` draws them for a screen of 200 %. Languages and views may be selected after the
folder: `FOLDER zh_CN settings`.
"""

import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QSize
from PySide6.QtWidgets import QApplication

from app.language import ENGLISH, install_language, language_names, spoken_language
from app.map.controller import Maps
from app.theme import apply_fonts
from app.welcome.controller import Projects
from research.window.guide_pictures import HOME, LONG_S, without_project
from research.window.screenshot import Show, grab, is_still, opened, show_graph, wait_until

if TYPE_CHECKING:
    from app.main_window import MainWindow

SIZE = QSize(1200, 750)
"""Size of the window, in logical pixels."""
SCHEMES = ("light", "dark")
CLASS = "Common daisy"  # with its page
SETTLED_MS = 1_500  # after which all animations have ended


def _new_project(window: "MainWindow") -> None:
    making = window.of(Projects).making
    making.begin()
    wait_until(lambda: making.card is not None and making.card.isVisible(), LONG_S)
    wait_until(lambda: not making.measuring.is_busy, LONG_S)


def _images(window: "MainWindow") -> None:
    window.registry.trigger("show_to_review")
    window.workspace.grid.select_row(1)


def _class_page(window: "MainWindow") -> None:
    window.tree.front.expandAll()
    window.tree.select_class(window.session.graph.find(CLASS))
    wait_until(lambda: window.inspector.class_facts is not None)


def _map(window: "MainWindow") -> None:
    """Wait for the points; at first use the map is computed."""
    maps, found = window.of(Maps), []
    window.registry.trigger("show_map")
    connection = maps.loader.found.connect(lambda *_map: found.append(True))
    wait_until(lambda: bool(found) and not maps.loader.slot.is_busy, LONG_S)
    maps.loader.found.disconnect(connection)


def _by_action(name: str) -> Show:
    return lambda window: window.registry.trigger(name)


BEFORE: Mapping[str, Show] = {"welcome": lambda _window: None, "new-project": _new_project}
"""Views without a project, by file name."""
VIEWS: Mapping[str, Show] = {
    "images": _images,
    "class": _class_page,
    "graph": show_graph,
    "map": _map,
    "groups": _by_action("group_review"),
    "report": _by_action("report"),
    "training": _by_action("train_backbone"),
    "export": _by_action("export"),
    "settings": _by_action("settings"),
}
"""Views of the sample project."""


def make_pictures(project: Path, folder: Path, views: Collection[str]) -> None:
    """Make pictures in the current language."""
    with without_project() as window:
        _take(window, folder, BEFORE, views)
    with opened(project, SIZE) as window:
        wait_until(lambda: not window.session.jobs.jobs and window.session.is_settled, LONG_S)
        window.workspace.offer_notice.hide()
        _take(window, folder, VIEWS, views)


def _take(
    window: "MainWindow", folder: Path, shows: Mapping[str, Show], views: Collection[str]
) -> None:
    from app.palette.overlay import Overlay

    window.resize(SIZE)
    for name, show in shows.items():
        if views and name not in views:
            continue
        for card in window.findChildren(Overlay):
            card.dismiss()
        show(window)
        _settle(window)
        grab(window, {scheme: folder / f"{name}-{scheme}.png" for scheme in SCHEMES}, is_still)


def _settle(window: "MainWindow") -> None:
    clock = QElapsedTimer()
    clock.start()
    wait_until(
        lambda: clock.elapsed() > SETTLED_MS and not window.session.jobs.jobs and is_still(window),
        LONG_S,
    )


def main(folder: Path, chosen: Collection[str]) -> int:
    """Make the pictures of the chosen languages and views; by default of all."""
    from app.preferences import view as preferences
    from app.review import labelling
    from app.settings import Settings
    from engine.config import CacheFolders
    from engine.new_folder import scratch_folder
    from research.window.embedded_sample import make_sample_project

    application = QApplication(sys.argv[:1])
    names = [code for code in language_names() if code in chosen] or [*language_names()]
    views = {*chosen} - {*language_names()}
    if unknown := views - {*BEFORE, *VIEWS}:
        sys.stderr.write(
            f"no view: {', '.join(sorted(unknown))}; there are {', '.join((*BEFORE, *VIEWS))}\n"
        )
        return 2
    with scratch_folder() as scratch:
        os.environ |= {name: str(scratch / place) for name, place in HOME.items()}
        settings = Settings()
        for hint in (labelling.HINT, preferences.HINT):
            settings.remember_shown(hint)
        project = make_sample_project(scratch / "sample", CacheFolders.default())
        for code in names:
            settings.language = "" if code == ENGLISH else code
            install_language(application, code)
            apply_fonts(application, spoken_language())
            (folder / code).mkdir(parents=True, exist_ok=True)
            make_pictures(project, folder / code, views)
            sys.stdout.write(f"{folder / code}\n")
    return 0


if __name__ == "__main__":
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
