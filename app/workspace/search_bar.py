"""The search row below the header: field with completions, filters, count and error message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.controls import (
    fill_column,
    fill_row,
    make_button,
    make_flowing_label,
    make_icon_button,
    make_label,
    make_search_field,
)
from app.key_names import ENTER_KEYS
from app.mirroring import left_to_right
from app.texts import tr
from app.theme.tokens import tokens
from app.wording import images, sentence

if TYPE_CHECKING:
    from app.workspace.search_filters import FilterPopover

FIELD_WIDTH = 520  # maximum in logical pixels: a search is a few words
MOST_COMPLETIONS = 12  # visible rows; the rest scrolls


def completions(text: str, cursor: int) -> list[tuple[str, str]]:
    """Completions of the word before the cursor, each with its meaning: field names and facts."""
    from engine.collection.search.query import EXAMPLES, FACT_MEANINGS, MEANINGS, Field
    from engine.texts import translated

    word = word_before(text, cursor).lstrip("-").casefold()
    if text.strip() and not word:
        return []
    fields = [
        (f"{field}:", translated(MEANINGS[field]))
        for field in EXAMPLES
        if field not in {Field.FACT, Field.VALUE}
    ]
    facts = [
        (f"{Field.FACT}:{fact}", translated(meaning)) for fact, meaning in FACT_MEANINGS.items()
    ]
    return [offer for offer in (*fields, *facts) if _begins(offer[0], word) and offer[0] != word]


def _begins(name: str, word: str) -> bool:
    """Whether a word is a prefix of a field, or of a fact with or without its field."""
    fact = name.partition(":")[2]
    return name.startswith(word) or bool(fact and fact.startswith(word))


def word_before(text: str, cursor: int) -> str:
    """The part of a word before the cursor."""
    before = text[:cursor]
    return "" if before.endswith((" ", '"')) else before.rpartition(" ")[2]


@final
class Offers(QListWidget):
    """A floating list of completions below the field; the field keeps the focus."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.setAccessibleName(tr("Fields of a search"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemClicked.connect(self._on_item_clicked)
        self.hide()

    def show_offers(self, offers: Sequence[tuple[str, str]], below: QWidget) -> None:
        """Show completions below a field; none is selected until an arrow key is pressed."""
        self.clear()
        for name, meaning in offers:
            item = QListWidgetItem(f"{left_to_right(name)}   {meaning}".strip())
            item.setData(Qt.ItemDataRole.UserRole, name)
            self.addItem(item)
        host = below.window()
        if not offers:
            self.hide()
            return
        self.setParent(host)
        rows = min(len(offers), MOST_COMPLETIONS)
        height = rows * self.sizeHintForRow(0) + 2 * self.frameWidth() + tokens().spacing.tiny
        place = below.mapTo(host, QPoint(0, below.height() + 2))
        self.setGeometry(
            place.x(), place.y(), below.width(), min(height, host.height() - place.y())
        )
        self.show()
        self.raise_()

    def press(self, key: Qt.Key) -> bool:
        """Handle a key of the field; False where it means nothing for completions."""
        if self.isHidden():
            return False
        row = self.currentRow()
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            step = 1 if key == Qt.Key.Key_Down else -1
            self.setCurrentRow(
                (row + step) % self.count() if row >= 0 else 0 if step > 0 else self.count() - 1
            )
        elif key in ENTER_KEYS | {Qt.Key.Key_Tab} and row >= 0:
            self._on_item_clicked(self.item(row))
        elif key == Qt.Key.Key_Escape:
            self.hide()
        else:
            return False
        return True

    def _on_item_clicked(self, item: QListWidgetItem) -> None:
        self.chosen.emit(str(item.data(Qt.ItemDataRole.UserRole)))


