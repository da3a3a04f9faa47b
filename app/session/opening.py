"""Creates and opens projects, after building a missing backbone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject

from app.jobs.slot import JobSlot, Stage
from app.wording import preparing_text
from engine.config import CacheFolders
from engine.errors import ProjectReadOnlyError

if TYPE_CHECKING:
    from app.jobs.job import JobRunner
    from app.jobs.slow_work import SlowWork
    from engine.collection.live import LiveCollection
    from engine.project import Project
    from engine.worker.protocol import Request


@final
class UnmadeBackboneError(Exception):
    """The project's backbone must be built first.

    `choice` is its kind ("" for none), `preparation` the request to the worker.
    """

    def __init__(self, name: str, choice: str, preparation: Request[Any]) -> None:
        super().__init__(name)
        self.name, self.choice, self.preparation = name, choice, preparation


@final
class BackboneMaking(QObject):
    """Builds the backbone of a project, then continues; a cancel ends the opening."""

    def __init__(self, jobs: JobRunner) -> None:
        super().__init__(jobs)
        self.jobs = jobs
        self.slot = JobSlot(jobs, keeps_finished=False)
        self._tried = ""  # not built again: opening reports the failure
        self._go_on: Callable[[], None] | None = None
        self.slot.stage_changed.connect(self._on_stage_changed)

    def check(self, backbone: str) -> None:
        """Check whether a bundled backbone is built; on the project thread.

        Raises:
            UnmadeBackboneError: it must be built first.
        """
        from engine.backbones.bundled import choice_of, preparation_of

        preparation = None if backbone == self._tried else preparation_of(backbone)
        if preparation is not None:
            raise UnmadeBackboneError(backbone, choice_of(backbone), preparation)

    def check_project(self, project: Project) -> None:
        model = project.models.current
        if not (model.is_trained_here or model.backbone_path):
            self.check(model.backbone_name)

    def begin(self, unmade: UnmadeBackboneError, go_on: Callable[[], None]) -> None:
        """Build it, then call `go_on`, also on failure. Replaces an earlier request."""
        self._go_on = go_on
        self.slot.start(preparing_text(), unmade.preparation, subject=unmade.name)

    def forget(self) -> None:
        self._tried, self._go_on = "", None
        self.slot.abandon()

    def _on_stage_changed(self, stage: Stage) -> None:
        if not self.slot.is_busy:
            go_on, self._go_on = self._go_on, None
            if go_on is not None and stage is not Stage.IDLE:
                self._tried = self.slot.subject
                go_on()


def create_collection(
    path: Path,
    caches: CacheFolders,
    making: BackboneMaking,
    _checking: SlowWork,
    backbone: str = "",
) -> LiveCollection:
    """Create an empty project with a backbone, by default the default one."""
    from engine.backbones.model_files import backbone_of_word, default_backbone
    from engine.collection.live import LiveCollection

    making.check(backbone_of_word(backbone or default_backbone()))
    return LiveCollection.create(path, caches, backbone or default_backbone())


def open_collection(
    path: Path, caches: CacheFolders, making: BackboneMaking, checking: SlowWork
) -> LiveCollection:
    """Open a project for writing, or read-only where the file or its folder is write-protected."""
    try:
        return _opened(path, caches, making, checking, for_writing=True)
    except ProjectReadOnlyError:
        return open_for_reading(path, caches, making, checking)


def open_for_reading(
    path: Path, caches: CacheFolders, making: BackboneMaking, checking: SlowWork
) -> LiveCollection:
    """Open a project read-only, such as one that another window has open for writing."""
    return _opened(path, caches, making, checking, for_writing=False)


def _opened(
    path: Path,
    caches: CacheFolders,
    making: BackboneMaking,
    checking: SlowWork,
    *,
    for_writing: bool,
) -> LiveCollection:
    """Open a project without a backup: the window makes backups in the background."""
    from engine.collection.live import LiveCollection
    from engine.project import Project

    try:
        project = Project.open(
            path,
            for_writing=for_writing,
            is_backed_up=False,
            on_progress=checking.on_progress,
            cancel=checking.cancel,
        )
    finally:
        checking.end()
    try:
        making.check_project(project)
        return LiveCollection(project, caches)
    except BaseException:
        project.close()
        raise
