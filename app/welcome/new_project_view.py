"""The sheet "New project": name, photos, classes, and accuracy or speed; all optional."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QGridLayout, QLabel, QLineEdit, QRadioButton, QWidget

from app.controls import fill_column, make_button, make_label, make_row, make_separator
from app.dragging import take_files, welcome_files
from app.drops import DropLight
from app.feature import set_guide_page
from app.key_names import ENTER_KEYS
from app.palette.overlay import ScrollingCard
from app.side_panel.cards import FailureNotice, ProgressView
from app.texts import tr
from app.theme.tokens import tokens
from app.welcome.sections import ClassSection, PhotoSection, PlaceSection, SpeedSection
from app.welcome.wording import setup_facts

if TYPE_CHECKING:
    from engine.backbones.bundled import OfferedBackbone

WIDTH = 760  # logical pixels
TITLE_WIDTH = 88  # logical pixels of the title column
_TOP_LEFT = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading


@final
class NewProjectCard(ScrollingCard):
    """Floating sheet; Enter creates the project, closing keeps the choices."""

    made = Signal(str)  # name of the chosen backbone
    cancel_requested = Signal()  # stop preparing the backbone
    start_over_requested = Signal()
    files_dropped = Signal(Sequence)  # list of paths

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, WIDTH, tr("New project"))
        set_guide_page(self, "first-collection")
        self.setAcceptDrops(True)
        DropLight(self, self.panel)
        self.place, self.photos = PlaceSection(), PhotoSection()
        self.classes, self.speed = ClassSection(), SpeedSection()
        self.create_button = make_button(tr("Create project"), self._on_create, variant="primary")
        self.keep_button = make_button(tr("Cancel"), self.dismiss)
        self.clear_button = make_button(
            tr("Start over"), self.start_over_requested.emit, variant="flat"
        )
        self.failure = FailureNotice()
        self.progress = ProgressView(tr("Stop; no project is made"), setup_facts)
        self.progress.cancel_requested.connect(self.cancel_requested)
        self.progress.hide()
        # Title, section and separator above.
        self._sections: list[tuple[QLabel, QWidget, QWidget]] = []
        self._fill_body()
        buttons = (self.clear_button, None, self.keep_button, self.create_button)
        self._buttons, footer = make_row(*buttons), QWidget()
        fill_column(footer, self.failure, self.progress, self._buttons)
        self.add_footer(footer)

    def _fill_body(self) -> None:
        spacing = tokens().spacing
        grid = QGridLayout(self.body)
        grid.setContentsMargins(spacing.large, spacing.small, spacing.large, spacing.small)
        grid.setHorizontalSpacing(spacing.medium)
        grid.setVerticalSpacing(spacing.small + spacing.tiny)
        grid.setColumnMinimumWidth(0, TITLE_WIDTH)
        grid.setColumnStretch(1, 1)
        titles = (tr("Name"), tr("Photos"), tr("Classes"), tr("Accuracy"))
        for at, (title, section) in enumerate(zip(titles, self._each_section(), strict=True)):
            label, line = make_label(title, "strong"), make_separator()
            # Aligned with the text of the field.
            label.setContentsMargins(0, 0 if at else spacing.small, 0, 0)
            grid.addWidget(line, 2 * at, 0, 1, 2)
            line.setVisible(at > 0)  # without a parent, it would open as a window
            grid.addWidget(label, 2 * at + 1, 0, _TOP_LEFT)
            grid.addWidget(section, 2 * at + 1, 1)
            self._sections.append((label, section, line))
        grid.setRowStretch(2 * len(titles), 1)

    def _each_section(self) -> tuple[QWidget, ...]:
        return self.place, self.photos, self.classes, self.speed

    def show_sheet(
        self, offered: Sequence[OfferedBackbone], chosen: str, *, is_begun: bool
    ) -> None:
        """Open the sheet; `chosen` is the name of a backbone.

        Args:
            is_begun: whether options were chosen before.
        """
        self.speed.offer(offered, chosen)
        for part in self._sections[-1]:
            part.setVisible(len(offered) > 1)
        self.show_preparing("")
        self.show_over()
        self.scroll_area.verticalScrollBar().setValue(0)
        (self.create_button if is_begun else self.place.name).setFocus()
        self._order_stops()
        self.settle()

    def _order_stops(self) -> None:
        stops: list[QWidget] = [
            self.place.name,
            self.place.place_button,
            self.photos.drop_box,
            self.photos.list,
            self.photos.add_button,
            *self.classes.ways.values(),
            self.classes.file_button,
            self.classes.text,
            self.classes.all_button,
            self.classes.none_button,
            *(card.button for card in self.speed.choices.values()),
            self.clear_button,
            self.keep_button,
            self.create_button,
        ]
        for first, second in pairwise(stops):
            QWidget.setTabOrder(first, second)

    def show_preparing(self, text: str) -> None:
        """Show that the backbone is being prepared; "" hides it."""
        is_preparing = bool(text)
        self.body.setEnabled(not is_preparing)
        self._buttons.setVisible(not is_preparing)
        self.show_failure("")
        if is_preparing:
            self.progress.show_step(text)
            self.progress.cancel_button.setFocus()
        else:
            self.progress.show_ended()
            self.create_button.setFocus()
        self.settle()

    def show_failure(self, text: str) -> None:
        self.failure.show_text(text)
        self.settle()

    def show_refused_place(self, text: str) -> None:
        """Show why no project can be created there; "" hides it."""
        self.place.failure.show_text(text)
        if text:
            self.scroll_area.verticalScrollBar().setValue(0)
            self.place.name.setFocus()
        self.settle()

    def settle(self) -> None:
        """Fit the height to new contents."""
        self._settle()

    @property
    def is_preparing(self) -> bool:
        return not self.progress.isHidden()

    def _on_create(self) -> None:
        if not self.is_preparing:
            self.made.emit(self.speed.chosen)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Create the project on Enter in a field or option; a focused button is clicked instead."""
        focused = QApplication.focusWidget()
        is_enter = event.key() in ENTER_KEYS
        if is_enter and (focused is self or isinstance(focused, QLineEdit | QRadioButton)):
            self._on_create()
            return
        super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        welcome_files(event)

    def dropEvent(self, event: QDropEvent) -> None:
        if paths := take_files(event):
            self.files_dropped.emit(paths)


def file_kinds() -> str:
    """File filters for class lists."""
    from engine.interchange.detect import FORMATS

    patterns = sorted({pattern for each in FORMATS.values() for pattern in each.patterns})
    return tr("Class lists ({1});;All files (*)", " ".join(patterns))