@final
class SearchBar(QWidget):
    """The search row; hidden until a search begins."""

    text_edited = Signal(str)
    left = Signal()  # Enter or the down arrow: focus the images
    closed = Signal()
    filters_wanted = Signal()
    save_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.field = make_search_field(
            tr("Search images by words, or by {1}", "name: date: camera: class:")
        )
        self.field.setMaximumWidth(FIELD_WIDTH)
        self.field.textChanged.connect(self._on_text_changed)
        self.field.installEventFilter(self)
        self.field.textEdited.connect(self._on_text_typed)
        self.offers = Offers(self)
        self.offers.chosen.connect(self._complete)
        self.filter_button = make_button(
            tr("Filters"), self.filters_wanted.emit, variant="flat", icon_name="filter"
        )
        self.filter_button.setCheckable(True)
        self.is_saved: Callable[[str], bool] = lambda _query: False
        ask_save = lambda: self.save_requested.emit(self.field.text().strip())  # noqa: E731
        self.save_button = make_button(
            tr("Save search"), ask_save, variant="flat", icon_name="star_outline"
        )
        self.save_button.hide()
        close = make_icon_button("close", tr("Close the search (Esc)"), self.close_search)
        self._count = make_label("", "muted")
        self._message = make_flowing_label("", "caption")
        self._message.hide()
        self.popover: FilterPopover | None = None
        self.can_save = False  # nothing can be saved in a project opened read-only
        self._has_hits = False
        self.is_open = False  # also while hidden temporarily, as by the class graph
        space = tokens().spacing
        parts = (self.field, self.filter_button, self.save_button, self._count, None, close)
        row = fill_row(None, *parts, grows=0)
        row.setStretch(parts.index(None), 0)
        margins = (space.medium, 0, space.small, space.small)
        fill_column(self, row, self._message, spacing=space.tiny, margins=margins)
        self.hide()

    def show_search(self, query: str) -> None:
        """Show the row with a saved search; the focus stays."""
        self.is_open = True
        self.show()
        self.show_text(query)

    def open(self) -> None:
        """Show the row, and focus the field."""
        self.is_open = True
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def close_search(self) -> None:
        """Clear the search, and hide the row."""
        self.is_open = False
        self.offers.hide()
        self.field.clear()
        self.hide()
        self.closed.emit()

    def show_text(self, text: str) -> None:
        """Show a query that was changed elsewhere, such as by the filters."""
        if text != self.field.text():
            self.field.setText(text)

    def show_count(self, count: int | None, *, has_hits: bool) -> None:
        """Show the number of images found in the displayed subset; None without a search.

        Args:
            has_hits: whether the search finds images anywhere in the project.
        """
        self._has_hits = has_hits
        self._count.setText("" if count is None else images(count))
        self.show_saved()

    def show_saved(self) -> None:
        """Show the save button for a search that finds images and is not saved yet."""
        text = self.field.text().strip()
        self.save_button.setVisible(
            bool(text) and self._has_hits and self.can_save and not self.is_saved(text)
        )

    def show_problem(self, why: str) -> None:
        """Show why a query is invalid, or finds nothing; "" where it finds images."""
        self._message.setText(sentence(why))
        self._message.setVisible(bool(why))

    @property
    def problem(self) -> str:
        return self._message.text() if self._message.isVisibleTo(self) else ""

    def _on_text_changed(self, text: str) -> None:
        if self.popover is not None:
            self.popover.show_query(text)
        self.text_edited.emit(text)

    # -- completions

    def _on_text_typed(self) -> None:
        text = self.field.text()
        self.offers.show_offers(
            completions(text, self.field.cursorPosition()) if text.strip() else [], self.field
        )

    def _complete(self, name: str) -> None:
        """Replace the word before the cursor by a field or fact."""
        text, cursor = self.field.text(), self.field.cursorPosition()
        start = cursor - len(word_before(text, cursor).lstrip("-"))
        gap = "" if name.endswith(":") else " "
        self.field.setText(f"{text[:start]}{name}{gap}{text[cursor:].lstrip()}")
        self.field.setCursorPosition(start + len(name) + len(gap))
        self.offers.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle keys of the field: those of the completions first, then those of the row."""
        if watched is self.field and event.type() == QEvent.Type.FocusOut:
            self.offers.hide()
        if (
            watched is self.field
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
        ):
            return self.offers.press(Qt.Key(event.key())) or self._press(Qt.Key(event.key()))
        return super().eventFilter(watched, event)

    def _press(self, key: Qt.Key) -> bool:
        if key == Qt.Key.Key_Escape:
            self.close_search()
        elif key in ENTER_KEYS or (key == Qt.Key.Key_Down and self.field.text().strip()):
            self.left.emit()
        elif key == Qt.Key.Key_Down:
            self.offers.show_offers(completions("", 0), self.field)
        else:
            return False
        return True
