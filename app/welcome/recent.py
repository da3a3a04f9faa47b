"""Recent projects on the welcome page and in the menu."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QProgressBar, QWidget

from app.controls import ElidedLabel, fill_column, make_icon_button, make_label
from app.mirroring import placed
from app.settings import Settings
from app.texts import for_menu, plain_tip, tr
from app.theme.icons import icon
from app.welcome.picture_card import CardGrid, PictureCard
from app.welcome.recent_facts import RecentFacts
from app.welcome.wording import recent_text
from engine.files import shown

_FORGET_MARGIN = 6  # logical pixels around the button in the corner of a card


@final
class RecentList(QWidget):
    """A grid of cards of recent projects; hidden while empty."""

    project_requested = Signal(Path)
    forget_requested = Signal(Path)  # remove it from the list

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[Path, ProjectCard] = {}
        self._cards = CardGrid()
        fill_column(self, make_label(tr("Recent projects"), "section"), self._cards)
        self.hide()

    def show_projects(self, paths: Sequence[Path]) -> None:
        self.rows = {path: ProjectCard(path) for path in paths}
        for path, card in self.rows.items():
            card.clicked.connect(
                lambda _is_checked=False, path=path: self.project_requested.emit(path)
            )
            card.forget_requested.connect(self.forget_requested)
        self._cards.show_cards(list(self.rows.values()))
        self.setVisible(bool(paths))

    def focus_stops(self) -> list[QWidget]:
        return [stop for row in self.rows.values() for stop in (row, row.forget_button)]

    def show_facts(self, facts: RecentFacts) -> None:
        if facts.path in self.rows:
            self.rows[facts.path].show_facts(facts)


@final
class ProjectCard(PictureCard):
    """Card of a project: thumbnail, name, progress and date; a click opens it."""

    forget_requested = Signal(Path)

    def __init__(self, path: Path) -> None:
        super().__init__(path.stem, "leaf")
        self._path = path
        self.setToolTip(plain_tip(shown(str(path))))
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        policy = self._progress.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # equal heights of cards
        self._progress.setSizePolicy(policy)
        self._progress.setRange(0, 1)
        self._progress.setValue(0)
        self._facts = ElidedLabel("secondary")
        self._place = ElidedLabel("caption", mode=Qt.TextElideMode.ElideMiddle)
        self._place.show_text(shown(str(path.parent)))
        self.add(self._progress, self._facts, self._place)
        self.forget_button = make_icon_button(
            "close",
            tr("Remove “{1}” from this list", path.stem),
            lambda: self.forget_requested.emit(path),
        )
        self.forget_button.setParent(self)
        self.forget_button.setAutoRaise(False)
        self.forget_button.hide()

    @property
    def facts(self) -> str:
        """Progress of the project, or why it is unknown."""
        return self._facts.text()

    def show_facts(self, facts: RecentFacts) -> None:
        """Show the state on disk; a missing project can be opened, as its disk may be back."""
        self.show_picture(facts.face)
        self._facts.show_text(recent_text(facts))
        self._progress.setRange(0, max(1, facts.images))
        self._progress.setValue(facts.labelled)
        self.setAccessibleDescription(self.facts)
        self.set_muted(is_muted=facts.is_gone)
        self._progress.setVisible(not facts.is_gone)
        self.forget_button.setVisible(facts.is_gone)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        size = self.forget_button.sizeHint()
        corner = QRect(
            self.width() - size.width() - _FORGET_MARGIN,
            _FORGET_MARGIN,
            size.width(),
            size.height(),
        )
        self.forget_button.setGeometry(placed(corner, self.rect()))


@final
class RecentMenu(QMenu):
    """Menu of recent projects without the open one; filled before it is shown."""

    project_requested = Signal(Path)
    clear_requested = Signal()

    def __init__(
        self, settings: Settings, opened: Callable[[], Path | None], window: QWidget
    ) -> None:
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
            action.triggered.connect(
                lambda _is_checked=False, path=path: self.project_requested.emit(path)
            )
        if not paths:
            none = self.addAction(tr("No recent projects"))
            none.setObjectName("no_projects")
            none.setEnabled(False)
        self.addSeparator()
        clear = self.addAction(tr("Clear recent projects"))
        clear.setObjectName("clear_projects")
        clear.setEnabled(bool(self._settings.recent_projects()))
        clear.triggered.connect(self.clear_requested)
