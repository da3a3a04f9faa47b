"""The welcome page, shown without a project."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage, QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from app.actions.row import ActionRow
from app.controls import (
    fill_column,
    fill_row,
    make_button,
    make_flowing_label,
    make_label,
    make_row,
    make_scroll_area,
)
from app.dragging import take_files, welcome_files
from app.drops import DropLight
from app.feature import set_guide_page
from app.texts import tr
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens
from app.welcome.picture_card import CardGrid, PictureCard, columns_in, width_of
from app.welcome.recent import RecentList

MARGIN = 24  # logical pixels around the page
FEWEST_COLUMNS = 2  # of cards, if they fit
LOGO_SIDE = 56  # logical pixels
BEGINNINGS = ("new_project", "open_project")  # actions; the first is the primary button


@final
class Welcome(QWidget):
    """Buttons to begin, recent projects, the sample and the guide."""

    action_requested = Signal(str)  # name of an action
    project_requested = Signal(Path)
    files_dropped = Signal(Sequence)  # list of paths

    def __init__(self, rows: Mapping[str, ActionRow]) -> None:
        super().__init__()
        set_guide_page(self, "first-collection")
        self.setAcceptDrops(True)
        self._logo = QLabel()
        self.recent = RecentList()
        self.recent.project_requested.connect(self.project_requested)
        self.buttons = {name: self._make_button(name, rows[name]) for name in BEGINNINGS}
        self.sample = self._make_card("try_sample", tr("Sample collection"), "sample")
        self.sample.add(
            make_flowing_label(
                tr("315 pictures and their classes, to try everything out."), "secondary"
            )
        )
        self.guide = self._make_card("user_guide", tr("Your first collection"), "help")
        self.guide.add(
            make_flowing_label(
                tr("The guide: from a folder to results in five steps."), "secondary"
            )
        )
        self._column, begin, starts = QWidget(), QWidget(), CardGrid()
        starts.show_cards((self.sample, self.guide))
        fill_column(begin, make_label(tr("Get started"), "section"), starts)
        fill_column(
            self._column, self._make_head(), self.recent, begin, spacing=tokens().spacing.large
        )
        self._lay_out()
        DropLight(self)

    def _make_head(self) -> QWidget:
        spacing = tokens().spacing
        head, words = QWidget(), QWidget()
        title = make_label(tr("Protoleaf"), "title")
        line = make_flowing_label(tr("Sort thousands of photos by labelling a few"), "secondary")
        fill_column(words, title, line, spacing=0)
        hint = make_flowing_label(
            tr("You can also drop photos and a class list anywhere on this page."), "caption"
        )
        top = fill_row(None, self._logo, words, spacing=spacing.medium, grows=1)
        column = fill_column(head, top, make_row(*self.buttons.values(), None), hint)
        column.insertSpacing(1, spacing.small)
        return head

    def _lay_out(self) -> None:
        page = QWidget()
        middle = fill_column(page, margins=MARGIN)
        middle.addStretch(2)
        middle.addWidget(self._column, 0, Qt.AlignmentFlag.AlignHCenter)
        middle.addStretch(3)
        scroll = make_scroll_area()
        scroll.setWidget(page)
        fill_column(self, scroll)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Set the column's width to a whole number of cards that fit."""
        room = columns_in(self.width() - 2 * MARGIN)
        columns = min(room, max(FEWEST_COLUMNS, len(self.recent.rows)))
        self._column.setFixedWidth(width_of(columns))

    def _make_button(self, name: str, action: ActionRow) -> QPushButton:
        variant = "primary" if name == BEGINNINGS[0] else ""
        button = make_button(
            action.title,
            lambda: self.action_requested.emit(name),
            variant=variant,
            icon_name=action.icon,
        )
        button.setMinimumHeight(button.sizeHint().height() + tokens().spacing.small)
        return button

    def _make_card(self, action: str, name: str, icon_name: str) -> PictureCard:
        card = PictureCard(name, icon_name)
        card.clicked.connect(lambda _is_checked=False: self.action_requested.emit(action))
        return card

    def show_recent(self, paths: Sequence[Path]) -> None:
        """List recent projects; focus the latest one, or the button for a new one."""
        self._logo.setPixmap(
            icon_pixmap("protoleaf", LOGO_SIDE, colour="accent", ratio=self.devicePixelRatioF())
        )
        self.recent.show_projects(paths)
        self._fit()
        stops = [*self.buttons.values(), *self.recent.focus_stops(), self.sample, self.guide]
        for first, second in pairwise(stops):
            QWidget.setTabOrder(first, second)
        (self.recent.rows[paths[0]] if paths else self.buttons[BEGINNINGS[0]]).setFocus()

    def show_starts(self, sample: QImage, guide: QImage) -> None:
        self.sample.show_picture(sample)
        self.guide.show_picture(guide)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        welcome_files(event)

    def dropEvent(self, event: QDropEvent) -> None:
        paths = take_files(event)
        if paths:
            self.files_dropped.emit(paths)
