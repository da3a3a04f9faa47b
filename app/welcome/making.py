"""Makes a project after "New project…" or a drop: choice of backbone, expected duration, preparation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject

from app.jobs.background_thread import DetachedJob
from app.jobs.process_job import JobSlot, Stage
from app.texts import tr
from app.welcome.logic import NewProject, Photos, free_name, speeds
from app.wording import preparing_text

if TYPE_CHECKING:  # the window shows first
    from PySide6.QtWidgets import QWidget

    from app.session import Session
    from app.settings import Settings
    from app.welcome.new_project_view import NewProjectCard
    from engine.embedding.messages import MeasuredRates, PhotoRate
    from engine.events import CancelToken, OnProgress, Progress
    from engine.images.find_images import FoundImages

Make = Callable[[NewProject, str], None]  # makes a project with the named backbone; the default one for ""
ChoosePlace = Callable[[], Path | None]


@final
class ProjectMaking(QObject):
    """Lets the user choose the backbone of a new project, and prepares it."""

    def __init__(
        self, session: Session, settings: Settings, host: QWidget, choose_place: ChoosePlace, make: Make
    ) -> None:
        super().__init__(host)
        self.card: NewProjectCard | None = None
        self.measuring = JobSlot(session.jobs, keeps_finished=False)
        self.preparing = JobSlot(session.jobs, keeps_finished=False)
        self._session = session
        self._settings = settings
        self._host = host
        self._choose_place = choose_place
        self._make = make
        self._project: NewProject | None = None
        self._photos = Photos()
        self._rates: dict[str, PhotoRate] = {}
        self._looking: DetachedJob | None = None
        self.measuring.finished.connect(self._on_measured)
        self.measuring.stage_changed.connect(lambda _stage: self._show_photos())
        self.preparing.stage_changed.connect(self._on_preparing_stage)

    def begin(self, dropped: Sequence[Path] = ()) -> None:
        """Make a project for these files, after the choice of a backbone where there is one."""
        self._forget()
        job = DetachedJob(tr("New project"), lambda _on_progress, _cancel: _possible(tuple(dropped)), self)
        job.finished.connect(self._on_possible)
        job.failed.connect(self._session.failed)
        self._session.jobs.watch(job)
        self._looking = job
        job.start()

    def stop(self) -> None:
        if self._looking is not None:
            self._looking.stop()

    def _on_possible(self, project: NewProject) -> None:
        from engine.backbones.bundled import chosen_among

        self._project = project
        if not project.has_choice:
            if self._has_place():
                self._go("")
            return
        chosen = chosen_among(project.offered, self._settings.new_project_choice)
        if self.card is None:
            self.card = self._make_card()
        self._photos, self._rates = Photos(is_counting=bool(project.dropped)), {}
        self.card.show_project(project, chosen.name)
        if project.dropped:
            self._count(project.dropped)
        else:
            self._measure()

    def _make_card(self) -> NewProjectCard:
        from app.welcome.new_project_view import NewProjectCard

        card = NewProjectCard(self._host)
        card.made.connect(self._on_made)
        card.cancel_requested.connect(self.preparing.cancel)
        card.closed.connect(self._forget)
        self.preparing.progressed.connect(card.progress.show_progress)
        return card

    def _forget(self) -> None:
        job, self._looking = self._looking, None
        if job is not None:
            job.cancel()
        self.measuring.abandon()
        self.preparing.abandon()

    def _count(self, dropped: Sequence[Path]) -> None:
        def work(on_progress: OnProgress, cancel: CancelToken) -> FoundImages:
            from engine.images.find_parts import find_images_and_parts

            return find_images_and_parts(dropped, on_progress=on_progress, cancel=cancel)

        job = DetachedJob(tr("Looking for images"), work, self)
        job.progress.connect(self._on_counting)
        job.finished.connect(lambda found: self._on_counted(Photos.of_found(found)))
        job.failed.connect(lambda _message: self._on_counted(Photos()))  # reported when the project is made
        self._looking = job
        job.start()

    def _on_counting(self, progress: Progress) -> None:
        self._photos = replace(self._photos, count=progress.done)
        self._show_photos()

    def _on_counted(self, photos: Photos) -> None:
        self._looking = None
        self._photos = photos
        self._measure()

    def _measure(self) -> None:
        from engine.embedding.messages import MeasureRates

        if self._project is not None:
            ready = tuple((one.file, one.card) for one in self._project.offered if one.file is not None)
            request = MeasureRates(ready, self._photos.some, self._settings.device)
            self.measuring.start(tr("Measuring the speed"), request)
        self._show_photos()

    def _on_measured(self, measured: MeasuredRates) -> None:
        self._rates = dict(measured.rates)

    def _show_photos(self) -> None:
        if self.card is not None and self._project is not None:
            is_measuring = self._photos.is_counting or self.measuring.is_busy
            found = speeds(self._project.offered, self._rates)
            self.card.show_photos(self._photos, found, is_measuring=is_measuring)

    def _on_made(self, name: str) -> None:
        if self._project is None or not self._has_place():
            return
        offered = next(one for one in self._project.offered if one.name == name)
        self._settings.new_project_choice = offered.choice
        if offered.is_ready or offered.preparation is None:
            self._go(offered.name)
        else:
            self.preparing.start(preparing_text(), offered.preparation, subject=offered.name)

    def _has_place(self) -> bool:
        """Whether the project has a file; lets the user choose where it has none."""
        if self._project is not None and self._project.place is None:
            self._project = replace(self._project, place=self._choose_place())
            if self.card is not None:
                self.card.show_place(self._project.place)
        return self._project is not None and self._project.place is not None

    def _on_preparing_stage(self, stage: Stage) -> None:
        if stage is Stage.DONE:
            self._go(self.preparing.subject)
        elif self.card is not None and self._project is not None:
            self.card.show_preparing(preparing_text() if self.preparing.is_busy else "")
            self.card.show_failure(self.preparing.error if stage is Stage.FAILED else "")

    def _go(self, name: str) -> None:
        project, self._project = self._project, None
        if self.card is not None:
            self.card.dismiss()
        if project is not None:
            self._make(project, name)


def _possible(dropped: tuple[Path, ...]) -> NewProject:
    """The choices for a new project; on a thread, as it reads the disk."""
    from engine.backbones.bundled import is_chosen_elsewhere, offered_backbones

    offered = () if is_chosen_elsewhere() else offered_backbones()
    return NewProject(offered, free_name(dropped[0]) if dropped else None, dropped)
