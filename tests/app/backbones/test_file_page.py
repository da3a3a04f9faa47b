"""Source 3: an ONNX file inspected, tried and added."""

from pathlib import Path

import pytest

from app.backbones.controller import Backbones
from app.backbones.logic import Source
from app.jobs.slot import Stage
from engine.backbones.library import BackboneLibrary
from engine.backbones.messages import Trial
from engine.worker.protocol import Failed
from tests.support.backbone_panel import WORKER_MS, drop, open_source, panel_for, tasks_of, wait_for
from tests.support.backbones import write_tiny_backbone
from tests.support.desk import Desk
from tests.support.scripted_workers import Player
from tests.support.widgets import texts

pytestmark = pytest.mark.slow


@pytest.mark.slow
def test_an_onnx_file_is_shown_tried_and_added(reviewing: Desk, tmp_path: Path) -> None:
    """With the real worker: facts, form, trial on own images; changes need another trial."""
    path = tmp_path / "my network.onnx"
    write_tiny_backbone(path)
    panel = panel_for(reviewing)
    page, (_listing, _download, inspection, trial, adding, _change) = (
        panel.file,
        tasks_of(reviewing),
    )
    drop(panel, reviewing, path)
    assert open_source(panel) == Source.FILE
    wait_for(reviewing, inspection, Stage.DONE)
    assert page.form.isVisible()
    assert "16-dimensional embedding" in texts(page)
    assert page.form.preset.currentText() == "ImageNet"
    assert not page.add_button.isEnabled()
    assert page.try_button.text() == "Try it on 8 of your images"
    page.form.name.setText("mine")
    page.form.side.setValue(64)
    page.try_button.click()
    wait_for(reviewing, trial, Stage.DONE)
    assert page.result_text.startswith("It works: 8\u00a0images embedded, 16\u00a0dimensions")
    page.add_button.click()
    reviewing.qtbot.waitUntil(lambda: "mine" in BackboneLibrary().names(), timeout=WORKER_MS)
    reviewing.wait(lambda: [row.name for row in panel.computer.rows] == ["leafnet", "mine"])
    assert open_source(panel) == Source.COMPUTER
    assert BackboneLibrary().entry("mine").card.input_side == 64
    assert reviewing.window.toast.message == "Added mine"
    assert not adding.is_busy


def test_a_file_that_is_no_network_is_refused(reviewing: Desk, tmp_path: Path) -> None:
    """One line with the reason; another file can be chosen at once."""
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"this is no network")
    panel = panel_for(reviewing, Source.FILE)
    panel.file.choose(path)
    wait_for(reviewing, reviewing.window.of(Backbones).jobs.inspection, Stage.FAILED)
    assert "ONNX" in panel.file.inspection.error
    assert panel.file.inspection.failure.isVisible()
    assert not panel.file.form.isVisible()
    assert panel.file.choose_button.isEnabled()


def test_numbers_that_are_none_are_refused(reviewing: Desk, tmp_path: Path) -> None:
    """A mean of two numbers cannot be tried; a preset corrects it."""
    path = tmp_path / "tiny.onnx"
    write_tiny_backbone(path)
    panel = panel_for(reviewing, Source.FILE)
    panel.file.choose(path)
    wait_for(reviewing, reviewing.window.of(Backbones).jobs.inspection, Stage.DONE)
    form = panel.file.form
    form.more_button.click()
    form.mean.selectAll()
    reviewing.qtbot.keyClicks(form.mean, "0.5, 0.5")
    assert form.problem.isVisible()
    assert not panel.file.try_button.isEnabled()
    form.preset.setCurrentIndex(form.preset.findData("minus-one-to-one"))
    assert not form.problem.isVisible()
    assert form.values()["mean"] == (0.5, 0.5, 0.5)
    assert panel.file.try_button.isEnabled()
    form.std.selectAll()
    reviewing.qtbot.keyClicks(form.std, "0.25")
    assert form.preset.currentText() == "Custom"


def test_what_was_changed_must_be_tried_again(reviewing: Desk, tmp_path: Path) -> None:
    """Add needs a trial with exactly these settings; a rejection gives its reason in one line."""
    path = tmp_path / "tiny.onnx"
    write_tiny_backbone(path)
    tasks = reviewing.window.of(Backbones).jobs
    tried = Trial(8, 16, 250.0, memory_bytes=0, mean_length=1.0, spread=1.0, batch_difference=0.0)
    tasks.trial.make_job = Player([tried], [Failed("all images look the same to it")])
    panel = panel_for(reviewing, Source.FILE)
    page = panel.file
    page.choose(path)
    wait_for(reviewing, tasks.inspection, Stage.DONE)
    page.try_button.click()
    wait_for(reviewing, tasks.trial, Stage.DONE)
    assert (
        page.result_text == "It works: 8\u00a0images embedded, 16\u00a0dimensions, "
        "about 250.0\u00a0images/s on one core."
    )
    assert page.add_button.isEnabled()
    page.form.side.setValue(64)
    assert page.result_text == ""
    assert not page.add_button.isEnabled()
    page.try_button.click()
    wait_for(reviewing, tasks.trial, Stage.FAILED)
    assert page.trial.error == "all images look the same to it"
    assert not page.add_button.isEnabled()
    assert page.try_button.isEnabled()


def test_the_file_that_was_chosen_last_is_shown(reviewing: Desk, tmp_path: Path) -> None:
    """The result for a file that was replaced meanwhile is ignored."""
    inspection = reviewing.window.of(Backbones).jobs.inspection
    panel = panel_for(reviewing, Source.FILE)
    inspection.make_job = player = Player(["wait"], [Failed("second is no network")])
    for name in ("first.onnx", "second.onnx"):
        panel.file.choose(tmp_path / name)
    wait_for(reviewing, inspection, Stage.FAILED)
    assert [request.path.name for request in player.requests] == ["first.onnx", "second.onnx"]
    assert panel.file.inspection.error == "second is no network"
    reviewing.wait(lambda: not reviewing.window.session.jobs.jobs)
    assert inspection.stage is Stage.FAILED
