"""The menu of projects that were opened last."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.settings import Settings
from app.texts import for_menu, plain_tip, tr
from app.theme.icons import icon


@final
class RecentMenu(QMenu):
    """Filled each time it is shown: the latest first, without the project that is open."""

    project_requested = Signal(Path)  # path of a project
    clear_requested = Signal()  # forget all of them; the files stay

    def __init__(self, settings: Settings, opened: Callable[[], Path | None], window: QWidget) -> None:
        super().__init__(tr("Open recent"), window)
        self.setIcon(icon("history"))
        self.setToolTipsVisible(True)
        self._settings = settings
        self._opened = opened
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        paths = [path for path in self._settings.recent_projects() if path != self._opened()]
        names = Counter(path.stem for path in paths)
        for path in paths:
            text = path.stem if names[path.stem] == 1 else f"{path.stem} ({path.parent})"
            action = self.addAction(for_menu(text))
            action.setToolTip(plain_tip(str(path)))
            action.setData(str(path))
            action.triggered.connect(self._on_chosen)
        if not paths:
            self.addAction(tr("No recent projects")).setEnabled(False)
        self.addSeparator()
        clear = self.addAction(tr("Clear recent projects"))
        clear.setEnabled(bool(self._settings.recent_projects()))
        clear.triggered.connect(self.clear_requested)

    def _on_chosen(self) -> None:
        action = self.sender()
        path = next((Path(str(each.data())) for each in self.actions() if each is action), None)
        if path is not None:
            self.project_requested.emit(path)
