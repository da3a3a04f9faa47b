"""Three doors to another backbone, and the project changed to it and back."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtWidgets import QApplication, QPushButton

from app.backbones.logic import ChangeFigures, Door, ReadyChange
from app.backbones.view import BackbonePanel
from app.jobs.backbones import Stage, Task
from app.jobs.process_job import ProcessJob
from app.theme import set_scheme
from engine.project import Project
from engine.workflows.backbones.library import BackboneLibrary
from engine.workflows.collection_state import ImageStatus
from tests.support.backbone_tasks import LARGE, SMALL, Player, keep_list, progress
from tests.support.backbones import write_tiny_backbone
from tests.support.clipping import clipped
from tests.support.collections import Collection
from tests.support.desk import CONTROL, Desk
from tests.support.live_states import assert_same, own_copy
from tests.support.other_backbones import add_to_library
from tests.support.projects import dump
from tests.support.sessions import changed_by, recorded, settle
from tests.support.weights_server import WeightsServer, serving

Key = Qt.Key
WORKER_MS = 120_000
"""A child of a child looks at a file that nobody vouches for, which takes a busy machine long."""

EXPORT_MS = 400_000
"""A child loads torch, exports a network and compares both."""


def panel_for(desk: Desk, door: Door = Door.COMPUTER) -> BackbonePanel:
    """Choose the action; the panel, once it lists what is here."""
    desk.window.backbones.device = "cpu"
    desk.window.registry.trigger("choose_backbone")
    panel = desk.window.backbones.panel
    assert panel is not None
    desk.wait(lambda: bool(panel.computer.rows))
    panel.show_door(door)
    return panel


def use_button(panel: BackbonePanel, name: str) -> QPushButton:
    """The button of a card."""
    (button,) = [each for each in panel.computer.buttons if each.accessibleName() == f"Use {name} in this project"]
    return button


def open_door(panel: BackbonePanel) -> str:
    """Name of the door that is open."""
    return panel.door.value


def wait_for(desk: Desk, task: Task, stage: Stage, *, timeout_ms: int = WORKER_MS) -> None:
    """Wait for a stage of a task."""
    desk.qtbot.waitUntil(
        lambda: task.stage is stage or (stage is not Stage.FAILED and bool(task.error)), timeout=timeout_ms
    )
    assert (task.stage, task.error if stage is not Stage.FAILED else "") == (stage, "")


def tasks_of(desk: Desk) -> tuple[Task, Task, Task, Task, Task, Task]:
    """Listing, download, inspection, trial, adding, change."""
    tasks = desk.window.backbone_tasks
    return tasks.listing, tasks.download, tasks.inspection, tasks.trial, tasks.adding, tasks.change


@pytest.fixture
def tinyleaf(own_settings_and_caches: None, tmp_path: Path) -> str:
    """A second backbone in the library of the test."""
    return add_to_library(tmp_path).name


# -- the panel


def test_the_panel_stands_beside_the_collection(reviewing: Desk) -> None:
    """By key and palette; it lists what is here, marks what is used, and Esc brings the inspector back."""
    reviewing.press(Key.Key_B, CONTROL)
    panel = reviewing.window.backbones.panel
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
    """One panel at a time, and each gives its room back."""
    narrow = reviewing.window.side.minimumWidth()
    panel = panel_for(reviewing)
    assert reviewing.window.side.minimumWidth() == panel.minimumWidth()
    reviewing.window.registry.trigger("show_model_versions")
    assert not panel.isVisible()
    reviewing.window.models.close_panel()
    assert reviewing.window.side.minimumWidth() == narrow
    assert reviewing.window.inspector.isVisible()


def test_the_keyboard_reaches_doors_and_buttons(reviewing: Desk, tinyleaf: str) -> None:
    """Tabs by arrow keys, everything else by Tab."""
    panel = panel_for(reviewing)
    reviewing.window.backbone_tasks.listing.make_job = Player([{"event": "result", "networks": []}])
    panel.tabs.setFocus()
    reviewing.press(Key.Key_Right)
    assert open_door(panel) == Door.PUBLISHED
    reviewing.press(Key.Key_Left)
    assert open_door(panel) == Door.COMPUTER
    settle(reviewing.qtbot, reviewing.window.session)
    reviewing.wait(lambda: use_button(panel, tinyleaf).isVisible())
    panel._close.setFocus()
    names = []
    for _ in range(2):
        reviewing.press(Key.Key_Tab)
        focused = reviewing.window.focusWidget()
        assert focused is not None
        names.append(focused.accessibleName() or repr(focused))
    assert names == ["Where the backbone comes from", f"Use {tinyleaf} in this project"]


# -- changing the project


def test_a_change_is_measured_used_and_undone(reviewing: Desk, tinyleaf: str) -> None:
    """With the real worker: nothing changes before the answer; then at once, and back to the last bit by the toast."""
    change = reviewing.window.backbone_tasks.change
    panel = panel_for(reviewing)
    before = own_copy(reviewing.state)
    undo_text = reviewing.window.registry.action("undo").text()
    use_button(panel, tinyleaf).click()
    assert panel.tabs.isHidden()
    wait_for(reviewing, change, Stage.DONE)
    assert reviewing.window.registry.action("undo").text() == undo_text
    assert panel.outcome.isVisible()
    assert "Now: " in panel.outcome.text
    assert "Then: " in panel.outcome.text
    assert "24 of your labels, each held out once." in panel.outcome.text
    jobs = recorded(reviewing.window.session.jobs.job_added)
    changed_by(reviewing.qtbot, reviewing.window.session, panel.outcome.use_button.click)
    assert reviewing.window.toast.message == f"Now using {tinyleaf}"
    assert reviewing.state.model_name == tinyleaf
    assert (reviewing.state.status == ImageStatus.READY).all()
    assert (reviewing.state.label_class == before.label_class).all()
    assert not np.array_equal(reviewing.state.best_score, before.best_score)
    reviewing.wait(lambda: panel.computer.rows[0].name == tinyleaf and panel.computer.rows[0].is_used)
    assert not panel.tabs.isHidden()
    (undo,) = reviewing.window.toast.findChildren(QPushButton)
    changed_by(reviewing.qtbot, reviewing.window.session, undo.click)
    assert_same(reviewing.state, before, tolerance=0)
    assert jobs == []
    assert reviewing.window.toast.message == f"Undone: Change the backbone to {tinyleaf}"


def test_keeping_the_old_one_changes_nothing(reviewing: Desk, collection: Collection, tinyleaf: str) -> None:
    """No step, no version; the doors are back."""
    panel = panel_for(reviewing)
    use_button(panel, tinyleaf).click()
    wait_for(reviewing, reviewing.window.backbone_tasks.change, Stage.DONE)
    with reviewing.qtbot.assertNotEmitted(reviewing.window.session.change_made):
        panel.outcome.keep_button.click()
    assert panel.outcome.isHidden()
    assert not panel.tabs.isHidden()
    with Project.open(collection.project, for_writing=False) as project:
        assert len(project.model_versions()) == 1


def test_a_cancel_leaves_the_project_as_it_was(reviewing: Desk, collection: Collection, tinyleaf: str) -> None:
    """Progress has done, total, rate and time left; the answer to Cancel comes at once; Use is there again."""
    change = reviewing.window.backbone_tasks.change
    change.make_job = Player([progress(16, 64), "wait"], [progress(16, 64), "wait"])
    with Project.open(collection.project, for_writing=False) as project:
        before = dump(project), project.model_versions()
    panel = panel_for(reviewing)
    reviewing.wait(lambda: len(panel.computer.rows) == 2)
    for _ in range(2):
        use_button(panel, tinyleaf).click()
        reviewing.wait(lambda: "16 of 64" in panel.run.facts)
        assert "10 images/s" in panel.run.facts
        assert "5 s left" in panel.run.facts
        panel.run.cancel_button.click()
        assert panel.run.facts == "Stopping…"
        reviewing.wait(lambda: change.stage is Stage.IDLE)
        assert not panel.tabs.isHidden()
    with Project.open(collection.project, for_writing=False) as project:
        assert (dump(project), project.model_versions()) == before


def test_a_failure_is_one_line(reviewing: Desk, tinyleaf: str) -> None:
    """In the panel where it is seen, else at the foot of the window."""
    change = reviewing.window.backbone_tasks.change
    message = {"event": "error", "message": "the disk is full. Free some space"}
    change.make_job = Player([message], [message])
    panel = panel_for(reviewing)
    use_button(panel, tinyleaf).click()
    wait_for(reviewing, change, Stage.FAILED)
    assert panel.run.error == "the disk is full. Free some space"
    assert panel.run.failure.isVisible()
    assert not panel.tabs.isHidden()
    use_button(panel, tinyleaf).click()
    panel.close_requested.emit()
    wait_for(reviewing, change, Stage.FAILED)
    assert reviewing.window.toast.message == "the disk is full. Free some space"


def test_it_goes_on_while_nobody_looks(reviewing: Desk, tinyleaf: str) -> None:
    """A toast says that it is ready; its button opens the panel at the decision."""
    panel = panel_for(reviewing)
    use_button(panel, tinyleaf).click()
    panel.close_requested.emit()
    wait_for(reviewing, reviewing.window.backbone_tasks.change, Stage.DONE)
    assert reviewing.window.toast.message == f"{tinyleaf} is ready to be used"
    (look,) = reviewing.window.toast.findChildren(QPushButton)
    look.click()
    assert panel.outcome.isVisible()


def test_closing_the_project_ends_a_change(reviewing: Desk, tinyleaf: str) -> None:
    """Nothing waits for an answer any more."""
    change = reviewing.window.backbone_tasks.change
    change.make_job = Player([progress(1, 64), "wait"])
    panel = panel_for(reviewing)
    use_button(panel, tinyleaf).click()
    reviewing.wait(lambda: change.stage is Stage.RUNNING)
    with reviewing.qtbot.waitSignal(reviewing.window.session.closed):
        reviewing.window.session.close()
    reviewing.wait(lambda: change.stage is Stage.IDLE)
    assert reviewing.window.backbone_tasks.ready is None
    assert not panel.isVisible()


def test_a_read_only_project_cannot_be_changed(
    desk: Desk, collection: Collection, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lists what is here, and that is all."""
    monkeypatch.setattr("engine.project.opening.os.access", lambda _path, _mode: False)
    desk.open(collection.project)
    panel = panel_for(desk)
    assert not use_button(panel, tinyleaf).isEnabled()


