"""Making, opening and leaving projects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtWidgets import QMenu

from app.actions.row import Needs, Section, action
from app.feature import Feature
from app.file_dialogs import Purpose, open_file, save_new_file
from app.texts import marked, tr
from app.welcome.making import ProjectMaking
from app.welcome.recent import RecentProjects
from app.welcome.recent_menu import RecentMenu
from app.welcome.sample import SampleStart
from app.welcome.view import Welcome
from engine.config import PROJECT_SUFFIX

if TYPE_CHECKING:
    from app.shell import Shell
    from app.welcome.logic import NewProject

KINDS = "Protoleaf (*.protoleaf)"


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
        self.recent = RecentProjects(settings, self.page)
        self.recent_menu = RecentMenu(settings, lambda: None if session.info is None else session.info.path, shell)
        self._made: NewProject | None = None  # what is being made, and what goes into it
        self._connect()

    def _connect(self) -> None:
        shell, session, page = self._shell, self._session, self.page
        session.opened.connect(self._on_opened)
        session.loaded.connect(self._on_loaded)
        session.writable_changed.connect(self._on_writable_changed)
        self.recent_menu.clear_requested.connect(self.recent.forget_all)
        for asking in (page, self.recent_menu):
            asking.project_requested.connect(shell.open_soon)
        self.sample.ready.connect(shell.open_soon)
        self.sample.face_wanted.connect(shell.tree.select_class)
        page.action_requested.connect(shell.trigger)
        page.files_dropped.connect(self.take_dropped)
        shell.files_dropped.connect(self.take_dropped)
        shell.first_page_wanted.connect(self._show_first_page)

    def _show_first_page(self) -> None:
        self.recent.show()
        self._shell.pages.setCurrentWidget(self.page)

    def submenus(self) -> Mapping[str, QMenu]:
        return {"open_project": self.recent_menu}

    @action("new_project", marked("New project…"), "new", "Ctrl+Shift+N", Section.PROJECT_BEGIN, needs=Needs.NOTHING)
    def new_project(self) -> None:
        self.making.begin()

    @action("close_project", marked("Close project"), "close", "Ctrl+W", Section.PROJECT_KEEP)
    def close_project(self) -> None:
        self._shell.leave_by(self._session.close)

    @action("quit", marked("Quit"), "quit", "Ctrl+Q", Section.PROJECT_QUIT, needs=Needs.NOTHING)
    def quit(self) -> None:
        self._shell.close()

    def stop(self) -> None:
        """End before the program ends."""
        self.recent.stop()
        self.making.stop()
        self.sample.stop()

    def _make(self, project: NewProject, backbone: str) -> None:
        if project.place is not None:
            self._shell.leave_by(partial(self._create, project, project.place, backbone))

    def _create(self, project: NewProject, place: Path, backbone: str) -> None:
        self._made = project
        self._session.create(place, backbone)

    def _choose_place(self) -> Path | None:
        title, name = tr("New project"), f"project{PROJECT_SUFFIX}"
        path = save_new_file(self._shell, Purpose.PROJECTS, title, name, KINDS)
        if path is None or path.suffix == PROJECT_SUFFIX:
            return path
        return path.with_name(path.name + PROJECT_SUFFIX)

    @action("open_project", marked("Open project…"), "open", "Ctrl+O", Section.PROJECT_BEGIN, needs=Needs.NOTHING)
    def choose_open(self) -> None:
        path = open_file(self._shell, Purpose.PROJECTS, tr("Open project"), KINDS)
        if path is not None:
            self._open(path)

    @action("try_sample", marked("Try the sample collection"), "sample", "", Section.PROJECT_BEGIN, needs=Needs.NOTHING)
    def try_sample(self) -> None:
        self.sample.start()

    def _open(self, path: Path) -> None:
        self._shell.leave_by(lambda: self._session.open(path))

    def take_dropped(self, paths: Sequence[Path]) -> None:
        """Open a dropped project; add other files to the open one, or make one beside them and import them."""
        project = next((path for path in paths if path.suffix == PROJECT_SUFFIX), None)
        if project is not None:
            self._open(project)
        elif self._session.info is not None:
            self._shell.files_given.emit(paths)
        else:
            self.making.begin(paths)

    def _on_opened(self, info: object) -> None:
        path = getattr(info, "path", None)
        if isinstance(path, Path):
            self._settings.remember_project(path)

    def _on_writable_changed(self, is_writable: bool, reason: str) -> None:
        """Say what to do about a file that is not where it was opened, for as long as that is so."""
        if is_writable:
            self._notice.hide()
            return
        answers = [(tr("Open another file…"), self.choose_open), (tr("Close project"), self._session.close)]
        self._notice.ask(f"{reason[:1].upper()}{reason[1:]}.", answers)

    def _on_loaded(self) -> None:
        info, made = self._session.info, self._made
        if made is None or info is None or info.path != made.place:
            return
        self._made = None
        if made.has_choice:  # whoever has just chosen need not be asked again
            remember = self._settings.remember_offered
            self._session.ask(lambda live: live.project.backups.project_id, remember, owner=self)
        if made.dropped:
            self._shell.files_given.emit(made.dropped)
