"""Making, opening and leaving projects."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtWidgets import QWidget

from app.file_dialogs import Purpose, open_file, save_new_file
from app.settings import Settings
from app.status.notice import Notice
from app.texts import tr
from app.welcome.making import ProjectMaking
from app.welcome.recent import RecentProjects
from app.welcome.recent_menu import RecentMenu
from app.welcome.sample import SampleStart
from engine.config import PROJECT_SUFFIX

if TYPE_CHECKING:
    from app.session import Session
    from app.welcome.logic import NewProject
    from app.welcome.view import Welcome

KINDS = "Protoleaf (*.protoleaf)"


@final
class Projects:
    """Opens one project at a time."""

    def __init__(
        self,
        session: "Session",
        import_files: Callable[[Sequence[Path]], None],
        settings: Settings,
        notice: Notice,
        *,
        page: "Welcome",
        window: QWidget,
        host: QWidget,
    ) -> None:
        # leaves the open project in a way, perhaps after asking what becomes of what is only tried out
        self.leave_by: Callable[[Callable[[], object]], object] = lambda leave: leave()
        self._session = session
        self._import_files = import_files
        self._settings = settings
        self._notice = notice
        self._window = window
        self.making = ProjectMaking(session, settings, host, self._choose_place, self._make)
        self.sample = SampleStart(session)
        self.recent = RecentProjects(settings, page)
        self.recent_menu = RecentMenu(settings, lambda: None if session.info is None else session.info.path, window)
        self.recent_menu.clear_requested.connect(self.recent.forget_all)
        self._made: NewProject | None = None  # what is being made, and what goes into it
        session.opened.connect(self._on_opened)
        session.loaded.connect(self._on_loaded)
        session.writable_changed.connect(self._on_writable_changed)

    def callbacks(self) -> dict[str, Callable[[], None]]:
        return {
            "new_project": self.making.begin,
            "open_project": self._choose_open,
            "try_sample": self.sample.start,
            "quit": self._quit,
        }

    def _quit(self) -> None:
        self._window.close()

    def stop(self) -> None:
        """End before the program ends."""
        self.recent.stop()
        self.making.stop()
        self.sample.stop()

    def _make(self, project: "NewProject", backbone: str) -> None:
        if project.place is not None:
            self.leave_by(partial(self._create, project, project.place, backbone))

    def _create(self, project: "NewProject", place: Path, backbone: str) -> None:
        self._made = project
        self._session.create(place, backbone)

    def _choose_place(self) -> Path | None:
        title, name = tr("New project"), f"project{PROJECT_SUFFIX}"
        path = save_new_file(self._window, Purpose.PROJECTS, title, name, KINDS)
        if path is None or path.suffix == PROJECT_SUFFIX:
            return path
        return path.with_name(path.name + PROJECT_SUFFIX)

    def _choose_open(self) -> None:
        path = open_file(self._window, Purpose.PROJECTS, tr("Open project"), KINDS)
        if path is not None:
            self._open(path)

    def _open(self, path: Path) -> None:
        self.leave_by(lambda: self._session.open(path))

    def take_dropped(self, paths: Sequence[Path]) -> None:
        """Open a dropped project; add other files to the open one, or make one beside them and import them."""
        project = next((path for path in paths if path.suffix == PROJECT_SUFFIX), None)
        if project is not None:
            self._open(project)
        elif self._session.info is not None:
            self._import_files(paths)
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
        answers = [
            (tr("Open another file…"), self._choose_open),
            (tr("Close project"), self._session.close),
        ]
        self._notice.ask(f"{reason[:1].upper()}{reason[1:]}.", answers)

    def _on_loaded(self) -> None:
        info, made = self._session.info, self._made
        if made is None or info is None or info.path != made.place:
            return
        self._made = None
        if made.has_choice:  # whoever has just chosen need not be asked again
            remember = self._settings.remember_offered
            self._session.ask(lambda live: live.project.backups.project_id, remember, owner=self._window)
        if made.dropped:
            self._import_files(made.dropped)
