"""Two to four images side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout

from app.actions.key_tips import follow_keys
from app.actions.keys import keys_in_use
from app.compare.logic import LONGEST_OF_MANY, MANY, cell_of, columns_for
from app.compare.page import ComparedPage
from app.compare.pane import Pane
from app.controls import fill_column
from app.image_grid.card_words import Card
from app.image_view.canvas import LARGEST_SIDE, ImageCanvas
from app.texts import tr
from app.theme.tokens import tokens
from app.wording import enumeration

CardOf = Callable[[int], Card | None]
_LABELLING = ("accept", "relabel", "unknown", "reject")


@final
class ComparePage(ComparedPage):
    """The compared images; keys act on the framed one."""

    current_changed = Signal(int)  # image id

    def __init__(self, image_ids: Sequence[int], current_id: int) -> None:
        super().__init__()
        self.setAccessibleName(tr("Compare images"))
        side = LARGEST_SIDE if len(image_ids) < MANY else LONGEST_OF_MANY
        self.panes = [Pane(image_id, longest_side=side) for image_id in image_ids]
        self._dates: dict[int, datetime] = {}
        self._active = next(
            (pane for pane in self.panes if pane.image_id == current_id), self.panes[0]
        )
        self._columns = 0
        self._grid = QGridLayout()
        self._lay_out()
        for pane in self.panes:
            pane.chosen.connect(partial(self._activate, pane))
        self.lock_together([pane.canvas for pane in self.panes])
        self._show_active()
        follow_keys(self, self._show_keys)

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        column = fill_column(self, self.bar, spacing=0)
        self._grid.setContentsMargins(spacing.medium, 0, spacing.medium, spacing.medium)
        self._grid.setSpacing(spacing.small)
        column.addLayout(self._grid, 1)
        self._arrange()
        for before, after in zip(self.panes, self.panes[1:], strict=False):
            self.setTabOrder(before, after)
        self.setTabOrder(self.panes[-1], self.bar)

    def _arrange(self) -> None:
        """Use the number of columns in which the images are largest."""
        margins = self._grid.contentsMargins()
        width = self.width() - margins.left() - margins.right()
        height = self.height() - self.bar.sizeHint().height() - margins.bottom()
        columns = columns_for(len(self.panes), width, height, self.panes[0].words_height)
        if columns == self._columns:
            return
        # Resets columns and rows of the previous arrangement, too.
        for place in range(len(self.panes)):
            self._grid.setColumnStretch(place, int(place < columns))
            self._grid.setRowStretch(place, int(place < -(-len(self.panes) // columns)))
        self._columns = columns
        for place, pane in enumerate(self.panes):
            self._grid.addWidget(pane, *cell_of(place, len(self.panes), columns))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _show_keys(self) -> None:
        in_use = keys_in_use()
        keys = [key for name in _LABELLING if (key := in_use.text_of(name))]
        if (first := in_use.text_of("label_as_1")) and (last := in_use.text_of("label_as_9")):
            keys.insert(1, tr("{1} to {2}", first, last))
        self.bar.text.show_text(
            tr("Keys that label the framed image: {1}", enumeration(keys)) if keys else ""
        )

    # -- content

    @property
    def active_canvas(self) -> ImageCanvas:
        return self._active.canvas

    @property
    def image_ids(self) -> tuple[int, ...]:
        return tuple(pane.image_id for pane in self.panes)

    def show_cards(self, card_of: CardOf) -> bool:
        """Show the current state of the images; False if one was removed from the project."""
        cards = [card_of(pane.image_id) for pane in self.panes]
        for pane, card in zip(self.panes, cards, strict=True):
            if card is not None:
                pane.show_card(card, taken_at=self._dates.get(pane.image_id))
        return None not in cards

    def show_dates(self, dates: Mapping[int, datetime]) -> None:
        """Set the known capture dates; the next `show_cards` shows them."""
        self._dates.update(dates)

    def _show_active(self) -> None:
        for pane in self.panes:
            pane.show_active(is_active=pane is self._active)
        self.show_scale()

    # -- current image (`app.workspace.active_images.PageOfImages`)

    @property
    def current_id(self) -> int | None:
        return self._active.image_id

    def go_on_from(self, image_ids: Sequence[int]) -> None:
        """Go to the next image if the current one was decided; the last one stays."""
        if self._active.image_id in image_ids:
            self.go_to_next()

    def go_to_next(self) -> None:
        self._go(1)

    def look_at(self, image_id: int) -> bool:
        pane = next((pane for pane in self.panes if pane.image_id == image_id), None)
        if pane is not None:
            self._activate(pane)
            pane.setFocus()
        return pane is not None

    def step(self, x: int, y: int) -> None:
        self._go(x + y * self._columns)

    def _go(self, steps: int) -> None:
        place = self.panes.index(self._active) + steps
        if 0 <= place < len(self.panes):
            self._activate(self.panes[place])
            self.panes[place].setFocus()

    def _activate(self, pane: Pane) -> None:
        if pane is not self._active:
            self._active = pane
            self._show_active()
            self.current_changed.emit(pane.image_id)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Pass the keyboard focus to the current image."""
        super().focusInEvent(event)
        QTimer.singleShot(
            0, self._active, lambda: self._active.setFocus(Qt.FocusReason.OtherFocusReason)
        )