def test_a_lost_backbone_is_told_and_mended(desk: Desk, collection: Collection, tinyleaf: str) -> None:
    """The project opens with its predictions; a toast leads to the panel, which says what to do; leafnet mends it."""
    from engine.workflows.backbones.change import prepare_change, use_backbone

    with Project.open(collection.project) as project:
        prepared = prepare_change(project, collection.caches, tinyleaf, device="cpu")
        use_backbone(project, tinyleaf, prepared.backbone_hash)
    BackboneLibrary().remove(tinyleaf)
    desk.open(collection.project)
    assert (desk.state.status == ImageStatus.READY).all()
    desk.wait(lambda: "backbone of this project is gone" in desk.window.toast.message)
    (choose,) = desk.window.toast.findChildren(QPushButton)
    choose.click()
    panel = panel_for(desk)
    desk.wait(lambda: "classes and labels are safe" in panel.lost_text)
    use_button(panel, "leafnet").click()
    wait_for(desk, desk.window.backbone_tasks.change, Stage.DONE)
    changed_by(desk.qtbot, desk.window.session, panel.outcome.use_button.click)
    assert desk.state.model_name == "leafnet"
    desk.wait(lambda: not panel.lost_text)


# -- published networks


def listed(desk: Desk) -> BackbonePanel:
    """The second door, once the real worker has listed what was kept in the cache."""
    keep_list(desk.window.session.caches)
    panel = panel_for(desk, Door.PUBLISHED)
    wait_for(desk, desk.window.backbone_tasks.listing, Stage.DONE)
    assert len(panel.published.model.rows) == 2
    return panel


