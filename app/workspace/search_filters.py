"""Search filters as form fields; each choice is written into the query text."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QPoint, QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QFrame, QLineEdit, QPushButton, QWidget

from app.controls import (
    fill_column,
    make_button,
    make_choice_box,
    make_flowing_label,
    make_form,
    make_label,
    make_row,
)
from app.mirroring import placed
from app.texts import shortened, tr
from app.theme.tokens import tokens
from app.wording import number

if TYPE_CHECKING:
    from engine.collection.search.metadata import FilterChoices
    from engine.collection.search.query import Field

WIDTH = 340  # logical pixels
_LONGEST = 40  # characters of a folder or camera in the list
_MOST_STARS = 5  # as in the project


@dataclass(frozen=True)
class Filters:
    """The filters in a query.

    A field is empty where the query has no such term, or one that the form cannot show.
    """

    since: str = ""
    until: str = ""
    camera: str = ""
    folder: str = ""
    source: str = ""
    stars: int = 0  # minimum rating
    is_flagged: bool = False
    has_comment: bool = False


def filters_of(query: str) -> Filters:
    """Parse the filters in a query."""
    from engine.collection.search.query import Field, QueryError, parse_query

    try:
        terms = [term for term in parse_query(query, None) if not term.is_negated]
    except QueryError:
        return Filters()
    texts = {term.field: term.text for term in terms}
    since, dots, until = texts.get(Field.DATE, "").partition("..")
    stars = texts.get(Field.STARS, "").removeprefix(">=")
    return Filters(
        since,
        until if dots else since,
        texts.get(Field.CAMERA, ""),
        texts.get(Field.FOLDER, ""),
        texts.get(Field.SOURCE, ""),
        int(stars) if stars.isdigit() else 0,
        is_flagged=any(term.field is Field.FACT and term.text == "flagged" for term in terms),
        has_comment=any(term.field is Field.HAS and term.text == "comment" for term in terms),
    )


def date_term(since: str, until: str) -> str:
    """The query term of a date range, either end of which may be open."""
    since, until = since.strip(), until.strip()
    if not since and not until:
        return ""
    return f"date:{since}" if since == until else f"date:{since}..{until}"


@final
class FilterPopover(QFrame):
    """A popover below its button."""

    query_made = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Filters"))
        self.setFixedWidth(WIDTH)
        self._query = ""
        self._button: QPushButton | None = None
        self._since, self._until = self._make_date(), self._make_date()
        self._camera, self._folder, self._source = (
            self._make_box(name) for name in ("camera", "folder", "source")
        )
        self._stars = make_choice_box(
            {
                0: tr("Any"),
                **{stars: tr("{1} or more", "★" * stars) for stars in range(1, _MOST_STARS + 1)},
            }
        )
        self._stars.activated.connect(self._write_stars)
        self._flagged = QCheckBox(tr("Flagged"))
        self._flagged.toggled.connect(lambda is_on: self._write_word("flagged", is_on=is_on))
        self._comment = QCheckBox(tr("With a comment"))
        self._comment.toggled.connect(lambda is_on: self._write_word("has:comment", is_on=is_on))
        self._lay_out()

    def _lay_out(self) -> None:
        space = tokens().spacing
        form = make_form(
            {
                tr("Taken from"): self._since,
                tr("Taken until"): self._until,
                tr("Camera"): self._camera,
                tr("Folder"): self._folder,
                tr("Label source"): self._source,
                tr("Stars"): self._stars,
            }
        )
        fill_column(
            self,
            make_label(tr("Filters"), "strong"),
            form,
            make_row(self._flagged, self._comment, None, spacing=space.medium),
            make_flowing_label(tr("Dates as 2024, 2024-05 or 2024-05-31."), "caption"),
            make_row(None, make_button(tr("Clear all filters"), self._clear, variant="flat")),
            margins=space.medium,
        )

    def _make_date(self) -> QLineEdit:
        field = QLineEdit()
        field.setPlaceholderText(tr("any date"))
        field.editingFinished.connect(self._write_dates)
        return field

    def _make_box(self, name: str) -> QComboBox:
        box = make_choice_box({"": tr("Any")})
        box.activated.connect(lambda _place: self._write_value(name, box))
        return box

    def toggle_below(self, button: QPushButton) -> None:
        self._button = button
        button.setChecked(True)
        self.adjustSize()
        corner = QPoint(min(0, button.width() - WIDTH), button.height() + tokens().spacing.tiny)
        self.move(
            button.mapToGlobal(placed(QRect(corner, QSize(WIDTH, 0)), button.rect()).topLeft())
        )
        self.show()
        self._since.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        """Uncheck the button."""
        super().hideEvent(event)
        if self._button is not None:
            self._button.setChecked(False)

    def show_choices(self, choices: FilterChoices) -> None:
        """Fill the lists with the values in the project, the most frequent first."""
        for box, counts in (
            (self._camera, choices.cameras),
            (self._folder, choices.folders),
            (self._source, choices.sources),
        ):
            self._fill(box, counts)
        self.show_query(self._query)

    def _fill(self, box: QComboBox, counts: Mapping[str, int]) -> None:
        with QSignalBlocker(box):
            box.clear()
            box.addItem(tr("Any"), "")
            for value, count in counts.items():
                box.addItem(f"{shortened(value, _LONGEST)}  ({number(count)})", value)

    def show_query(self, query: str) -> None:
        """Show the filters in a query."""
        self._query = query
        found = filters_of(query)
        for field, text in ((self._since, found.since), (self._until, found.until)):
            if not field.hasFocus():
                field.setText(text)
        for box, value in (
            (self._camera, found.camera),
            (self._folder, found.folder),
            (self._source, found.source),
        ):
            self._choose(box, value)
        with QSignalBlocker(self._stars):
            self._stars.setCurrentIndex(max(0, self._stars.findData(found.stars)))
        for mark, is_on in ((self._flagged, found.is_flagged), (self._comment, found.has_comment)):
            with QSignalBlocker(mark):
                mark.setChecked(is_on)

    def _choose(self, box: QComboBox, value: str) -> None:
        with QSignalBlocker(box):
            if value and box.findData(value) < 0:
                box.addItem(shortened(value, _LONGEST), value)
            box.setCurrentIndex(max(0, box.findData(value)))

    def _write_dates(self) -> None:
        from engine.collection.search.query import Field

        found = filters_of(self._query)
        if (self._since.text().strip(), self._until.text().strip()) != (found.since, found.until):
            self._write(Field.DATE, date_term(self._since.text(), self._until.text()))

    def _write_value(self, name: str, box: QComboBox) -> None:
        from engine.collection.search.query import Field, quoted

        value = str(box.currentData() or "")
        self._write(Field(name), f"{name}:{quoted(value)}" if value else "")

    def _write_stars(self) -> None:
        from engine.collection.search.query import Field

        stars = int(self._stars.currentData() or 0)
        self._write(Field.STARS, f"stars:>={stars}" if stars else "")

    def _write_word(self, word: str, *, is_on: bool) -> None:
        """Add a fact to the query, or remove it; other facts stay."""
        from engine.collection.search.query import QueryError, without_term

        with suppress(QueryError):
            kept = without_term(self._query, word)
            self._make(f"{kept} {word}".strip() if is_on else kept)

    def _write(self, field: Field, term: str) -> None:
        from engine.collection.search.query import QueryError, with_term

        # An error in the rest of the query is shown below its field.
        with suppress(QueryError):
            self._make(with_term(self._query, field, term))

    def _make(self, query: str) -> None:
        self._query = query
        self.query_made.emit(query)

    def _clear(self) -> None:
        from engine.collection.search.query import Field, QueryError, with_term, without_term

        with suppress(QueryError):
            query = self._query
            for field in (Field.DATE, Field.CAMERA, Field.FOLDER, Field.SOURCE, Field.STARS):
                query = with_term(query, field, "")
            for word in ("flagged", "has:comment"):
                query = without_term(query, word)
            self._since.clear()
            self._until.clear()
            self._make(query)
            self.show_query(query)
