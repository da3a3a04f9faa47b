"""View of the label check page: list of suspects, and the current one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QStackedWidget, QVBoxLayout, QWidget

from app.controls import ElidedLabel, fill_column, make_label, make_row, make_separator
from app.images.thumbnails import Thumbnails
from app.label_check import wording
from app.label_check.queue_list import WIDTH, QueueList, QueueRow
from app.label_check.suspect_card import KEYS, SuspectCard
from app.placeholder import PlaceholderTexts
from app.progress_bar import make_bar
from app.texts import tr, with_breaks
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.collection.state import CollectionState
    from engine.project import Label
    from engine.review.label_check import SuspectLabel

ICON_SIDE = 48  # in pixels
NARROWEST = 280  # width of the placeholder's text, in pixels
# Minimum width for list and card; narrower pages show only the card.
ROOM_FOR_LIST = 480 + WIDTH


@final
class EmptyPlace(QWidget):
    """Placeholder: icon, reason, next step."""

    def __init__(self) -> None:
        super().__init__()
        self._icon = QLabel()
        self.title, self.text = (
            make_label("", "heading", wraps=True),
            make_label("", "secondary", wraps=True),
        )
        column = QVBoxLayout(self)
        column.setSpacing(tokens().spacing.medium)
        column.addStretch(2)
        for part in (self._icon, self.title, self.text):
            part.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            part.setMinimumWidth(NARROWEST)
            # Full width: Qt gives an aligned label the height of one line.
            column.addWidget(part)
        self.bar = make_bar()
        self.bar.setFixedWidth(NARROWEST)
        column.addWidget(self.bar, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)

    def show_texts(self, words: PlaceholderTexts) -> None:
        self.bar.setRange(0, 0)
        self.bar.setVisible(words.is_working)
        self.bar.setAccessibleName(words.title)
        colour = "accent" if words.is_good else "text_disabled"
        self._icon.setPixmap(
            icon_pixmap(words.icon, ICON_SIDE, colour=colour, ratio=self.devicePixelRatioF())
        )
        self.title.setText(with_breaks(words.title))
        self.text.setText(with_breaks(words.text))


@final
class LabelCheckPage(QWidget):
    """View of the suspects; emits actions of keys and buttons."""

    action_requested = Signal(str)  # name of a key
    image_chosen = Signal(int)  # in the list
    image_requested = Signal(int)  # to be shown in the grid

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Check labels"))
        self.list = QueueList(thumbnails)
        self.card = SuspectCard(thumbnails)
        self.empty = EmptyPlace()
        self._line = make_separator(vertical=True)
        self.note = ElidedLabel("caption")  # labels that could not be judged
        self.note.setContentsMargins(
            tokens().spacing.medium, 0, tokens().spacing.medium, tokens().spacing.tiny
        )
        work, pair = QWidget(), make_row(self.list, self._line, self.card, spacing=0, grows=2)
        fill_column(work, pair, self.note, spacing=0, grows=0)
        self._stack = QStackedWidget()
        for part in (self.empty, work):
            self._stack.addWidget(part)
        fill_column(self, self._stack)
        self._work = work
        self._name_of: Callable[[int], str] = str
        self._suspect: SuspectLabel | None = None
        self.card.action_requested.connect(self._on_button)
        self.card.image_requested.connect(self.image_requested)
        self.list.chosen.connect(self.image_chosen)
        self.list.selection_changed.connect(self._show_choices)

    @property
    def is_empty(self) -> bool:
        return self._stack.currentWidget() is self.empty

    @property
    def selected(self) -> tuple[int, ...]:
        """Selected images if they include the current one, else the current image."""
        if self._suspect is None:
            return ()
        chosen = self.list.selected if self.list.isVisibleTo(self) else ()
        return chosen if self._suspect.image_id in chosen else (self._suspect.image_id,)

    def show_empty(self, words: PlaceholderTexts) -> None:
        self._suspect = None
        self.empty.show_texts(words)
        self._stack.setCurrentWidget(self.empty)

    def show_note(self, words: str) -> None:
        """Show which labels could not be judged, below the list."""
        self.note.show_text(words)
        self.note.setVisible(bool(words))

    def show_queue(
        self,
        suspects: Sequence[SuspectLabel],
        current: SuspectLabel,
        state: CollectionState,
        labels: Mapping[int, Label],
        name_of: Callable[[int], str],
    ) -> None:
        """Show the list and the current suspect; all images must be in the state."""
        self._suspect, self._name_of = current, name_of
        rows = [
            QueueRow(
                each.image_id, state.source_of(each.image_id), *wording.row_texts(each, name_of)
            )
            for each in suspects
        ]
        self.list.show_rows(rows, current.image_id)
        source = state.source_of(current.image_id)
        self.card.show_suspect(current, source, state, labels.get(current.image_id), name_of)
        self._stack.setCurrentWidget(self._work)
        self._show_choices()

    def _show_choices(self) -> None:
        if self._suspect is not None:
            self.card.show_choices(self._suspect, self._name_of, len(self.selected))

    def _on_button(self, name: str) -> None:
        self.action_requested.emit(name)
        self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        acts = {
            row.name: lambda name=row.name: self.action_requested.emit(name) for row in KEYS.rows
        }
        if self.is_empty or not KEYS.press(event, acts):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        has_room = self.width() >= ROOM_FOR_LIST
        self.list.setVisible(has_room)
        self._line.setVisible(has_room)
        self._show_choices()

    def stop(self) -> None:
        self.card.canvas.stop()
