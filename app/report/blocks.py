"""Blocks of a report section as widgets: facts, texts, charts, tables and the confusion matrix."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.controls import make_button, make_flowing_label, make_label, make_scroll_area
from app.report.matrix import MatrixView
from app.report.surface import ChartView
from app.report.table import ReportTableView
from app.texts import tr
from app.theme.tokens import tokens
from engine.arrays import Integers
from engine.report.document import (
    Block,
    Facts,
    FigureTable,
    Matrix,
    ReportChart,
    ReportSection,
    ReportText,
)
from engine.report.words import printable

WIDEST = 940  # logical pixels, for readable line lengths
FACTS_ACROSS = 5  # facts in a row


OnImages = Callable[[Integers, str], None]
OnClass = Callable[[int], None]


def section_view(section: ReportSection, on_images: OnImages, on_class: OnClass) -> QScrollArea:
    """A scrollable section.

    Args:
        on_images: called with ids and title of the images of a cell.
        on_class: called with the id of a class.
    """
    area, body = make_scroll_area(), QWidget()
    body.setProperty("surface", "window")
    body.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    column = QVBoxLayout(body)
    spacing = tokens().spacing
    column.setContentsMargins(spacing.large, spacing.medium, spacing.large, spacing.large)
    column.setSpacing(spacing.small)
    titled = ""
    for block in section.blocks:
        title = getattr(block, "title", "")
        if title and title != titled:
            column.addSpacing(spacing.medium if titled or column.count() else 0)
            column.addWidget(make_label(printable(title), "section"))
        titled = title or titled
        for part in _parts(block, on_images, on_class):
            part.setMaximumWidth(WIDEST)
            if isinstance(part, QPushButton):
                column.addWidget(part, 0, Qt.AlignmentFlag.AlignLeft)
            else:
                column.addWidget(part)
    column.addStretch(1)
    area.setWidget(body)
    return area


def _parts(block: Block, on_images: OnImages, on_class: OnClass) -> list[QWidget]:
    match block:
        case Facts():
            return [_facts(block)]
        case ReportText():
            return [
                make_flowing_label(
                    printable(block.text), "warning" if block.is_warning else "secondary"
                )
            ]
        case ReportChart():
            return [ChartView(block), *_note(block.note)]
        case Matrix():
            return [_matrix(block, on_images), *_note(f"{block.summary} {block.note}")]
        case FigureTable():
            return _table(block, on_class)


def _note(text: str) -> list[QWidget]:
    return [make_flowing_label(printable(text), "caption")] if text else []


def _facts(facts: Facts) -> QWidget:
    frame = QFrame()
    frame.setProperty("role", "card")
    grid = QGridLayout(frame)
    spacing = tokens().spacing
    grid.setContentsMargins(spacing.medium, spacing.small, spacing.medium, spacing.small)
    grid.setHorizontalSpacing(spacing.medium)
    grid.setVerticalSpacing(0)
    for place, fact in enumerate(facts.facts):
        row, column = 3 * (place // FACTS_ACROSS), place % FACTS_ACROSS
        grid.addWidget(
            make_label(printable(fact.title), "caption", wraps=True),
            row,
            column,
            Qt.AlignmentFlag.AlignTop,
        )
        grid.addWidget(make_label(fact.value, "title"), row + 1, column)
        grid.addWidget(
            make_label(fact.note, "caption", wraps=True), row + 2, column, Qt.AlignmentFlag.AlignTop
        )
        grid.setColumnStretch(column, 1)
    return frame


def _matrix(block: Matrix, on_images: OnImages) -> QWidget:
    matrix = MatrixView(block.confusion)
    matrix.cell_reached.connect(lambda cell: _show_cell(matrix, cell))
    matrix.images_requested.connect(on_images)
    return matrix


def _show_cell(matrix: MatrixView, cell: QRect) -> None:
    """Scroll the page until a cell is visible."""
    widget: QWidget | None = matrix
    while widget is not None and not isinstance(widget, QScrollArea):
        widget = widget.parentWidget()
    body = None if widget is None else widget.widget()
    if widget is not None and body is not None:
        place = matrix.viewport().mapTo(body, cell.center())
        widget.ensureVisible(place.x(), place.y(), 0, cell.height())


def _table(table: FigureTable, on_class: OnClass) -> list[QWidget]:
    view = ReportTableView(table)
    view.class_requested.connect(on_class)
    if not table.is_in_chart:
        return [view, *_note(table.note)]
    view.hide()
    return [_unfolding(view), view, *_note(table.note)]


def _unfolding(view: ReportTableView) -> QPushButton:
    """A button that shows or hides a table whose values are also in a chart."""

    def toggle() -> None:
        is_shown = view.isHidden()
        view.setVisible(is_shown)
        button.setText(tr("Hide the table") if is_shown else tr("Show as a table"))

    button = make_button(tr("Show as a table"), toggle, variant="muted")
    return button
