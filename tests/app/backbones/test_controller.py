"""The backbone panel: opening, closing, keyboard access, no clipped text."""

from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt

from app.backbones.controller import Backbones
from app.backbones.logic import Source
from app.jobs.slot import Stage
from app.side_panel.frame import NARROWEST
from app.theme import set_scheme
from app.training.controller import Models
from engine.backbones.messages import PublishedList
from engine.collection.backbone_change import PreparedChange, ShotComparison
from engine.files import FileFailure
from tests.support.backbone_jobs import progress
from tests.support.backbone_panel import listed, look, open_source, panel_for, use_button, wait_for
from tests.support.backbones import write_tiny_backbone
from tests.support.clipping import clipped
from tests.support.desk import CONTROL, Desk
from tests.support.scripted_workers import Player
from tests.support.sessions import settle
from tests.support.widgets import button

pytestmark = pytest.mark.slow

Key = Qt.Key


def test_the_panel_stands_beside_the_collection(reviewing: Desk) -> None:
    """By key and palette; it marks the backbone in use, and Esc shows the inspector again."""
    reviewing.press(Key.Key_B, CONTROL)
    panel = reviewing.window.of(Backbones).panel
    assert panel is not None
    reviewing.wait(lambda: [row.name for row in panel.computer.rows] == ["leafnet"])
    assert panel.computer.rows[0].is_used
    assert not reviewing.window.inspector.isVisible()
    panel.setFocus()
    reviewing.press(Key.Key_Escape)
    assert not panel.isVisible()
    assert reviewing.window.inspector.isVisible()
    reviewing.press(Key.Key_K, CONTROL)
    rows = reviewing.type_into_palette("backb")
    assert {(row.title, row.subtitle) for row in rows} >= {("Backbone", "Model")}
    reviewing.press(Key.Key_Escape)


def test_another_panel_takes_its_place(reviewing: Desk) -> None:
    """Only one panel is open at a time."""
    panel = panel_for(reviewing)
    reviewing.window.registry.trigger("show_model_versions")
    assert not panel.isVisible()
    reviewing.window.of(Models).close_panel()
    assert reviewing.window.inspector.isVisible()


def test_the_keyboard_reaches_doors_and_buttons(reviewing: Desk, tinyleaf: str) -> None:
    """Arrow keys switch tabs; Tab reaches everything else."""
    panel = panel_for(reviewing)
    reviewing.window.of(Backbones).jobs.listing.make_job = Player([PublishedList(())])
    panel.tabs.setFocus()
    reviewing.press(Key.Key_Right)
    assert open_source(panel) == Source.PUBLISHED
    reviewing.press(Key.Key_Left)
    assert open_source(panel) == Source.COMPUTER
    settle(reviewing.qtbot, reviewing.window.session)
    reviewing.wait(lambda: use_button(panel, tinyleaf).isVisible())
    button(panel, "Close").setFocus()
    names = []
    for _ in range(3):
        reviewing.press(Key.Key_Tab)
        focused = reviewing.window.focusWidget()
        assert focused is not None
        names.append(focused.accessibleName() or repr(focused))
    assert names == [
        "Where the backbone comes from",
        f"Use {tinyleaf} in this project",
        f"Remove {tinyleaf}…",
    ]


def test_a_small_screen_has_room_for_it(reviewing: Desk) -> None:
    """On 1024 x 600 the close button is reachable and the workspace is not clipped."""
    window = reviewing.window
    window.resize(1024, 600)
    listed(reviewing)
    reviewing.wait(lambda: window.size() == QSize(1024, 600))
    assert window.minimumSizeHint().width() <= 1024
    assert clipped(window.workspace) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_word_is_cut(reviewing: Desk, tinyleaf: str, tmp_path: Path, scheme: str) -> None:
    """All sources, a question, an expanded form, a running change and its result; minimum width."""
    set_scheme(scheme)
    tasks = reviewing.window.of(Backbones).jobs
    tasks.change.make_job = Player([progress(123_456, 1_000_000), "wait"])
    write_tiny_backbone(tmp_path / "a network with a rather long name.onnx")
    panel = listed(reviewing)
    reviewing.window.resize(900, 600)
    reviewing.wait(lambda: panel.width() == NARROWEST)
    panel.published.card.download_button.click()
    shown = {"published": look(reviewing, panel)}
    proxy = panel.published.proxy
    proxy.open_button.click()
    shown["proxy"] = look(reviewing, panel)
    proxy.field.setText("http://someone:secret@proxy.of-a-rather-long-name.example:3128")
    assert proxy.take_typed()
    shown["proxy with password"] = look(reviewing, panel)
    proxy.field.setText("socks5://proxy.of-a-rather-long-name.example:3128")
    assert not proxy.take_typed()
    shown["no proxy"] = look(reviewing, panel)
    panel.show_source(Source.COMPUTER)
    shown["computer"] = look(reviewing, panel)
    panel.computer.card_of(tinyleaf).remove_button.click()
    shown["removal"] = look(reviewing, panel)
    panel.computer.card_of(tinyleaf).keep_button.click()
    panel.show_source(Source.FILE)
    shown["no file"] = look(reviewing, panel)
    panel.file.choose(tmp_path / "a network with a rather long name.onnx")
    wait_for(reviewing, tasks.inspection, Stage.DONE)
    panel.file.form.more_button.click()
    shown["file"] = look(reviewing, panel)
    panel.show_source(Source.COMPUTER)
    use_button(panel, tinyleaf).click()
    reviewing.wait(lambda: " of " in panel.run.progress.facts)
    shown["change"] = look(reviewing, panel)
    tasks.change.cancel()
    reviewing.wait(lambda: tasks.change.stage is Stage.IDLE)
    figures = ShotComparison(0.571, 0.619, 42, gained=4, lost=2)
    failed = 1_234 * (FileFailure(tmp_path, "it is gone"),)
    tasks.ready = PreparedChange(tinyleaf, tinyleaf, "00", figures, 1, failed)
    tasks.change._enter(Stage.DONE)  # noqa: SLF001 (reports as a child process would)
    shown["outcome"] = look(reviewing, panel)
    assert {state: texts for state, texts in shown.items() if texts} == {}
