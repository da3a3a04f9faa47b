"""The sheet "New project" at work: what was chosen so far, what is found out about it, and making the project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.file_dialogs import Purpose, choose_folder, folder_for, open_file
from app.jobs.background_thread import DetachedJob
from app.jobs.process_job import JobSlot, Stage
from app.texts import tr
from app.welcome.counting import FolderCounting
from app.welcome.list_reading import ListReading
from app.welcome.logic import (
    ClassesFrom,
    Dropped,
    FirstContent,
    NewProject,
    Photos,
    free_name,
    new_project_of,
    sorted_out,
    speeds,
    suggested_folder,
)
from app.wording import preparing_text, sentence

if TYPE_CHECKING:  # the window shows first
    from PySide6.QtWidgets import QWidget

    from app.session import Session
    from app.settings import Settings
    from app.welcome.new_project_view import NewProjectCard
    from engine.backbones.bundled import OfferedBackbone
    from engine.embedding.messages import MeasuredRates, PhotoRate

Make = Callable[[FirstContent, str], None]  # makes a project with the named backbone; the default one for ""
ChoosePlace = Callable[[Path], Path | None]  # begins with a suggestion
Offer = tuple[Sequence["OfferedBackbone"], Dropped]
LISTS = (ClassesFrom.FILE, ClassesFrom.TEXT)


@final
class ProjectMaking(QObject):
    """Fills the sheet and keeps what was chosen until the project is made."""

    files_dropped = Signal(Sequence)  # on the sheet; `begin` takes those that are no project

    def __init__(
        self, session: Session, settings: Settings, host: QWidget, choose_place: ChoosePlace, make: Make
    ) -> None:
        super().__init__(host)
        self.card: NewProjectCard | None = None
        self.project = new_project_of(settings.new_project)
        self.counting, self.reading = FolderCounting(self), ListReading(self)
        self.measuring = JobSlot(session.jobs, keeps_finished=False)
        self.preparing = JobSlot(session.jobs, keeps_finished=False)
        self._session, self._settings, self._host = session, settings, host
        self._choose_place, self._make = choose_place, make
        self._offered: Sequence[OfferedBackbone] = ()
        self._photos = Photos()
        self._rates: dict[str, PhotoRate] = {}
        self._of_list: frozenset[Path] = frozenset()  # folders called as classes of the list are
        self._suggested = Path.home(), ""
        self._place: Path | None = None  # that was found free
        self._wanted: str | None = None  # the backbone with which the project is made once the list is read
        self._looking: dict[str, DetachedJob] = {}
        self.counting.changed.connect(self._on_folders_changed)
        self.counting.counted.connect(self._on_counted)
        self.reading.changed.connect(self._on_list_changed)
        self.measuring.finished.connect(self._on_measured)
        self.measuring.stage_changed.connect(lambda _stage: self._show_speeds())
        self.preparing.stage_changed.connect(self._on_preparing_stage)

    def begin(self, dropped: Sequence[Path] = ()) -> None:
        """Open the sheet with what was chosen before, and these files."""
        self._look("offer", lambda: _offer(tuple(dropped)), self._on_offer)

    def stop(self) -> None:
        self._keep()
        for work in (self.counting, self.reading, *self._looking.values()):
            work.stop()

    @property
    def has_choice(self) -> bool:
        """Whether there was a choice of backbones."""
        return len(self._offered) > 1

    def forget(self) -> None:
        """The project was made: the next one begins with nothing."""
        self.project = NewProject()
        self._keep()
        self.counting.forget()
        self.reading.forget()
        self._photos, self._rates, self._of_list = Photos(), {}, frozenset()

    def _look(self, what: str, work: Callable[[], object], on_found: Callable[..., None]) -> None:
        """Look something up on the disk; the same question asked again replaces it."""
        if (before := self._looking.pop(what, None)) is not None:
            before.cancel()
            before.deleteLater()
        job = DetachedJob(tr("New project"), lambda _on_progress, _cancel: work(), self)
        job.finished.connect(on_found)
        job.failed.connect(self._on_look_failed)
        self._looking[what] = job
        job.start()

    def _on_look_failed(self, message: str) -> None:
        if self.card is not None and self.card.isVisible():
            self.card.show_refused_place(sentence(message))
        else:
            self._session.failed.emit(message)

    def _keep(self) -> None:
        self._settings.new_project = self.project.as_text()

    # -- the sheet

    def _on_offer(self, offer: Offer) -> None:
        from engine.backbones.bundled import chosen_among

        self._offered, dropped = offer
        before = not self.project.is_empty
        self._take(dropped)
        if self.card is None:
            self.card = self._make_card()
        if not self.card.isVisible():
            name = chosen_among(self._offered, self._settings.new_project_choice).name if self._offered else ""
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
        card.photos.choice_changed.connect(self._on_boxes_changed)
        card.classes.way_chosen.connect(self._on_way_chosen)
        card.classes.file_wanted.connect(self._on_file_wanted)
        card.classes.columns_chosen.connect(self._on_columns_chosen)
        card.classes.text_changed.connect(self._on_text_changed)
        card.classes.all_folders_wanted.connect(self._on_all_folders_wanted)
        self.preparing.progressed.connect(card.progress.show_progress)
        return card

    def _take(self, dropped: Dropped) -> None:
        photos = tuple(dict.fromkeys((*self.project.photos, *dropped.photos)))
        self.project = replace(self.project, photos=photos, labels=dropped.labels or self.project.labels)
        if dropped.class_file is not None:
            self._take_file(dropped.class_file)

    def _take_file(self, source: Path) -> None:
        way = ClassesFrom.FILE
        self.project = replace(self.project, classes_from=way, class_file=source, columns={})

    def _show_all(self) -> None:
        project, card = self.project, self.card
        if card is not None:
            card.photos.choose(project.left_out, project.class_folders)
            card.classes.show_choice(project.classes_from, project.class_file, project.class_text)
            self.counting.search(project.photos)
            self._read_list()

    def _start_over(self) -> None:
        self.forget()
        if self.card is not None:
            self.card.clear_button.hide()
            self.card.place.name.setFocus()
        self._show_all()

    def _on_closed(self) -> None:
        self._keep()
        self._wanted = None
        self.measuring.abandon()
        self.preparing.abandon()
        self.counting.forget()

    # -- name and place

    def _on_name_changed(self, name: str) -> None:
        self.project = replace(self.project, name=name.strip())
        self._show_place()

    def _on_place_wanted(self) -> None:
        folder, name = self._named()
        path = self._choose_place(folder / name)
        if path is not None:
            self.project = replace(self.project, name=path.stem, folder=path.parent)
            self._show_place()

    def _named(self) -> tuple[Path, str]:
        folder, name = self._suggested
        return self.project.folder or folder, self.project.name or name

    def _suggest_place(self) -> None:
        photos, chosen = self.project.photos, self.project.folder
        stem = (photos[0].stem if photos else "") or tr("New project")

        def work() -> tuple[Path, str]:
            folder = chosen or suggested_folder(photos, folder_for(Purpose.PROJECTS))
            return folder, free_name(folder, stem)

        self._look("suggestion", work, self._on_suggested)

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
        self._suggest_place()
        self._show_folders()
        self.card.photos.failure.show_text(next(map(sentence, self.counting.failures.values()), ""))
        before, self._photos = self._photos, self.counting.photos
        if not self._photos.is_counting and (self._photos.some != before.some or not self._rates):
            self._measure()
        self._show_ticks()
        self.card.settle()

    def _show_folders(self) -> None:
        if self.card is not None:
            self.card.photos.show_folders(self.counting.folders, self.counting.waiting)

    def _on_counted(self, count: int) -> None:
        if self.card is not None:
            self.card.photos.show_count(count)

    def _on_boxes_changed(self) -> None:
        if self.card is None:
            return
        model = self.card.photos.list.folders
        self.project = replace(self.project, left_out=model.left_out)
        if self.project.classes_from is ClassesFrom.FOLDERS:
            self.project = replace(self.project, class_folders=model.classes)
        else:
            self._of_list = model.classes
        self._show_ticked()

    # -- classes

    def _on_way_chosen(self, way: ClassesFrom) -> None:
        if way is not self.project.classes_from:
            self.project = replace(self.project, classes_from=way)
            self._read_list()

    def _on_file_wanted(self) -> None:
        from app.welcome.new_project_view import file_kinds

        source = open_file(self._host, Purpose.CLASSES, tr("Choose a class list"), file_kinds())
        if source is not None and self.card is not None:
            self._take_file(source)
            self.card.classes.show_choice(ClassesFrom.FILE, source, self.project.class_text)
            self._read_list()

    def _on_columns_chosen(self, columns: dict[str, str]) -> None:
        self.project = replace(self.project, columns=columns)
        self._read_list()

    def _on_text_changed(self, text: str) -> None:
        self.project = replace(self.project, class_text=text)
        if self.project.classes_from is ClassesFrom.TEXT:
            self.reading.read_soon(text)

    def _read_list(self) -> None:
        """Read the list that was chosen, or none."""
        project = self.project
        if project.classes_from is ClassesFrom.FILE and project.class_file is not None:
            self.reading.read_file(project.class_file, project.columns)
        elif project.classes_from is ClassesFrom.TEXT:
            self.reading.read_soon(project.class_text)
        else:
            self.reading.forget()
            self._on_list_changed()

    def _on_list_changed(self) -> None:
        if self.card is None:
            return
        self.card.classes.show_list(self.reading.read, self.reading.failure, is_reading=self.reading.is_busy)
        self._show_ticks()
        self.card.settle()
        if self._wanted is not None and not self.reading.is_busy:
            self._on_made(self._wanted)

    def _on_all_folders_wanted(self, is_all: bool) -> None:
        from engine.collection.importing.folder_choice import all_class_folders

        chosen = all_class_folders(self.counting.folders) if is_all else frozenset[Path]()
        self.project = replace(self.project, class_folders=chosen)
        self._show_ticks()

    def _show_ticks(self) -> None:
        """Offer the boxes of classes where folders give the classes, or are called as those of the list."""
        if self.card is None:
            return
        way, read = self.project.classes_from, self.reading.read
        self._of_list = read.known_folders(self.counting.folders) if way in LISTS and read is not None else frozenset()
        chosen = self.project.class_folders if way is ClassesFrom.FOLDERS else self._of_list
        self.card.photos.list.offer_classes(is_on=way is ClassesFrom.FOLDERS or bool(chosen))
        self.card.photos.choose(self.project.left_out, chosen)
        self._show_ticked()

    def _show_ticked(self) -> None:
        from engine.interchange.labelled_images.box_sets import parts_among

        if self.card is not None:
            folders = self.counting.folders
            ticked = [each.path for each in folders if each.path in self.project.class_folders]
            parts = parts_among(path.name for path in ticked)
            self.card.classes.show_folders(len(ticked), len(folders), parts)
            self.card.settle()

    # -- accuracy or speed

    def _measure(self) -> None:
        from engine.embedding.messages import MeasureRates

        if len(self._offered) > 1 and self.card is not None and self.card.isVisible():
            ready = tuple((one.file, one.card) for one in self._offered if one.file is not None)
            request = MeasureRates(ready, self._photos.some, self._settings.device)
            self.measuring.abandon()
            self.measuring.start(tr("Measuring the speed"), request)
        self._show_speeds()

    def _on_measured(self, measured: MeasuredRates) -> None:
        self._rates = dict(measured.rates)

    def _show_speeds(self) -> None:
        if self.card is not None:
            is_measuring = self._photos.is_counting or self.measuring.is_busy
            found = speeds(self._offered, self._rates)
            self.card.speed.show_speeds(found, self._photos, is_measuring=is_measuring)
            self.card.settle()

    # -- making it

    def _on_made(self, name: str) -> None:
        """Make the project once its list is read, its place is free, and its backbone is prepared."""
        from engine.collection.new_project import named_place

        self.reading.read_now()
        self._wanted = name if self.reading.is_busy else None
        if self._wanted is not None:
            return
        if self.project.classes_from in LISTS and (self.reading.failure or self._is_unclear):
            return  # the reason stands beside it
        self._look("place", partial(named_place, *self._named()), partial(self._on_place_free, name))

    @property
    def _is_unclear(self) -> bool:
        return self.reading.read is not None and self.reading.read.imported is None

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
        way, read = project.classes_from, self.reading.read
        return FirstContent(
            place,
            photos=(*counting.waiting, *counting.failures),
            found=without_folders(counting.found, project.left_out) if project.photos else None,
            class_folders=project.class_folders if way is ClassesFrom.FOLDERS else self._of_list,
            classes=read if way in LISTS and read is not None and read.imported is not None else None,
            labels=project.labels,
        )


def _offer(dropped: tuple[Path, ...]) -> Offer:
    """What a new project chooses between, and what was dropped; on a thread, as it reads the disk."""
    from engine.backbones.bundled import is_chosen_elsewhere, offered_backbones

    return () if is_chosen_elsewhere() else offered_backbones(), sorted_out(dropped)
