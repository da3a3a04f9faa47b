"""Controller of the "New project" sheet: options, background lookups, and creating the project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.file_dialogs import Purpose, choose_folder, folder_for
from app.jobs.slot import JobSlot, Stage
from app.texts import tr
from app.welcome.counting import FolderCounting
from app.welcome.logic import (
    Dropped,
    ExpectedSpeed,
    FirstContent,
    NewProject,
    Photos,
    ProjectChoice,
    free_name,
    new_project_of,
    sorted_out,
    speeds,
    suggested_folder,
)
from app.welcome.sheet_classes import SheetClasses
from app.wording import preparing_text, sentence

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.jobs.job import JobRunner
    from app.session import Session
    from app.settings import Settings
    from app.welcome.new_project_view import NewProjectCard
    from engine.backbones.bundled import OfferedBackbone
    from engine.embedding.messages import MeasuredRates, PhotoRate


@final
class SpeedMeasuring(QObject):
    """Measures again when other photos were found."""

    changed = Signal()

    def __init__(self, jobs: JobRunner, settings: Settings) -> None:
        super().__init__(jobs)
        self.slot = JobSlot(jobs, keeps_finished=False)
        self.photos = Photos()
        self._settings = settings
        self._offered: Sequence[OfferedBackbone] = ()
        self._rates: dict[str, PhotoRate] = {}
        self.slot.finished.connect(self._on_measured)
        self.slot.stage_changed.connect(self.changed)

    def measure(self, offered: Sequence[OfferedBackbone], photos: Photos) -> None:
        """Measure these backbones once the photos are counted; skipped if there is only one."""
        before, self.photos, self._offered = self.photos, photos, offered
        is_known = bool(self._rates) and photos.some == before.some
        if len(offered) > 1 and not photos.is_counting and not is_known:
            self._begin()
        self.changed.emit()

    def _begin(self) -> None:
        from engine.embedding.messages import MeasureRates

        ready = tuple((one.file, one.card) for one in self._offered if one.file is not None)
        self.slot.abandon()
        self.slot.start(
            tr("Measuring the speed"), MeasureRates(ready, self.photos.some, self._settings.device)
        )

    def forget(self) -> None:
        self.slot.abandon()
        self.photos, self._rates = Photos(), {}

    @property
    def is_busy(self) -> bool:
        return self.photos.is_counting or self.slot.is_busy

    @property
    def speeds(self) -> dict[str, ExpectedSpeed]:
        """Speed of each backbone by name."""
        return speeds(self._offered, self._rates)

    def _on_measured(self, measured: MeasuredRates) -> None:
        self._rates = dict(measured.rates)


# Creates a project with the named backbone; "" for the default one.
Make = Callable[[FirstContent, str], None]
ChoosePlace = Callable[[Path], Path | None]  # takes a suggestion
Offer = tuple[Sequence["OfferedBackbone"], Dropped]


@final
class ProjectMaking(QObject):
    """Fills the sheet and stores the options until the project is created."""

    files_dropped = Signal(Sequence)  # on the sheet; `begin` takes those that are not projects

    def __init__(
        self,
        session: Session,
        settings: Settings,
        host: QWidget,
        choose_place: ChoosePlace,
        make: Make,
    ) -> None:
        super().__init__(host)
        self.card: NewProjectCard | None = None
        self.counting = FolderCounting(self)
        self.speeds = SpeedMeasuring(session.jobs, settings)
        self.preparing = JobSlot(session.jobs, keeps_finished=False)
        self._choice = ProjectChoice(new_project_of(settings.new_project))
        self.classes = SheetClasses(self._choice, self.counting, host)
        self._session, self._settings, self._host = session, settings, host
        self._choose_place, self._make = choose_place, make
        self._offered: Sequence[OfferedBackbone] = ()
        self._suggested = Path.home(), ""
        self._place: Path | None = None  # free path of the project file
        # Backbone to create the project with, once the list is read.
        self._wanted: str | None = None
        self._looking: dict[str, JobSlot] = {}  # by topic
        self.counting.changed.connect(self._on_folders_changed)
        self.counting.counted.connect(self._on_counted)
        self.classes.changed.connect(self._on_classes_changed)
        self.speeds.changed.connect(self._show_speeds)
        self.preparing.stage_changed.connect(self._on_preparing_stage)

    @property
    def project(self) -> NewProject:
        """The options chosen so far."""
        return self._choice.project

    def begin(self, dropped: Sequence[Path] = ()) -> None:
        """Open the sheet with the stored options and these files."""
        self._look("offer", lambda: _offer(tuple(dropped)), self._on_offer)

    def stop(self) -> None:
        self._keep()
        self.counting.stop()
        self.classes.reading.stop()
        for slot in self._looking.values():
            slot.stop()

    @property
    def measuring(self) -> JobSlot:
        """Job that measures the speed of each backbone."""
        return self.speeds.slot

    @property
    def has_choice(self) -> bool:
        """Whether there was a choice of backbones."""
        return len(self._offered) > 1

    def forget(self) -> None:
        """Reset the options after the project was created."""
        self._choice.project = NewProject()
        self._keep()
        for part in (self.counting, self.classes, self.speeds):
            part.forget()

    def _look(self, what: str, work: Callable[[], object], on_found: Callable[..., None]) -> None:
        """Read the disk in the background; a newer lookup of the same topic replaces it."""
        slot = self._looking.setdefault(what, JobSlot(parent=self))
        slot.start(
            tr("New project"),
            lambda _on_progress, _cancel: work(),
            on_found,
            self._on_look_failed,
            replaces=True,
        )

    def _on_look_failed(self, message: str) -> None:
        if self.card is not None and self.card.isVisible():
            self.card.show_refused_place(sentence(message))
        else:
            self._session.failed.emit(message)

    def _keep(self) -> None:
        self._settings.new_project = self.project.as_text()

    # -- sheet

    def _on_offer(self, offer: Offer) -> None:
        from engine.backbones.bundled import chosen_among

        self._offered, dropped = offer
        before = not self.project.is_empty
        self._take(dropped)
        if self.card is None:
            self.card = self._make_card()
        if not self.card.isVisible():
            name = (
                chosen_among(self._offered, self._settings.new_project_choice).name
                if self._offered
                else ""
            )
            self.card.show_sheet(self._offered, name, is_begun=not self.project.is_empty)
        self.card.clear_button.setVisible(before)
        self._show_all()

    def _make_card(self) -> NewProjectCard:
        from app.welcome.new_project_view import NewProjectCard

        card = NewProjectCard(self._host)
        card.made.connect(self._on_made)
        card.cancel_requested.connect(self.preparing.cancel)
        card.closed.connect(self._on_closed)
        card.start_over_requested.connect(self._start_over)
        card.files_dropped.connect(self.files_dropped)
        card.place.name_changed.connect(self._on_name_changed)
        card.place.place_wanted.connect(self._on_place_wanted)
        card.photos.folder_wanted.connect(self._on_folder_wanted)
        self.classes.connect_card(card)
        self.preparing.progressed.connect(card.progress.show_progress)
        return card

    def _take(self, dropped: Dropped) -> None:
        photos = tuple(dict.fromkeys((*self.project.photos, *dropped.photos)))
        self._choice.change(photos=photos, labels=dropped.labels or self.project.labels)
        if dropped.class_file is not None:
            self.classes.take_file(dropped.class_file)

    def _show_all(self) -> None:
        self.counting.search(self.project.photos)
        self.classes.show()

    def _start_over(self) -> None:
        self.forget()
        if self.card is not None:
            self.card.clear_button.hide()
            self._show_place()  # before a suggestion was read from the disk
            self.card.place.name.setFocus()
        self._show_place()
        self._show_all()

    def _on_closed(self) -> None:
        self._keep()
        self._wanted = None
        self.speeds.slot.abandon()
        self.preparing.abandon()
        self.counting.forget()

    # -- name and place

    def _on_name_changed(self, name: str) -> None:
        self._choice.change(name=name.strip())
        self._show_place()

    def _on_place_wanted(self) -> None:
        folder, name = self._named()
        path = self._choose_place(folder / name)
        if path is not None:
            self._choice.change(name=path.stem, folder=path.parent)
            self._show_place()

    def _named(self) -> tuple[Path, str]:
        folder, name = self._suggested
        return self.project.folder or folder, self.project.name or name

    def _suggestion(self) -> Callable[[], tuple[Path, str]]:
        """A function that suggests folder and name unless chosen; it reads the disk."""
        photos, chosen = self.project.photos, self.project.folder
        stem = (photos[0].stem if photos else "") or tr("New project")

        def find() -> tuple[Path, str]:
            folder = chosen or suggested_folder(photos, folder_for(Purpose.PROJECTS))
            return folder, free_name(folder, stem)

        return find

    def _on_suggested(self, suggested: tuple[Path, str]) -> None:
        self._suggested = suggested
        self._show_place()

    def _show_place(self) -> None:
        if self.card is not None:
            self.card.place.show_place(self.project.name, self._suggested[1], self._named()[0])
            self.card.show_refused_place("")

    # -- photos

    def _on_folder_wanted(self) -> None:
        folder = choose_folder(self._host, Purpose.IMAGES, tr("Choose a folder of images"))
        if folder is not None:
            self._take(Dropped((folder,)))
            self.counting.search(self.project.photos)

    def _on_folders_changed(self) -> None:
        if self.card is None:
            return
        self._look("suggestion", self._suggestion(), self._on_suggested)
        self.card.photos.show_folders(self.counting.folders, self.counting.waiting)
        self.card.photos.failure.show_text(next(map(sentence, self.counting.failures.values()), ""))
        if self.card.isVisible():
            self.speeds.measure(self._offered, self.counting.photos)
        self.classes.show_ticks()

    def _on_counted(self, count: int) -> None:
        if self.card is not None:
            self.card.photos.show_count(count)

    def _show_speeds(self) -> None:
        if self.card is not None:
            speeds = self.speeds
            self.card.speed.show_speeds(speeds.speeds, speeds.photos, is_measuring=speeds.is_busy)
            self.card.settle()

    # -- creating the project

    def _on_made(self, name: str) -> None:
        """Create the project once list is read, path is free and backbone is prepared."""
        self.classes.reading.read_now()
        self._wanted = name if self.classes.reading.is_busy else None
        if self._wanted is None and not self.classes.is_refused:
            find = partial(_free_place, self._suggestion(), self.project.name)
            self._look("place", find, partial(self._on_place_free, name))

    def _on_classes_changed(self) -> None:
        if self._wanted is not None and not self.classes.reading.is_busy:
            self._on_made(self._wanted)

    def _on_place_free(self, name: str, place: Path) -> None:
        self._place = place
        offered = next((one for one in self._offered if one.name == name), None)
        if offered is not None:
            self._settings.new_project_choice = offered.choice
        if offered is None or offered.is_ready or offered.preparation is None:
            self._go(name)
        else:
            self.preparing.start(preparing_text(), offered.preparation, subject=name)

    def _on_preparing_stage(self, stage: Stage) -> None:
        if stage is Stage.DONE:
            self._go(self.preparing.subject)
        elif self.card is not None:
            self.card.show_preparing(preparing_text() if self.preparing.is_busy else "")
            self.card.show_failure(self.preparing.error if stage is Stage.FAILED else "")

    def _go(self, name: str) -> None:
        place, self._place = self._place, None
        if place is None:
            return
        content = self._content(place)
        if self.card is not None:
            self.card.dismiss()
        self._make(content, name)

    def _content(self, place: Path) -> FirstContent:
        from engine.collection.importing.folder_choice import without_folders

        project, counting = self.project, self.counting
        return FirstContent(
            place,
            photos=counting.waiting,
            found=without_folders(counting.found, project.left_out) if project.photos else None,
            class_folders=self.classes.folders,
            classes=self.classes.class_list,
            labels=project.labels,
        )


def _free_place(suggestion: Callable[[], tuple[Path, str]], name: str) -> Path:
    """The path of a new project file, which must not exist."""
    from engine.collection.new_project import project_path

    folder, suggested = suggestion()
    return project_path(folder, name or suggested)


def _offer(dropped: tuple[Path, ...]) -> Offer:
    """Offered backbones and sorted dropped files; reads the disk, so runs on a thread."""
    from engine.backbones.bundled import is_chosen_elsewhere, offered_backbones

    return () if is_chosen_elsewhere() else offered_backbones(), sorted_out(dropped)
