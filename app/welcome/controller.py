"""Creating, opening and closing projects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QMenu

from app.actions.row import Needs, Section, action
from app.feature import Feature
from app.file_dialogs import Purpose, open_file, save_file_at
from app.jobs.slot import JobSlot
from app.texts import marked, tr
from app.welcome.making import ProjectMaking
from app.welcome.recent import RecentMenu
from app.welcome.recent_facts import FirstPageLooks
from app.welcome.view import Welcome
from engine.config import ARCHIVE_SUFFIX, PROJECT_SUFFIX, sample_folder
from engine.files import shown

if TYPE_CHECKING:
    from app.session import Session
    from app.settings import Settings
    from app.shell import Shell
    from app.welcome.logic import FirstContent
    from engine.collection.importing.import_graph import GraphImport
    from engine.collection.live import LiveCollection
    from engine.config import CacheFolders
    from engine.events import CancelToken, OnProgress


@final
class SampleStart(QObject):
    """Copies the sample project on a thread and opens it."""

    ready = Signal(Path)  # its project file
    face_wanted = Signal(int)  # id of the class to show once the sample is open

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._copying = JobSlot(parent=self)
        self.stop = self._copying.stop
        self._left: object = None  # project open at the start
        self._awaited: Path | None = None
        session.loaded.connect(self._on_loaded)

    def start(self) -> None:
        if not self._copying.is_busy:
            self._left = self._session.info
            title = tr("Opening the sample collection")
            self._copying.start(title, _copy, self._on_copied, self._session.failed.emit)

    def _on_copied(self, project: Path) -> None:
        """Open the copy, unless another project was opened meanwhile."""
        if self._session.info is self._left:
            self._awaited = project
            self.ready.emit(project)

    def _on_loaded(self) -> None:
        awaited, self._awaited = self._awaited, None
        info, state = self._session.info, self._session.state
        roots = self._session.graph.roots()
        if (
            awaited is not None
            and info is not None
            and info.path == awaited
            and state is not None
            and roots
        ):
            self.face_wanted.emit(
                max(roots, key=lambda class_id: state.image_counts.get(class_id, 0))
            )


def _copy(_on_progress: OnProgress, cancel: CancelToken) -> Path:
    from engine.collection.new_project import copy_sample_project

    return copy_sample_project(sample_folder(), cancel=cancel)


KINDS = "Protoleaf (*.protoleaf)"
OPENED_KINDS = f"Protoleaf (*{PROJECT_SUFFIX} *{ARCHIVE_SUFFIX})"


@final
class RecentProjects(QObject):
    """Lists recent projects on the welcome page; threads read their state."""

    def __init__(self, settings: Settings, page: Welcome, caches: CacheFolders) -> None:
        super().__init__(page)
        self.looks = FirstPageLooks(caches, self)
        self._settings = settings
        self._page = page
        self._is_stopped = False
        self.looks.seen.connect(page.recent.show_facts)
        self.looks.starts_seen.connect(page.show_starts)
        page.recent.forget_requested.connect(self._forget)

    def show(self) -> None:
        self._page.show_recent(self._settings.recent_projects())
        QTimer.singleShot(0, self, self._look)

    def _look(self) -> None:
        """Start reading after the first paint, if the page is still visible."""
        if self._page.isVisible() and not self._is_stopped:
            self.looks.look(self._settings.recent_projects())

    def _forget(self, path: Path) -> None:
        self._settings.forget_project(path)
        self.show()

    def forget_all(self) -> None:
        self._settings.forget_projects()
        self.show()

    def stop(self) -> None:
        self._is_stopped = True  # the page is shown again when the last project is closed at exit
        self.looks.stop()


@final
class Projects(Feature):
    """Opens one project at a time."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        session, settings, self._notice = shell.session, shell.settings, shell.workspace.notice
        self.page = Welcome(shell.rows)
        shell.pages.addWidget(self.page)
        self.making = ProjectMaking(session, settings, self._host, self._choose_place, self._make)
        self.sample = SampleStart(session)
        self.recent = RecentProjects(settings, self.page, session.caches)
        self.recent_menu = RecentMenu(
            settings, lambda: None if session.info is None else session.info.path, shell
        )
        self._made: FirstContent | None = None  # of the project being created
        self._connect()

    def _connect(self) -> None:
        shell, session, page = self._shell, self._session, self.page
        session.opened.connect(lambda info: self._settings.remember_project(info.path))
        session.loaded.connect(self._on_loaded)
        session.writable_changed.connect(self._on_writable_changed)
        self.recent_menu.clear_requested.connect(self.recent.forget_all)
        page.project_requested.connect(shell.open_soon)
        self.recent_menu.project_requested.connect(shell.open_soon)
        self.sample.ready.connect(shell.open_soon)
        self.sample.face_wanted.connect(shell.tree.select_class)
        page.action_requested.connect(shell.trigger)
        page.files_dropped.connect(self.take_dropped)
        self.making.files_dropped.connect(self._take_for_sheet)
        shell.files_dropped.connect(self.take_dropped)
        shell.first_page_wanted.connect(self._show_first_page)

    def _show_first_page(self) -> None:
        self.recent.show()
        self._shell.pages.setCurrentWidget(self.page)

    def submenus(self) -> Mapping[str, QMenu]:
        return {"open_project": self.recent_menu}

    @action(
        "new_project",
        marked("New project…"),
        "new",
        "Ctrl+Shift+N",
        Section.FILE_BEGIN,
        needs=Needs.NOTHING,
    )
    def new_project(self) -> None:
        self.making.begin()

    @action("close_project", marked("Close project"), "close", "Ctrl+W", Section.FILE_KEEP)
    def close_project(self) -> None:
        self._shell.leave_by(self._session.close)

    @action("quit", marked("Quit"), "quit", "Ctrl+Q", Section.FILE_QUIT, needs=Needs.NOTHING)
    def quit(self) -> None:
        self._shell.close()

    def stop(self) -> None:
        self.recent.stop()
        self.making.stop()
        self.sample.stop()

    def _make(self, content: FirstContent, backbone: str) -> None:
        self._shell.leave_by(partial(self._create, content, backbone))

    def _create(self, content: FirstContent, backbone: str) -> None:
        self._made = content
        self._session.create(content.place, backbone)

    def _choose_place(self, suggested: Path) -> Path | None:
        start = suggested.with_name(suggested.name + PROJECT_SUFFIX)
        path, _kind = save_file_at(self._shell, start, tr("New project"), KINDS)
        if path is None or path.suffix == PROJECT_SUFFIX:
            return path
        return path.with_name(path.name + PROJECT_SUFFIX)

    @action(
        "open_project",
        marked("Open project…"),
        "open",
        "Ctrl+O",
        Section.FILE_BEGIN,
        needs=Needs.NOTHING,
    )
    def choose_open(self) -> None:
        path = open_file(self._shell, Purpose.PROJECTS, tr("Open project"), OPENED_KINDS)
        if path is not None:
            self._shell.open_project(path)

    @action(
        "try_sample",
        marked("Try the sample collection"),
        "sample",
        "",
        Section.FILE_BEGIN,
        needs=Needs.NOTHING,
    )
    def try_sample(self) -> None:
        self.sample.start()

    def take_dropped(self, paths: Sequence[Path]) -> None:
        """Open a dropped project; other files are added to the open project, or to a new one."""
        if not self._open_dropped(paths):
            if self._session.info is not None:
                self._shell.files_given.emit(paths)
            else:
                self.making.begin(paths)

    def _take_for_sheet(self, paths: Sequence[Path]) -> None:
        if not self._open_dropped(paths):
            self.making.begin(paths)

    def _open_dropped(self, paths: Sequence[Path]) -> bool:
        project = next(
            (path for path in paths if path.suffix in {PROJECT_SUFFIX, ARCHIVE_SUFFIX}), None
        )
        if project is not None:
            self._shell.open_project(project)
        return project is not None

    def _on_writable_changed(self, is_writable: bool, reason: str) -> None:
        """Offer to open another file while the project file is missing."""
        if is_writable:
            self._notice.hide()
            return
        answers = [
            (tr("Open another file…"), self.choose_open),
            (tr("Close project"), self._session.close),
        ]
        self._notice.ask(f"{reason[:1].upper()}{reason[1:]}.", answers)

    def _on_loaded(self) -> None:
        info, made = self._session.info, self._made
        if made is None or info is None or info.path != made.place:
            return
        self._made = None
        self.making.forget()
        if self.making.has_choice:  # the user has already chosen a backbone
            remember = self._settings.remember_offered
            self._session.ask(lambda live: live.project.backups.project_id, remember, owner=self)
        if made.classes is None:
            self._add_photos(made)
        else:
            self._import_classes(made)

    def _import_classes(self, made: FirstContent) -> None:
        """Import classes before photos, as folders may match their names."""
        classes = made.classes
        assert classes is not None, "there are some"

        def work(
            live: LiveCollection, _on_progress: OnProgress, _cancel: CancelToken
        ) -> GraphImport:
            from engine.collection.importing.import_graph import import_graph

            return import_graph(live.project, classes.source, read=classes.imported)

        title = tr("Importing {1}", shown(classes.source.name))
        job = self._session.run_long(work, title=title, change_of=lambda done: done.change)
        job.keeps_finished = False
        job.finished.connect(lambda _done: self._add_photos(made))
        job.failed.connect(lambda _message: self._add_photos(made))

    def _add_photos(self, made: FirstContent) -> None:
        if made.found is not None:
            self._shell.found_given.emit(made.found, made.class_folders)
        if made.photos:
            self._shell.images_given.emit(made.photos, None)
        # The project thread answers after the photos were added.
        if (labels := made.labels) is not None:
            give = self._shell.files_given.emit
            self._session.ask(
                lambda live: live.project.images.count, lambda _count: give([labels]), owner=self
            )
