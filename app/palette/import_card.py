"""Base of the import cards: choose a file or folder, preview the import, import."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QApplication, QCheckBox, QHeaderView, QTableWidget, QWidget

from app.controls import fill_column, make_button, make_flowing_label, make_row, show_text
from app.palette.column_chooser import ColumnChooser
from app.palette.overlay import ScrollingCard
from app.side_panel.cards import FailureNotice, ProgressView
from app.tables import fill_table, make_preview_table
from app.texts import breakable, plain_button, plural, tr
from app.theme.tokens import tokens
from engine.files import shown

if TYPE_CHECKING:
    from engine.interchange.tables.dialects import TablePurpose
    from engine.interchange.tables.read_table import ColumnPreview

ROWS_IN_SIGHT = 5  # visible rows; the rest scrolls
WIDEST_LAST = 160  # maximum width of the last column, in logical pixels
MOST_ROWS = 500  # more would take long to build


def more_text(count: int) -> str:
    return plural(count, "and 1 more", "and {n} more")


@final
class PlanSection(QWidget):
    """A section of an import preview with a table; hidden while empty.

    `box` is hidden where there is nothing to choose.
    """

    def __init__(
        self, name: str, columns: Sequence[str], *, widest_last: int = WIDEST_LAST
    ) -> None:
        super().__init__()
        self.box = QCheckBox()
        self.table = self._make_table(name, columns, widest_last)
        self._title = make_flowing_label("", "strong")
        self._note = make_flowing_label("", "secondary")
        self._more = make_flowing_label("", "caption")
        parts = (self._title, self.box, self._note, self.table, self._more)
        fill_column(self, *parts, spacing=tokens().spacing.tiny)

    def _make_table(self, name: str, columns: Sequence[str], widest_last: int) -> QTableWidget:
        table = make_preview_table(name)
        table.setColumnCount(len(columns))
        table.setHorizontalHeaderLabels(columns)
        table.setTextElideMode(Qt.TextElideMode.ElideLeft)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        if len(columns) > 1:
            header.setMaximumSectionSize(widest_last)
            header.setSectionResizeMode(len(columns) - 1, QHeaderView.ResizeMode.ResizeToContents)
        return table

    @property
    def title(self) -> str:
        return "" if self.isHidden() else self._title.text()

    @property
    def rows(self) -> list[tuple[str, ...]]:
        columns = range(self.table.columnCount())
        return [
            tuple(self._cell(row, column) for column in columns)
            for row in range(self.table.rowCount())
        ]

    def show_rows(
        self,
        title: str,
        items: Collection[Any],
        row_of: Callable[[Any], Sequence[str]] = tuple,
        *,
        total: int | None = None,
        choice: str = "",
        note: str = "",
    ) -> None:
        """Show a row for each of the first items; hide the section where there are none.

        Args:
            title: description of the items.
            row_of: returns the cells of an item.
            total: number of all items, of which `items` may be the first.
            choice: text of the check box; "" for none.
            note: a secondary line; "" for none.
        """
        rows = [row_of(each) for each in islice(items, MOST_ROWS)]
        more = (len(items) if total is None else total) - len(rows)
        self.setVisible(bool(rows))
        self._title.setText(title)
        self.box.setText(plain_button(choice))
        self.box.setChecked(False)
        self.box.setVisible(bool(choice))
        show_text(self._note, note)
        show_text(self._more, more_text(more) if more > 0 else "")
        fill_table(self.table, rows)
        in_sight = min(len(rows), ROWS_IN_SIGHT)
        height = self.table.horizontalHeader().sizeHint().height()
        self.table.setFixedHeight(
            height + in_sight * self.table.verticalHeader().defaultSectionSize() + 2
        )

    def _cell(self, row: int, column: int) -> str:
        item = self.table.item(row, column)
        return "" if item is None else item.text()


WIDTH = 720


class Surveyed(Protocol):
    """Result of reading a source."""

    @property
    def source(self) -> Path: ...


@dataclass(frozen=True)
class ReadSource:
    """A source that was read, with its preview.

    Attributes:
        columns: its columns, where it is a table.
        survey: preview of the import; None for a table whose columns are not clear.
        given: column by role, as chosen by the user.
    """

    source: Path
    columns: ColumnPreview | None
    given: Mapping[str, str]
    survey: object = None


Survey = TypeVar("Survey", bound=Surveyed)


class ImportCard(ScrollingCard, Generic[Survey]):
    """A floating card; Enter imports, Esc or a click outside cancels.

    A subclass calls `_fill` with its sections once they are made.
    """

    file_requested = Signal()
    folder_requested = Signal()
    columns_chosen = Signal(Path, dict)  # the source, and column by role as chosen
    import_requested = Signal(dict)  # options of the import, by name

    def __init__(
        self,
        host: QWidget,
        title: str,
        words: str,
        hint: str = "",
        *,
        purpose: TablePurpose | None = None,
    ) -> None:
        super().__init__(host, WIDTH, title)
        self._source: Path | None = None  # whose columns are shown
        # Header and chosen roles.
        self.named_columns: tuple[str, Mapping[str, str]] | None = None
        self.columns = ColumnChooser(purpose)
        self.columns.chosen.connect(self._on_columns_chosen)
        self.columns_button = make_button(tr("Columns…"), self._toggle_columns, variant="flat")
        self.survey: Survey | None = None  # the displayed preview
        self.file_button = make_button(
            tr("Choose a file…"), self.file_requested.emit, icon_name="file"
        )
        self.folder_button = make_button(
            tr("Choose a folder…"), self.folder_requested.emit, icon_name="folder"
        )
        self.failure = FailureNotice()
        self.progress = ProgressView(tr("Stop; nothing is imported"))
        self.import_button = make_button(tr("Import"), self._on_import, variant="primary")
        self.keep_button = make_button(tr("Cancel"), self.dismiss)
        self._name = make_flowing_label("", "strong")
        self.kind = make_flowing_label("", "secondary")
        self._summary = make_flowing_label("", "heading")
        self._start, self._plan = QWidget(), QWidget()
        buttons = make_row(self.file_button, self.folder_button, None)
        hints = (make_flowing_label(hint, "secondary"),) if hint else ()
        fill_column(self._start, make_flowing_label(words), buttons, *hints)
        self.primary = self.import_button
        self.closed.connect(self._forget)

    def _fill(self, *parts: QWidget) -> None:
        """Lay out the sections of the preview below its summary."""
        fill_column(self._plan, self._summary, *parts, spacing=tokens().spacing.medium)
        columns = make_row(self.columns_button, None), self.columns
        head = (self._start, self._name, self.kind, self.failure, self.progress)
        self.fill_body(*head, *columns, self._plan, None)
        self._buttons = self.add_footer(None, self.keep_button, self.import_button)

    @property
    def summary(self) -> str:
        return "" if self._plan.isHidden() else self._summary.text()

    def show_start(self, failure: str = "") -> None:
        """Show the choice of a file or folder, and the failure of the last one."""
        self.survey = None
        self._show_parts(start=True)
        self.failure.show_text(failure)
        self._appear()
        self.file_button.setFocus()

    def show_reading(self, name: str) -> None:
        self.survey, self._source, self.named_columns = None, None, None
        self._name.setText(breakable(shown(name)))
        self._show_parts(name=True, progress=True)
        self.failure.show_text("")
        self.progress.show_step(tr("Reading {1}…", shown(name)))
        self._appear()
        self.progress.cancel_button.setFocus()

    def show_read(self, read: ReadSource) -> None:
        """Show the preview, or ask for the columns of a table that is not clear."""
        self._name.setText(breakable(shown(read.source.name)))
        if read.survey is None:
            self.survey = None
            self._show_parts(name=True)
            self._buttons.show()
            self.import_button.setText(tr("Import"))
            self.import_button.setEnabled(False)
        else:
            self.survey = cast("Survey", read.survey)
            self._show_found(self.survey)
            self._show_parts(name=True, plan=True)
        self.failure.show_text("")
        self._show_columns(read)
        self._show_choice()
        # Keep the focus in the table: the user chooses column by column.
        if self.columns.isAncestorOf(QApplication.focusWidget() or self):
            self._settle()
            return
        self._appear()
        first = self.import_button if self.import_button.isEnabled() else self.keep_button
        (first if read.survey is not None else self.columns.boxes[0]).setFocus()

    def _show_columns(self, read: ReadSource) -> None:
        columns, is_open = read.columns, read.source == self._source and not self.columns.isHidden()
        self._source = read.source
        self.named_columns = (
            (columns.header, read.given) if columns is not None and read.given else None
        )
        self.columns_button.setVisible(columns is not None and columns.is_clear)
        self.columns.setVisible(columns is not None and (is_open or not columns.is_clear))
        if columns is not None:
            self.columns.show_preview(columns, read.given)

    def _toggle_columns(self) -> None:
        self.columns.setVisible(self.columns.isHidden())
        self._settle()

    def _on_columns_chosen(self, given: dict[str, str]) -> None:
        if self._source is not None:
            self.import_button.setEnabled(False)
            self.columns_chosen.emit(self._source, given)

    @abstractmethod
    def _show_found(self, survey: Survey) -> None:
        """Show what does not depend on a choice."""

    @abstractmethod
    def _show_choice(self) -> None:
        """Show the effect of the current choice."""

    def _show_parts(
        self, *, start: bool = False, name: bool = False, progress: bool = False, plan: bool = False
    ) -> None:
        self._start.setVisible(start)
        self._name.setVisible(name)
        self.kind.setVisible(plan)
        self.progress.setVisible(progress)
        self._plan.setVisible(plan)
        self._buttons.setVisible(plan)
        if start or progress:
            self.columns_button.hide()
            self.columns.hide()

    def _appear(self) -> None:
        self.show_over()
        self.scroll_area.verticalScrollBar().setValue(0)
        self._settle()

    def _forget(self) -> None:
        self.survey = None

    def _on_import(self) -> None:
        if self.survey is not None:
            self.import_requested.emit(self._options())

    @abstractmethod
    def _options(self) -> dict[str, Any]:
        """Options of the import, by name."""
