"""Which of the recent projects are still there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject

from app.jobs.background_thread import DetachedJob
from app.settings import Settings
from app.texts import tr

if TYPE_CHECKING:
    from app.welcome.view import Welcome


@final
class RecentProjects(QObject):
    """Lists recent projects on the first page, at once; a thread looks which of them are gone, and that follows."""

    def __init__(self, settings: Settings, page: Welcome) -> None:
        super().__init__(page)
        self._settings = settings
        self._page = page
        self._looking: DetachedJob | None = None
        self._is_stopped = False
        page.forget_requested.connect(self.forget)

    def show(self) -> None:
        paths = self._settings.recent_projects()
        self._page.show_recent(paths)
        if self._looking is not None:
            self._looking.cancel()
            self._looking.deleteLater()
            self._looking = None
        if not paths or self._is_stopped:
            return
        job = DetachedJob(tr("Recent projects"), lambda _on_progress, _cancel: gone_of(paths), self)
        job.finished.connect(self._page.recent.show_gone)
        job.failed.connect(lambda _message: None)  # they may be there: nothing is marked
        self._looking = job
        job.start()

    def forget(self, path: Path) -> None:
        """Take a project off the list; its file stays, wherever it is."""
        self._settings.forget_project(path)
        self.show()

    def forget_all(self) -> None:
        """Take all projects off the list; their files stay."""
        self._settings.forget_projects()
        self.show()

    def stop(self) -> None:
        """End before the program ends; a share that is gone may take minutes to say so, and is left behind."""
        self._is_stopped = True  # the welcome page comes up once more when the last project is closed
        if self._looking is not None:
            self._looking.stop()


def gone_of(paths: Sequence[Path]) -> frozenset[Path]:
    """Those whose file is not there; asks the disk."""
    return frozenset(path for path in paths if not path.exists())