def test_the_list_is_searched_and_sorted(reviewing: Desk) -> None:
    """By words, and by a click on a heading; no words found is not the same as no list."""
    panel = listed(reviewing)
    page = panel.published
    assert [row.name for row in page.model.rows] == ["largenet SWAG_V1", "smallnet V1"]
    assert page.current is not None
    assert page.card.isVisible()
    page.table.sortByColumn(1, page.table.horizontalHeader().sortIndicatorOrder())
    assert [row.name for row in page.model.rows] == ["smallnet V1", "largenet SWAG_V1"]
    page.search.setText("commercial")
    assert [row.name for row in page.model.rows] == ["largenet SWAG_V1"]
    assert page.card.row is not None
    assert page.card.row.network == "largenet"
    page.search.setText("nothing like it")
    assert page.table.isHidden()
    assert page.card.isHidden()
    assert "No network has these words" in page._nothing.text()
    page.search.clear()
    assert len(page.model.rows) == 2


def test_nothing_is_fetched_before_the_answer(reviewing: Desk) -> None:
    """Size, host and licence first; "Not now" asks for nothing; a stop keeps what came; then it goes on."""
    panel = listed(reviewing)
    card, download = panel.published.card, reviewing.window.backbone_tasks.download
    player = Player([progress(1_200_000, 4_800_000, "bytes", rate=600_000.0), "wait"], ["wait"])
    download.make_job = player
    panel.published.search.setText("smallnet")
    assert card.download_button.text() == "Download 4.8 MB…"
    card.download_button.click()
    assert "Fetches 4.8 MB from 127.0.0.1" in card.question_text
    assert "Licence: none named" in card.question_text.replace("\u200b", "")
    card.refuse_button.click()
    assert player.requests == []
    card.download_button.click()
    card.agree_button.click()
    reviewing.wait(lambda: card.run.facts.startswith("1.2 of 4.8 MB"))
    assert "0.6 MB/s" in card.run.facts
    assert "6 s left" in card.run.facts
    (request,) = player.requests
    assert (request["verb"], request["network"], request["weights"]) == ("add_torchvision", "smallnet", "IMAGENET1K_V1")
    part = reviewing.window.session.caches.root / "downloads" / "smallnet-0123abcd.pth.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(bytes(1_200_000))
    card.run.cancel_button.click()
    reviewing.wait(lambda: card.download_button.text() == "Go on: 1.2 MB of 4.8 MB are here…")
    assert card.download_button.isVisible()


