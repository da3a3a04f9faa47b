"""View of the merge summary: settled conflicts, agreement, table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QApplication, QWidget

from app.controls import fill_column, fill_row, make_button, make_flowing_label, make_scroll_area
from app.merging import wording
from app.palette.import_card import PlanSection
from app.texts import tr
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from engine.graph.category_graph import CategoryGraph
    from engine.merging.agreement import AgreementTable

WIDEST = 720  # in pixels


@final
class SummaryView(QWidget):
    """Result of settling conflicts."""

    again_requested = Signal()  # return to deferred conflicts
    save_requested = Signal()
    done_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        spacing = tokens().spacing
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.title = make_flowing_label("", "title")
        self.agreement = PlanSection(
            tr("Agreement"),
            (tr("Compared"), tr("Images"), tr("Equal"), tr("Kappa"), tr("95% interval")),
        )
        self.differing = PlanSection(
            tr("Differing classes"), (tr("Yours"), tr("Theirs"), tr("Images"))
        )
        self._words = make_flowing_label("", "secondary")
        self.again_button = make_button(
            tr("Show the rest"), self.again_requested.emit, icon_name="history"
        )
        self.copy_button = make_button(tr("Copy table"), self._copy, icon_name="copy")
        self.save_button = make_button(
            tr("Save as CSV…"), self.save_requested.emit, icon_name="export"
        )
        self.done_button = make_button(tr("Done"), self.done_requested.emit, variant="primary")
        buttons = QWidget()
        fill_row(
            buttons, self.done_button, self.again_button, self.copy_button, self.save_button
        ).addStretch(1)
        body, area = QWidget(), make_scroll_area()
        body.setMaximumWidth(WIDEST)
        column = fill_column(
            body,
            self.title,
            self._words,
            self.agreement,
            self.differing,
            buttons,
            spacing=spacing.medium,
        )
        column.setContentsMargins(spacing.large, spacing.medium, spacing.large, spacing.large)
        column.addStretch(1)
        area.setWidget(body)
        fill_column(self, area, spacing=0)

    def show_end(
        self, settled: int, left: int, table: AgreementTable, graph: CategoryGraph
    ) -> None:
        """Show the number of settled and open conflicts, and the agreement before settling."""
        self.title.setText(wording.ended_text(settled, left))
        self._words.setText(wording.kappa_text(table.exact))
        title = wording.agreement_title(table.exact)
        self.agreement.show_rows(title, wording.agreement_rows(table))
        self.differing.show_rows(tr("Most often confused"), wording.differing_rows(table, graph))
        self.again_button.setVisible(left > 0)
        for button in (self.copy_button, self.save_button):
            button.setVisible(bool(table.exact.images))

    @property
    def table_text(self) -> str:
        """Both tables with tab-separated columns, as spreadsheets paste them."""
        return "\n".join(
            "\t".join(row) for row in (*_table(self.agreement), *_table(self.differing))
        )

    def _copy(self) -> None:
        QApplication.clipboard().setText(self.table_text)


def _table(section: PlanSection) -> Sequence[tuple[str, ...]]:
    header = tuple(
        str(section.table.model().headerData(column, Qt.Orientation.Horizontal))
        for column in range(section.table.columnCount())
    )
    return (header, *section.rows) if section.rows else ()
