"""The backbone panel: opening a source, finding buttons, waiting for tasks."""

from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, QUrl
from PySide6.QtWidgets import QAbstractButton, QApplication

from app.backbones.controller import Backbones
from app.backbones.logic import BackboneRow, Origin, Source
from app.backbones.view import BackbonePanel
from app.jobs.slot import JobSlot, Stage
from engine.backbones.model_files import ModelFiles
from engine.backbones.published.titles import LIBRARY_PREFIX
from engine.config import assets_folder
from engine.model_card import BackboneCard
from tests.support.backbone_jobs import store_catalogue
from tests.support.clipping import clipped, overlapping
from tests.support.desk import Desk

WORKER_MS = 120_000
"""A grandchild process examines an untrusted file, which is slow on a busy machine."""

EXPORT_MS = 400_000
"""A child loads torch, exports a network and compares both."""


def panel_for(desk: Desk, source: Source = Source.COMPUTER) -> BackbonePanel:
    """Open the panel and wait until it lists the backbones."""
    desk.window.settings.device = "cpu"
    desk.window.registry.trigger("choose_backbone")
    panel = desk.window.of(Backbones).panel
    assert panel is not None
    desk.wait(lambda: bool(panel.computer.rows))
    panel.show_source(source)
    return panel


def backbone_row(origin: Origin, *, is_used: bool = False) -> BackboneRow:
    """A backbone of 97.8 MB of a given origin."""
    name = f"{LIBRARY_PREFIX}mine" if origin is Origin.PUBLISHED else "mine"
    folder = assets_folder() if origin is Origin.BUNDLED else Path("library")
    card = BackboneCard(name, 224, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0), embedding_width=512)
    files = ModelFiles(name, folder / "mine.onnx", "00", card, folder / "propagation.onnx", "00")
    return BackboneRow(files, name, 97_800_000, is_used=is_used)


def use_button(panel: BackbonePanel, name: str) -> QAbstractButton:
    """The button of a card."""
    (button,) = [
        each
        for each in panel.computer.buttons
        if each.accessibleName() == f"Use {name} in this project"
    ]
    return button


def open_source(panel: BackbonePanel) -> str:
    """Name of the source whose page is shown."""
    return panel.source.value


def wait_for(desk: Desk, task: JobSlot, stage: Stage, *, timeout_ms: int = WORKER_MS) -> None:
    """Wait for a stage of a task."""
    desk.qtbot.waitUntil(
        lambda: task.stage is stage or (stage is not Stage.FAILED and bool(task.error)),
        timeout=timeout_ms,
    )
    assert (task.stage, task.error if stage is not Stage.FAILED else "") == (stage, "")


def tasks_of(desk: Desk) -> tuple[JobSlot, JobSlot, JobSlot, JobSlot, JobSlot, JobSlot]:
    """Tasks: listing, download, inspection, trial, adding, change."""
    tasks = desk.window.of(Backbones).jobs
    return tasks.listing, tasks.download, tasks.inspection, tasks.trial, tasks.adding, tasks.change


def listed(desk: Desk) -> BackbonePanel:
    """The second source, after the real worker has read the cached list."""
    store_catalogue(desk.window.session.caches)
    panel = panel_for(desk, Source.PUBLISHED)
    wait_for(desk, desk.window.of(Backbones).jobs.listing, Stage.DONE)
    assert len(panel.published.model.rows) == 2
    return panel


def drop(panel: BackbonePanel, desk: Desk, path: Path) -> None:
    """Drop a file on the panel."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    desk.drop(panel, data, QPointF(20, 20))


def look(desk: Desk, panel: BackbonePanel) -> list[str]:
    """Words that are clipped or overlap, after layout."""
    desk.qtbot.waitUntil(
        lambda: not desk.window.session.jobs.jobs or bool(panel.run.progress.facts),
        timeout=WORKER_MS,
    )
    QApplication.sendPostedEvents()
    QApplication.processEvents()
    return clipped(panel) + [" on ".join(pair) for pair in overlapping(panel)]