def test_a_network_that_is_here_can_be_used(reviewing: Desk, tmp_path: Path) -> None:
    """After its download the card offers it; while nobody looks, a toast does."""
    panel = listed(reviewing)
    card, tasks = panel.published.card, reviewing.window.backbone_tasks
    tasks.download.make_job = Player([{"event": "result", "name": SMALL.library_name}])
    tasks.change.make_job = player = Player(["wait"])
    panel.published.search.setText("smallnet")
    card.download_button.click()
    add_to_library(tmp_path, name=SMALL.library_name)
    card.agree_button.click()
    reviewing.wait(card.use_button.isVisible)
    assert reviewing.window.toast.message == "smallnet V1 is on this computer now"
    assert card.download_button.isHidden()
    card.use_button.click()
    reviewing.wait(lambda: tasks.change.stage is Stage.RUNNING)
    assert player.requests[0]["backbone"] == SMALL.library_name
    tasks.change.cancel()
    reviewing.wait(lambda: tasks.change.stage is Stage.IDLE)


def test_no_network_is_touched_by_looking(reviewing: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening the door and choosing rows starts one worker, which only lists."""
    requests: list[str] = []
    make_job = reviewing.window.backbone_tasks.listing.make_job

    def make(title: str, request: dict[str, object]) -> ProcessJob:
        requests.append(str(request["verb"]))
        return make_job(title, dict(request))

    for task in tasks_of(reviewing):
        task.make_job = make
    panel = listed(reviewing)
    for row in range(2):
        panel.published.table.selectRow(row)
    panel.show_door(Door.FILE)
    panel.show_door(Door.PUBLISHED)
    assert requests == ["list_torchvision"]
    assert LARGE.library_name not in BackboneLibrary().names()


# -- an ONNX file


def drop(panel: BackbonePanel, desk: Desk, path: Path) -> None:
    """Drop a file on the panel."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    desk.drop(panel, data, QPointF(20, 20))


@pytest.mark.slow
def test_an_onnx_file_is_looked_at_tried_and_added(reviewing: Desk, tmp_path: Path) -> None:
    """With the real worker: facts, a form, a trial on the person's images; what was changed must be tried again."""
    path = tmp_path / "my network.onnx"
    write_tiny_backbone(path)
    panel = panel_for(reviewing)
    page, (_listing, _download, inspection, trial, adding, _change) = panel.file, tasks_of(reviewing)
    drop(panel, reviewing, path)
    assert open_door(panel) == Door.FILE
    wait_for(reviewing, inspection, Stage.DONE)
    assert page.form.isVisible()
    assert "16 numbers an image" in page._facts_text.text()
    assert page.form.preset.currentText() == "ImageNet mean and deviation"
    assert not page.add_button.isEnabled()
    assert page.try_button.text() == "Try it on 8 of your images"
    page.form.name.setText("mine")
    page.form.side.setValue(64)
    page.try_button.click()
    wait_for(reviewing, trial, Stage.DONE)
    assert page.result_text.startswith("It works: 8 images gave 16 numbers each")
    page.add_button.click()
    reviewing.qtbot.waitUntil(lambda: "mine" in BackboneLibrary().names(), timeout=WORKER_MS)
    reviewing.wait(lambda: [row.name for row in panel.computer.rows] == ["leafnet", "mine"])
    assert open_door(panel) == Door.COMPUTER
    assert BackboneLibrary().entry("mine").card.input_side == 64
    assert reviewing.window.toast.message == "mine is on this computer now"
    assert not adding.is_busy


def test_a_file_that_is_no_network_is_refused(reviewing: Desk, tmp_path: Path) -> None:
    """One line with the reason; another file can be chosen at once."""
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"this is no network")
    panel = panel_for(reviewing, Door.FILE)
    panel.file.choose(path)
    wait_for(reviewing, reviewing.window.backbone_tasks.inspection, Stage.FAILED)
    assert "ONNX" in panel.file.inspection.error
    assert panel.file.inspection.failure.isVisible()
    assert not panel.file.form.isVisible()
    assert panel.file.choose_button.isEnabled()


