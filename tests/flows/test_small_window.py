"""A window of 1024 x 600: nothing is clipped or unreachable, and focus stays inside overlays."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.actions.keys_sheet import KeysSheet
from app.backbones.logic import Source
from app.computing.controller import Computing
from app.importing.folder_card import FolderCard
from app.palette.overlay import Overlay
from app.theme import set_scheme
from app.training.controller import Models
from app.welcome.controller import Projects
from engine.collection.importing.folder_choice import FoundFolder
from engine.training.curve import TrainingDuration
from tests.support.backbone_panel import panel_for
from tests.support.clipping import clipped, overlapping
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.scripted_workers import Player
from tests.support.sessions import LONG_MS, settle
from tests.support.widgets import scroll_area

Key = Qt.Key


PANELS = (
    "choose_backbone",
    "tune_propagation",
    "train_backbone",
    "show_model_versions",
    "backups",
    "find_moved_images",
)


@pytest.fixture
def small(desk: Desk) -> Desk:
    """A window of a small screen."""
    desk.window.resize(1024, 600)
    desk.window.toast.hide()
    return desk


def laid_out() -> None:
    """Process pending layout events."""
    QApplication.sendPostedEvents()
    QApplication.processEvents()


def test_many_recent_projects_make_no_window_larger(small: Desk, tmp_path: Path) -> None:
    """The start page scrolls; the window must fit the screen."""
    for number in range(8):
        small.window.settings.remember_project(tmp_path / f"project {number}.protoleaf")
    small.window.first_page_wanted.emit()
    laid_out()
    assert small.window.height() == 600
    assert clipped(small.window.of(Projects).page) == []


@pytest.mark.slow
def test_the_question_about_folders_is_whole(small: Desk, tmp_path: Path) -> None:
    """Folder names, boxes and buttons are not clipped."""
    folders = tuple(
        FoundFolder(tmp_path / f"a rather long name of folder {each}", 1, 12) for each in range(40)
    )
    card = FolderCard(small.window.stage)
    for width in (1600, 1024, 902):
        small.window.resize(width, 600)
        card.ask((FoundFolder(tmp_path, 0, 0, 480), *folders), (), "")
        laid_out()
        laid_out()
        assert clipped(card) == []
    card.dismiss()


def keys_sheet(desk: Desk) -> Overlay:
    """Open the keys sheet."""
    desk.press(Key.Key_Question)
    (sheet,) = desk.window.findChildren(KeysSheet)
    return sheet


def palette(desk: Desk) -> Overlay:
    """Open the palette of commands."""
    desk.press(Key.Key_K, CONTROL)
    return desk.window.palette_panel


def computing(desk: Desk) -> Overlay:
    """Open the devices card."""
    computing = desk.window.of(Computing)
    computing.look = lambda: None  # type: ignore[method-assign]
    desk.press(Key.Key_D, CONTROL)
    assert computing.panel is not None
    return computing.panel


@pytest.mark.slow
@pytest.mark.parametrize("opened", [keys_sheet, palette, computing])
def test_what_floats_is_whole_and_keeps_the_keyboard(
    small: Desk, opened: Callable[[Desk], Overlay]
) -> None:
    """Nothing is clipped in a low window; Tab cycles inside in both directions, Esc closes."""
    overlay = opened(small)
    laid_out()
    assert clipped(overlay) == []
    assert overlay.rect().contains(overlay.panel.geometry())
    layout = overlay.panel.layout()
    assert layout is not None
    assert layout.minimumSize().height() <= overlay.panel.height()
    for keys in (Qt.KeyboardModifier.NoModifier, SHIFT):
        for _ in range(7):
            small.press(Key.Key_Backtab if keys == SHIFT else Key.Key_Tab, keys)
            focused = QApplication.focusWidget()
            assert focused is not None
            assert overlay.isAncestorOf(focused)
    small.press(Key.Key_Escape)
    assert not overlay.isVisible()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_is_whole(reviewing: Desk, panel: str, scheme: str) -> None:
    """On 1,000 x 640, with panels at minimum width: no text is clipped or overlapped."""
    set_scheme(scheme)
    reviewing.window.resize(1000, 640)
    reviewing.window.of(Models).forecast.measuring.make_job = Player([TrainingDuration(1.0, 40.0)])
    reviewing.window.registry.trigger(panel)
    side = reviewing.window.side.currentWidget()
    assert side is not None
    assert side is not reviewing.window.inspector
    settle(reviewing.qtbot, reviewing.window.session)
    laid_out()
    assert reviewing.window.width() == 1000
    # Texts that arrive later are laid out later.
    reviewing.qtbot.waitUntil(lambda: not clipped(side) and not overlapping(side), timeout=LONG_MS)


@pytest.mark.slow
def test_a_short_page_does_not_scroll(reviewing: Desk) -> None:
    """The page of ONNX files is shorter than the list of networks."""
    reviewing.window.resize(1000, 640)
    panel = panel_for(reviewing, Source.FILE)
    laid_out()
    assert panel.file.isVisible()
    assert not scroll_area(panel).verticalScrollBar().isVisible()
