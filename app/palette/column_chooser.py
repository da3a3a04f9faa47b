"""Preview of a table on an import card, with a choice of each column's role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QHeaderView, QWidget

from app.controls import ChoiceBox, fill_column, make_flowing_label
from app.tables import fill_table, make_preview_table
from app.texts import marked, tr
from app.theme.tokens import tokens
from app.wording import number
from engine.files import shown
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.read_table import LANGUAGE, RANK
from engine.interchange.tables.roles import LEVELS, Role

if TYPE_CHECKING:
    from engine.interchange.tables.read_table import ColumnPreview

COLUMN_WIDTH = 220  # logical pixels
FEW_COLUMNS = 4  # chosen: so many fit the card side by side
MOST_COLUMNS = 60  # further columns keep their detected roles
OFFERED_LEVELS = 6  # chosen: levels of classes in hand-made tables


_ROLES = {
    TablePurpose.LABELS: (
        Role.FILE,
        Role.FOLDER,
        Role.CLASS,
        Role.PATH,
        Role.SOURCE_ID,
        Role.ANNOTATOR,
        Role.SCORE,
    ),
    TablePurpose.CLASSES: (
        Role.CLASS,
        Role.PARENT_NAME,
        Role.ID,
        Role.PARENT_ID,
        Role.PATH,
        Role.RANK,
        Role.SYNONYM,
        Role.VERNACULAR,
        Role.TAXONOMIC_STATUS,
        Role.ACCEPTED_NAME,
        Role.ACCEPTED_ID,
        Role.REMARKS,
    ),
}
"""Roles that the user can choose for a column, by purpose of the table."""


_RANKS = {
    "kingdom": marked("kingdom"),
    "phylum": marked("phylum"),
    "class": marked("class", about="rank"),
    "order": marked("order", about="rank"),
    "family": marked("family"),
    "subfamily": marked("subfamily"),
    "tribe": marked("tribe"),
    "genus": marked("genus"),
    "species": marked("species"),
    "subspecies": marked("subspecies"),
}
"""Common ranks; others are shown by their English names."""


def role_titles(purpose: TablePurpose) -> dict[str, str]:
    """Roles and ranks that a column may have, with their titles."""
    titles = {role.value: tr(role.about) for role in _ROLES[purpose]}
    roles = {role: title[:1].upper() + title[1:] for role, title in titles.items()}
    levels = LEVELS[:OFFERED_LEVELS] if purpose is TablePurpose.CLASSES else ()
    ranks = [rank for rank in _RANKS if rank not in set(Role)]
    return roles | {each: rank_title(each) for each in (*levels, *ranks)}


def rank_title(rank: str) -> str:
    """`Rank: family`, `Level 2`."""
    if rank in LEVELS:
        return tr("Level {1}", number(LEVELS.index(rank) + 1))
    return tr("Rank: {1}", tr(_RANKS[rank]) if rank in _RANKS else rank)


def question_text(purpose: TablePurpose) -> str:
    """The question where the roles of the columns cannot be detected."""
    if purpose is TablePurpose.LABELS:
        return tr("Choose the content of each column: at least the image and the class.")
    return tr("Choose the content of each column: at least the name of the class, or its levels.")


@final
class ColumnChooser(QWidget):
    """Shows the detected role of each column, and lets the user choose another one.

    Args:
        purpose: what the table is read for; None where no source is a table.
    """

    # Choices so far: column by role or rank, "" for a role that no column has.
    chosen = Signal(dict)

    def __init__(self, purpose: TablePurpose | None) -> None:
        super().__init__()
        self._roles = {} if purpose is None else role_titles(purpose)
        self._question = "" if purpose is None else question_text(purpose)
        self._preview: ColumnPreview | None = None
        # Choices: column by role, "" for a role that no column has.
        self.given: Mapping[str, str] = {}
        self.boxes: list[QComboBox] = []  # by column
        self.table = make_preview_table(tr("Columns of the table"))
        self.table.setTabKeyNavigation(True)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.table.horizontalHeader().setDefaultSectionSize(COLUMN_WIDTH)
        self.words = make_flowing_label("", "secondary")
        fill_column(self, self.words, self.table, spacing=tokens().spacing.small)

    def show_preview(self, preview: ColumnPreview, given: Mapping[str, str]) -> None:
        """Show the first rows of a table; combo boxes are kept while the columns are the same.

        Args:
            given: choices so far, or of the last table with these columns.
        """
        self.given = given
        is_other = self._preview is None or self._preview.columns != preview.columns
        self._preview = preview
        self.words.setText(tr("Content of each column:") if preview.is_clear else self._question)
        if is_other:
            self._make_columns(preview)
        for box, meaning in zip(self.boxes, preview.meanings, strict=False):
            _select(box, self._meaning_of(box, meaning))

    def _meaning_of(self, box: QComboBox, meaning: str) -> str:
        """The detected role, or the user's choice where the table is not clear yet."""
        column = self._column_of(box)
        return meaning or next((role for role, name in self.given.items() if name == column), "")

    def _column_of(self, box: QComboBox) -> str:
        assert self._preview is not None, "a box belongs to a table"
        return self._preview.columns[self.boxes.index(box)]

    def _make_columns(self, preview: ColumnPreview) -> None:
        shown_columns = preview.columns[:MOST_COLUMNS]
        table, row_height = self.table, tokens().spacing.control_height
        table.clear()
        table.setColumnCount(len(shown_columns))
        fills = len(shown_columns) <= FEW_COLUMNS
        mode = QHeaderView.ResizeMode.Stretch if fills else QHeaderView.ResizeMode.Fixed
        table.horizontalHeader().setSectionResizeMode(mode)
        table.setHorizontalHeaderLabels([shown(name) for name in shown_columns])
        self.boxes = [self._make_box(at) for at in range(1, len(shown_columns) + 1)]
        cells = [[shown(cell) for cell in row[: len(shown_columns)]] for row in preview.rows]
        fill_table(table, cells, first=1)
        table.setRowHeight(0, row_height + tokens().spacing.tiny)
        for column, box in enumerate(self.boxes):
            table.setCellWidget(0, column, box)
        rows = sum(table.rowHeight(row) for row in range(table.rowCount()))
        bar = 0 if fills else table.horizontalScrollBar().sizeHint().height()
        table.setFixedHeight(table.horizontalHeader().sizeHint().height() + rows + bar + 2)

    def _make_box(self, column: int) -> QComboBox:
        box = ChoiceBox()
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setAccessibleName(tr("Content of column {1}", number(column)))
        box.addItem(tr("Not used", about="column"), "")
        for role, title in self._roles.items():
            box.addItem(title, role)
        box.activated.connect(lambda _row: self._on_chosen(box))
        return box

    def _on_chosen(self, box: QComboBox) -> None:
        preview, role, column = self._preview, str(box.currentData()), self._column_of(box)
        if preview is None:
            return
        before = preview.meanings[self.boxes.index(box)].removeprefix(RANK)
        given = {each: name for each, name in self.given.items() if name != column}
        if before and before != role:
            given.setdefault(before, "")
        if role:
            given[role] = column
        self.given = given
        self.chosen.emit(given)


def _select(box: QComboBox, meaning: str) -> None:
    """Select an entry; a detected meaning that is not offered is added for this column."""
    word = meaning.removeprefix(RANK)
    if box.findData(word) < 0:
        is_rank = meaning.startswith(RANK)
        box.addItem(rank_title(word) if is_rank else meaning.removeprefix(LANGUAGE), word)
    box.setCurrentIndex(box.findData(word))