def test_numbers_that_are_none_are_told(reviewing: Desk, tmp_path: Path) -> None:
    """A mean of two numbers cannot be tried; a preset mends it."""
    path = tmp_path / "tiny.onnx"
    write_tiny_backbone(path)
    panel = panel_for(reviewing, Door.FILE)
    panel.file.choose(path)
    wait_for(reviewing, reviewing.window.backbone_tasks.inspection, Stage.DONE)
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
    assert form.preset.currentText() == "Own values"


def test_what_was_changed_must_be_tried_again(reviewing: Desk, tmp_path: Path) -> None:
    """Add waits for a trial of just these settings; a refusal is one line with its reason."""
    path = tmp_path / "tiny.onnx"
    write_tiny_backbone(path)
    tasks = reviewing.window.backbone_tasks
    figures = {"images": 8, "width": 16, "images_per_s": 250.0}
    tasks.trial.make_job = Player(
        [{"event": "result", **figures}], [{"event": "error", "message": "all images look the same to it"}]
    )
    panel = panel_for(reviewing, Door.FILE)
    page = panel.file
    page.choose(path)
    wait_for(reviewing, tasks.inspection, Stage.DONE)
    page.try_button.click()
    wait_for(reviewing, tasks.trial, Stage.DONE)
    assert page.result_text == "It works: 8 images gave 16 numbers each, about 250.0 images/s on one core."
    assert page.add_button.isEnabled()
    page.form.side.setValue(64)
    assert page.result_text == ""
    assert not page.add_button.isEnabled()
    page.try_button.click()
    wait_for(reviewing, tasks.trial, Stage.FAILED)
    assert page.trial.error == "all images look the same to it"
    assert not page.add_button.isEnabled()
    assert page.try_button.isEnabled()


