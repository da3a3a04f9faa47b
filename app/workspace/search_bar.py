"""The row below the header in which one types a search: the field with its completions, filters, and what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.controls import (
    make_button,
    make_flowing_label,
    make_icon_button,
    make_label,
    make_search_field,
)
from app.mirroring import left_to_right
from app.texts import tr
from app.theme.tokens import tokens
from app.wording import images, sentence

if TYPE_CHECKING:
    from app.workspace.search_filters import FilterPopover

FIELD_WIDTH: Final = 520  # logical pixels at most: a search is a few words
MOST_COMPLETIONS: Final = 12  # rows; one scrolls to the others


def completions(text: str, cursor: int) -> list[tuple[str, str]]:
    """What the word before the cursor may become, each with its meaning: names of fields, and facts."""
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
    """Whether a word is the beginning of a field, or of a fact with or without its field."""
    fact = name.partition(":")[2]
    return name.startswith(word) or bool(fact and fact.startswith(word))


def word_before(text: str, cursor: int) -> str:
    """The part of a word that stands before the cursor."""
    before = text[:cursor]
    return "" if before.endswith((" ", '"')) else before.rpartition(" ")[2]


@final
class Offers(QListWidget):
    """Completions below the field, over what is there; the keyboard stays in the field."""

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
        """Show them below a field; none is chosen until an arrow is pressed."""
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
        """Do what a key of the field means here; False where it means nothing."""
        if self.isHidden():
            return False
        row = self.currentRow()
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            step = 1 if key == Qt.Key.Key_Down else -1
            self.setCurrentRow(
                (row + step) % self.count() if row >= 0 else 0 if step > 0 else self.count() - 1
            )
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab) and row >= 0:
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
    """Hidden until somebody searches."""

    text_edited = Signal(str)
    left = Signal()  # Enter or the arrow down: on to the images
    closed = Signal()
    filters_wanted = Signal()
    save_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.field = make_search_field(
            tr("Search images by words, or by %1", "name: date: camera: class:")
        )
        self.field.setMaximumWidth(FIELD_WIDTH)
        self.field.textChanged.connect(self._on_text_changed)
        self.field.installEventFilter(self)
        self.field.textEdited.connect(lambda _text: self._on_text_typed())
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
        self.can_save = False  # in a project that is open for reading only nothing is saved
        self._has_hits = False
        self.is_open = False  # also where it is hidden for a while, as beside the class graph
        space = tokens().spacing
        row = QHBoxLayout()
        row.setSpacing(space.small)
        row.addWidget(self.field, 1)
        row.addWidget(self.filter_button)
        row.addWidget(self.save_button)
        row.addWidget(self._count)
        row.addStretch(0)
        row.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(space.medium, 0, space.small, space.small)
        column.setSpacing(space.tiny)
        column.addLayout(row)
        column.addWidget(self._message)
        self.hide()

    def show_search(self, query: str) -> None:
        """Show what a saved search finds; the keyboard stays where it is."""
        self.is_open = True
        self.show()
        self.show_text(query)

    def open(self) -> None:
        """Show it, and let one type."""
        self.is_open = True
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def close_search(self) -> None:
        """Search for nothing, and go away."""
        self.is_open = False
        self.offers.hide()
        self.field.clear()
        self.hide()
        self.closed.emit()

    def show_text(self, text: str) -> None:
        """Show a search that was made elsewhere, such as by the filters."""
        if text != self.field.text():
            self.field.setText(text)

    def show_count(self, count: int | None, *, has_hits: bool) -> None:
        """Say how many images of the shown part there are; None without a search.

        Args:
            has_hits: whether the search finds images anywhere in the project.
        """
        self._has_hits = has_hits
        self._count.setText("" if count is None else images(count))
        self.show_saved()

    def show_saved(self) -> None:
        """Offer to save a search that finds images and is not saved yet."""
        text = self.field.text().strip()
        self.save_button.setVisible(
            bool(text) and self._has_hits and self.can_save and not self.is_saved(text)
        )

    def show_problem(self, why: str) -> None:
        """Say why a search is not understood, or finds nothing; "" where it finds images."""
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
        """Write a field or fact in the place of the word before the cursor."""
        text, cursor = self.field.text(), self.field.cursorPosition()
        start = cursor - len(word_before(text, cursor).lstrip("-"))
        gap = "" if name.endswith(":") else " "
        self.field.setText(f"{text[:start]}{name}{gap}{text[cursor:].lstrip()}")
        self.field.setCursorPosition(start + len(name) + len(gap))
        self.offers.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the field: those of the completions while there are some, then Esc, Enter and the arrow down."""
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
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or (
            key == Qt.Key.Key_Down and self.field.text().strip()
        ):
            self.left.emit()
        elif key == Qt.Key.Key_Down:
            self.offers.show_offers(completions("", 0), self.field)
        else:
            return False
        return True
