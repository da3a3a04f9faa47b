"""Creates and opens projects; builds a missing backbone first."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from PySide6.QtCore import QObject

from app.jobs.job import Job
from app.jobs.process_job import JobSlot, Stage
from app.texts import tr
from app.wording import preparing_text
from engine.config import CacheFolders
from engine.errors import ProjectReadOnlyError
from engine.events import CancelToken, Progress

if TYPE_CHECKING:
    from app.jobs.job import JobRunner
    from engine.collection.live import LiveCollection
    from engine.project import Project
    from engine.worker.protocol import Request


SHOWN_AFTER_S: Final = 0.5  # a check that is over sooner is not shown


@final
class CheckingJob(Job):
    """Shows the check of a project that was not closed; a cancel leaves the present project open."""

    def __init__(self, title: str, token: CancelToken) -> None:
        super().__init__(title)
        self.keeps_finished = False
        self._token = token

    def start(self) -> None:
        self._begin()

    def cancel(self) -> None:
        self._token.cancel()
        self._stop()

    def show(self, progress: Progress) -> None:
        self._report(progress)

    def end(self) -> None:
        self._succeed(None)


@final
class Checking:
    """The check of a project that was not closed, as the project thread meets it; once it takes long, a job shows it.

    Args:
        path: the project.
        jobs: show the job.
        post: calls a function on the GUI thread.
    """

    def __init__(self, path: Path, jobs: JobRunner, post: Callable[[Callable[[], None]], None]) -> None:
        self.cancel = CancelToken()
        self._title, self._jobs, self._post = tr("Checking %1", path.stem), jobs, post
        self._begun_s = time.monotonic()
        self._job: CheckingJob | None = None  # touched on the GUI thread only

    def on_progress(self, progress: Progress) -> None:
        """Show how far the check is; on the project thread."""
        if time.monotonic() - self._begun_s >= SHOWN_AFTER_S:
            self._post(lambda: self._show(progress))

    def end(self) -> None:
        """The project was checked, or refused; on the project thread."""
        self._post(self._end)

    def _show(self, progress: Progress) -> None:
        if self._job is None:
            self._job = CheckingJob(self._title, self.cancel)
            self._jobs.watch(self._job)
            self._job.start()
        self._job.show(progress)

    def _end(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            job.end()


@final
class UnmadeBackboneError(Exception):
    """The project waits for its backbone (`choice`: its kind, "" without); `preparation` is the worker's request."""

    def __init__(self, name: str, choice: str, preparation: Request[Any]) -> None:
        super().__init__(name)
        self.name, self.choice, self.preparation = name, choice, preparation


@final
class BackboneMaking(QObject):
    """Builds the backbone that a project waits for, then continues; after a cancel it does not."""

    def __init__(self, jobs: JobRunner) -> None:
        super().__init__(jobs)
        self.jobs = jobs
        self.slot = JobSlot(jobs, keeps_finished=False)
        self._tried = ""  # not built again: opening reports what is wrong with it
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
        """Build it, then continue, also on failure. Replaces an earlier request."""
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
    path: Path, caches: CacheFolders, making: BackboneMaking, _checking: Checking, backbone: str = ""
) -> LiveCollection:
    """Make an empty project with a backbone, or with the default one."""
    from engine.backbones.model_files import backbone_of_word, default_backbone
    from engine.collection.live import LiveCollection

    making.check(backbone_of_word(backbone or default_backbone()))
    return LiveCollection.create(path, caches, backbone or default_backbone())


def open_collection(path: Path, caches: CacheFolders, making: BackboneMaking, checking: Checking) -> LiveCollection:
    """Open a project for writing, or for reading where the file or its folder refuses writing."""
    try:
        return _opened(path, caches, making, checking, for_writing=True)
    except ProjectReadOnlyError:
        return open_for_reading(path, caches, making, checking)


def open_for_reading(path: Path, caches: CacheFolders, making: BackboneMaking, checking: Checking) -> LiveCollection:
    """Open a project that is not to be changed, or that another window is changing."""
    return _opened(path, caches, making, checking, for_writing=False)


def _opened(
    path: Path, caches: CacheFolders, making: BackboneMaking, checking: Checking, *, for_writing: bool
) -> LiveCollection:
    """Without a backup: the window makes backups in the background."""
    from engine.collection.live import LiveCollection
    from engine.project import Project

    try:
        project = Project.open(
            path, for_writing=for_writing, is_backed_up=False,
            on_progress=checking.on_progress, cancel=checking.cancel,
        )  # fmt: skip
    finally:
        checking.end()
    try:
        making.check_project(project)
        return LiveCollection(project, caches)
    except BaseException:
        project.close()
        raise