# -- how it looks


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_word_is_cut(reviewing: Desk, tinyleaf: str, tmp_path: Path, scheme: str) -> None:
    """All doors, a question, a form with everything open, a change at work and its outcome, at the least width."""
    set_scheme(scheme)
    tasks = reviewing.window.backbone_tasks
    tasks.change.make_job = Player([progress(123_456, 1_000_000), "wait"])
    write_tiny_backbone(tmp_path / "a network with a rather long name.onnx")
    panel = listed(reviewing)
    reviewing.window.resize(reviewing.window.minimumSizeHint())
    reviewing.wait(lambda: panel.width() == panel.minimumWidth())
    panel.published.card.download_button.click()
    shown = {"published": look(reviewing, panel)}
    panel.show_door(Door.COMPUTER)
    shown["computer"] = look(reviewing, panel)
    panel.show_door(Door.FILE)
    shown["no file"] = look(reviewing, panel)
    panel.file.choose(tmp_path / "a network with a rather long name.onnx")
    wait_for(reviewing, tasks.inspection, Stage.DONE)
    panel.file.form.more_button.click()
    shown["file"] = look(reviewing, panel)
    panel.show_door(Door.COMPUTER)
    use_button(panel, tinyleaf).click()
    reviewing.wait(lambda: " of " in panel.run.facts)
    shown["change"] = look(reviewing, panel)
    tasks.change.cancel()
    reviewing.wait(lambda: tasks.change.stage is Stage.IDLE)
    figures = ChangeFigures(0.571, 0.619, 42, (-0.02, 0.09), may_be_chance=True)
    tasks.ready = ReadyChange(tinyleaf, tinyleaf, "00", figures, failed=1_234)
    tasks.change._enter(Stage.DONE)
    shown["outcome"] = look(reviewing, panel)
    assert [text for texts in shown.values() for text in texts] == []


def look(desk: Desk, panel: BackbonePanel) -> list[str]:
    """Words that are cut, once everything has its place."""
    desk.qtbot.waitUntil(lambda: not desk.window.session.jobs.jobs or bool(panel.run.facts), timeout=WORKER_MS)
    QApplication.sendPostedEvents()
    QApplication.processEvents()
    return clipped(panel)


# -- with a server on this computer


def test_a_download_that_is_another_file_is_refused(reviewing: Desk) -> None:
    """The real worker and a server: the checksum tells, nothing is kept, the reason is one line in the card."""
    with serving(WeightsServer(bytes(4_800_000))) as server:
        keep_list(reviewing.window.session.caches, [replace(SMALL, url=server.url)])
        panel = panel_for(reviewing, Door.PUBLISHED)
        wait_for(reviewing, reviewing.window.backbone_tasks.listing, Stage.DONE)
        card = panel.published.card
        card.download_button.click()
        assert server.ranges == []
        card.agree_button.click()
        wait_for(reviewing, reviewing.window.backbone_tasks.download, Stage.FAILED)
        assert server.ranges == [None]
    assert "not the one that was published" in card.run.error
    assert card.download_button.isVisible()
    assert BackboneLibrary().names() == ()
    assert not list((reviewing.window.session.caches.root / "downloads").glob("*.part"))


@pytest.mark.slow
def test_a_published_network_comes_in_and_is_used(reviewing: Desk) -> None:
    """From the list to a project that uses it: fetched, exported, compared with torch, embedded and measured."""
    from tests.support.published_networks import SMALL as REAL
    from tests.support.published_networks import facts_of, random_state, saved

    content = saved(random_state(REAL))
    with serving(WeightsServer(content)) as server:
        facts = facts_of(REAL, content, server.url)
        keep_list(reviewing.window.session.caches, [facts])
        panel = panel_for(reviewing, Door.PUBLISHED)
        wait_for(reviewing, reviewing.window.backbone_tasks.listing, Stage.DONE)
        card = panel.published.card
        card.download_button.click()
        card.agree_button.click()
        wait_for(reviewing, reviewing.window.backbone_tasks.download, Stage.DONE, timeout_ms=EXPORT_MS)
    reviewing.wait(card.use_button.isVisible)
    card.use_button.click()
    wait_for(reviewing, reviewing.window.backbone_tasks.change, Stage.DONE)
    changed_by(reviewing.qtbot, reviewing.window.session, panel.outcome.use_button.click)
    assert reviewing.state.model_name == facts.library_name
    assert (reviewing.state.status == ImageStatus.READY).all()
