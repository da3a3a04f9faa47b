"""View of the group review page: heading, cards, most likely classes, keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast, final

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.actions.keys import short_key
from app.actions.page_keys import PageKey, PageKeys
from app.controls import ElidedLabel, fill_column, fill_row, make_label, make_separator
from app.group_review.cards import GroupCards
from app.image_grid.card_words import Card
from app.image_view.view import ImageView
from app.placeholder import PlaceholderTexts
from app.progress_bar import make_bar
from app.texts import marked, tr
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens
from app.wording import SEPARATOR, clauses, in_sentences
from engine.file_parts import ImageSource

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails

DIGITS = 9  # number of digit keys
COLUMNS = 5  # for the most likely classes
KEYS = PageKeys(
    "group_review",
    marked("Review by group"),
    (
        PageKey("accept", marked("Accept the class of the group"), "Return Enter"),
        PageKey("accept_coarse", marked("Accept the broader class"), "Shift+Return Shift+Enter"),
        PageKey("relabel", marked("Label as…"), "R"),
        PageKey("majority", marked("Accept all, including those left out"), "M"),
        PageKey("dismiss", marked("Not this class"), "X"),
        PageKey("unknown", marked("None of the classes"), "U"),
        PageKey("empty", marked("Empty: nothing is there"), "0"),
        PageKey("next", marked("Next group"), "E"),
        PageKey("toggle", marked("Leave the image out, or take it back"), "T"),
        PageKey("toggle_all", marked("Leave all out, or take all back"), "Ctrl+A"),
        PageKey("look", marked("Look at the image"), "Space"),
        *(
            PageKey(f"class_{digit}", marked("Label as one of the most likely classes"), str(digit))
            for digit in range(1, DIGITS + 1)
        ),
    ),
)
FOOTER = (
    ("accept", marked("accept")),
    ("accept_coarse", marked("broader")),
    ("relabel", marked("label as")),
    ("dismiss", marked("not this class")),
    ("unknown", marked("none of the classes")),
    ("empty", marked("empty")),
    ("majority", marked("accept all")),
    ("next", marked("next group")),
    ("toggle", marked("leave out")),
    ("look", marked("look")),
)
"""Keys in the line below the cards, most needed first."""
EMPTY_ICON = 48  # in pixels
BAR_WIDTH = 240  # in pixels


@dataclass(frozen=True)
class GroupWords:
    """All texts and cards of a group."""

    heading: str
    facts: tuple[str, ...]  # after the heading
    place: str
    digits: tuple[str, ...]
    coarse: str  # name of the broader class; "" for none
    odd: int  # number of outliers, which come first
    done: str
    cards: tuple[Card, ...] = ()
    left_out: frozenset[int] = field(default_factory=frozenset)


@final
class GroupPage(QWidget):
    """Page with one group at a time; `acts` maps names of keys to actions."""

    left = Signal()
    undo_requested = Signal()

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self.acts: Mapping[str, Callable[[], object]] = {}
        self.takes_undo: Callable[[], bool] = lambda: False
        self.setObjectName("groupPage")
        self.setAccessibleName(tr("Review by group"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty("surface", "window")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.cards = GroupCards(thumbnails)
        self.heading = ElidedLabel("title")
        self.facts = ElidedLabel("secondary")
        self.place = make_label("", "muted")
        self._done = make_label("", "muted")
        self._digits = _Digits()
        self._footer = _KeyLine()
        self.image_view = ImageView()
        self.empty = _Empty()
        self._pages = QStackedWidget()
        group = QWidget()
        self._lay_out_group(group)
        for page in (group, self.image_view, self.empty):
            self._pages.addWidget(page)
        self._group = group
        fill_column(self, self._pages, spacing=0)
        self.image_view.left.connect(self.stop_looking)
        self.image_view.step_requested.connect(self._on_step)
        self._sources: Mapping[int, ImageSource] = {}

    def _lay_out_group(self, group: QWidget) -> None:
        spacing = tokens().spacing
        first = fill_row(None, self.heading, self.place, spacing=spacing.tiny, grows=0)
        second = fill_row(None, self.facts, self._done, spacing=spacing.tiny, grows=0)
        top = fill_column(
            None,
            *(first, second, self._digits),
            spacing=spacing.tiny,
            margins=(spacing.medium, spacing.small, spacing.medium, spacing.tiny),
        )
        parts = (top, self.cards, make_separator(), self._footer)
        fill_column(group, *parts, spacing=0, grows=1)

    # -- display

    @property
    def empty_title(self) -> str:
        """Title of the placeholder; "" while there is a group."""
        return self.empty.title.text() if self._pages.currentWidget() is self.empty else ""

    @property
    def is_looking(self) -> bool:
        return self._pages.currentWidget() is self.image_view

    def show_group(self, words: GroupWords, *, is_other_group: bool) -> None:
        self._show_words(words)
        self._sources = {card.image_id: card.source for card in words.cards}
        self.cards.show_cards(
            words.cards, words.left_out, odd=words.odd, is_other_group=is_other_group
        )
        if is_other_group or not self.is_looking:
            self._pages.setCurrentWidget(self._group)
        self.setAccessibleDescription(
            in_sentences(words.heading, clauses(*words.facts), words.place)
        )

    def _show_words(self, words: GroupWords) -> None:
        self.heading.show_text(words.heading)
        self.facts.show_text(SEPARATOR.join(words.facts))
        self.place.setText(words.place)
        self._done.setText(words.done)
        self._digits.show_classes(words.digits, words.coarse)
        self._footer.show_keys()

    def show_empty(self, words: PlaceholderTexts) -> None:
        self.empty.show_texts(words)
        self._sources = {}
        self._pages.setCurrentWidget(self.empty)
        self.setAccessibleDescription(words.title)

    # -- one image

    def look(self) -> None:
        """Show the current image large, until Space or Esc."""
        image_id = self.cards.current_id
        if image_id is not None:
            self._pages.setCurrentWidget(self.image_view)
            self._show_image(image_id)
            self.image_view.setFocus()

    def stop_looking(self) -> None:
        if self.is_looking:
            self._pages.setCurrentWidget(self._group)
            self.setFocus()

    def _on_step(self, step: int) -> None:
        self.cards.step(step)
        if (image_id := self.cards.current_id) is not None:
            self._show_image(image_id)

    def _show_image(self, image_id: int) -> None:
        ids = self.cards.image_ids
        self.image_view.show_image(
            self._sources[image_id], place=ids.index(image_id) + 1, count=len(ids)
        )

    # -- keys

    def event(self, event: QEvent) -> bool:
        """Intercept Undo after answers that changed nothing in the project."""
        is_key = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride
        if (
            is_key
            and cast(QKeyEvent, event).matches(QKeySequence.StandardKey.Undo)
            and self.takes_undo()
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Undo) and self.takes_undo():
            self.undo_requested.emit()
        elif self._pages.currentWidget() is self.empty or not (
            self.cards.press_arrow(event) or KEYS.press(event, self.acts)
        ):
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self.setFocus()

    def stop(self) -> None:
        self.image_view.stop()


@final
class _Digits(QWidget):
    """Keys and names of the broader and most likely classes: `1 Peacock 82%`."""

    def __init__(self) -> None:
        super().__init__()
        spacing = tokens().spacing
        self._cells: list[tuple[QLabel, ElidedLabel]] = []
        grid = QGridLayout(self)
        grid.setContentsMargins(0, spacing.tiny, 0, 0)
        grid.setHorizontalSpacing(spacing.small)
        grid.setVerticalSpacing(spacing.tiny)
        # Names get the width they need if there is room.
        grid.setColumnStretch(2 * COLUMNS, 1)
        for cell in range(DIGITS + 1):
            key, name = make_label("", "key"), ElidedLabel("secondary", takes_rest=False)
            row, column = divmod(cell, COLUMNS)
            grid.addWidget(key, row, 2 * column, Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(name, row, 2 * column + 1)
            self._cells.append((key, name))

    def show_classes(self, digits: Sequence[str], coarse: str) -> None:
        names = ["accept_coarse"] * bool(coarse) + [
            f"class_{place}" for place in range(1, len(digits) + 1)
        ]
        texts = [coarse] * bool(coarse) + list(digits)
        for place, (key, name) in enumerate(self._cells):
            is_used = place < len(names)
            key.setVisible(is_used)
            name.setVisible(is_used)
            if is_used:
                key.setText(_short_key(names[place]))
                name.show_text(texts[place])
        self.setVisible(bool(names))


def _short_key(name: str) -> str:
    keys = KEYS.keys_of(name)
    return short_key(keys[0]) if keys else ""


@final
class _KeyLine(QWidget):
    """Keys and their actions, as many as fit."""

    def __init__(self) -> None:
        super().__init__()
        spacing = tokens().spacing
        self._pairs: dict[str, tuple[QLabel, QLabel]] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(spacing.medium, spacing.small, spacing.medium, spacing.small)
        layout.setSpacing(spacing.small)
        layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        for name, text in FOOTER:
            pair = self._pairs[name] = make_label("", "key"), make_label(tr(text), "muted")
            for label in pair:
                layout.addWidget(label)
        layout.addStretch(1)
        self.show_keys()

    def show_keys(self) -> None:
        for name, (key, _text) in self._pairs.items():
            key.setText(KEYS.text_of(name))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        spacing = tokens().spacing
        room = self.width() - 2 * spacing.medium
        for pair in self._pairs.values():
            room -= sum(label.sizeHint().width() + spacing.small for label in pair)
            for label in pair:
                label.setVisible(room >= 0)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())


@final
class _Empty(QWidget):
    """Placeholder: icon, reason and next step."""

    def __init__(self) -> None:
        super().__init__()
        self._icon = QLabel()
        self.title = make_label("", "heading", wraps=True)
        self._text = make_label("", "secondary", wraps=True)
        self.bar = make_bar()
        self.bar.setFixedWidth(BAR_WIDTH)
        column = QVBoxLayout(self)
        column.setSpacing(tokens().spacing.small)
        column.addStretch(2)
        for part in (self._icon, self.title, self._text):
            part.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(part)
        column.addWidget(self.bar, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)

    def show_texts(self, words: PlaceholderTexts) -> None:
        self.bar.setVisible(words.is_working)
        self.bar.setAccessibleName(words.title)
        colour = "accent" if words.is_good else "text_disabled"
        self._icon.setPixmap(
            icon_pixmap(words.icon, EMPTY_ICON, colour=colour, ratio=self.devicePixelRatioF())
        )
        self.title.setText(words.title)
        self._text.setText(words.text)
