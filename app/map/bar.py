"""Tool bars of the map: colouring and tools above it, actions for the selected images below."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from app.controls import (
    fill_column,
    make_button,
    make_choice_box,
    make_icon_button,
    make_label,
    make_separator,
)
from app.map.canvas import MapCanvas, Tool
from app.map.colouring import ColourBy
from app.map.keys import KEYS
from app.map.wording import colour_by_texts, level_text
from app.texts import plural, tr
from app.theme.tokens import tokens
from app.wording import images

SHORT_BY = 92  # least width of the "Colour by" box, in pixels
SHORT_LEVEL = 116  # least width of the level box, in pixels


@final
class ViewBar(QWidget):
    """`Colour by [Class] [Top level] · names, prototypes, edges · move, lasso, rectangle · fit`."""

    colouring_chosen = Signal()
    again_wanted = Signal()

    def __init__(self, canvas: MapCanvas) -> None:
        super().__init__()
        self._canvas = canvas
        self._caption = make_label(tr("Colour by"), "secondary")
        self.by = make_choice_box(colour_by_texts(), follows_choice=True)
        self.by.setAccessibleName(tr("Colour by"))
        self.level = make_choice_box({None: level_text(None)}, follows_choice=True)
        self.level.setAccessibleName(tr("Level of the classes"))
        self.by.currentIndexChanged.connect(self._on_by_changed)
        self.level.currentIndexChanged.connect(lambda _index: self.colouring_chosen.emit())
        for box in (self.by, self.level):
            box.currentIndexChanged.connect(lambda _index: self._arrange())
        self.names = _switch("label", tr("Names of classes"))
        self.prototypes = _switch("target", tr("Prototypes"))
        self.edges = _switch("graph", tr("Edges between prototypes"))
        for switch in (self.names, self.prototypes, self.edges):
            switch.setChecked(True)
            switch.toggled.connect(self._show_options)
        self.tools = {
            Tool.MOVE: _switch("move", tr("Move (drag); Shift and drag selects")),
            Tool.LASSO: _switch("lasso", KEYS.tip(tr("Select with a lasso"), "lasso")),
            Tool.RECTANGLE: _switch("rectangle", tr("Select with a rectangle")),
        }
        group = QButtonGroup(self)
        for tool, button in self.tools.items():
            group.addButton(button)
            button.clicked.connect(lambda _is_on=False, tool=tool: canvas.use(tool))
        self.tools[Tool.MOVE].setChecked(True)
        canvas.tool_changed.connect(lambda name: self.tools[Tool(name)].setChecked(True))
        fit = make_icon_button("fit", KEYS.tip(tr("Show all"), "fit"), canvas.fit)
        self.again = make_icon_button("refresh", tr("Update the map"), self.again_wanted.emit)
        self._lay_out(fit)

    def _lay_out(self, fit: QToolButton) -> None:
        spacing = tokens().spacing
        row = QHBoxLayout(self)
        row.setContentsMargins(spacing.medium, spacing.small, spacing.medium, spacing.small)
        row.setSpacing(spacing.small)
        row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)
        row.addWidget(self._caption)
        self.by.setMinimumWidth(SHORT_BY)
        self.level.setMinimumWidth(SHORT_LEVEL)
        row.addWidget(self.by)
        row.addWidget(self.level)
        row.addStretch(1)
        for part in (
            self.names,
            self.prototypes,
            self.edges,
            make_separator(vertical=True),
            *self.tools.values(),
        ):
            row.addWidget(part)
        row.addWidget(make_separator(vertical=True))
        row.addWidget(fit)
        row.addWidget(self.again)

    def minimumSizeHint(self) -> QSize:
        """The minimum size without the caption, which is hidden first."""
        hint = super().minimumSizeHint()
        caption = 0 if self._caption.isHidden() else self._caption.sizeHint().width()
        return QSize(hint.width() - caption, hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the caption when the bar gets narrow."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Show the caption and wider spacing only if the boxes stay readable."""
        layout, spacing = self.layout(), tokens().spacing
        assert layout is not None
        self._caption.show()
        layout.setSpacing(spacing.small)
        layout.invalidate()
        if layout.sizeHint().width() > self.width():
            self._caption.hide()
            layout.setSpacing(spacing.tiny)

    @property
    def colours_by(self) -> ColourBy:
        return ColourBy(self.by.currentData())

    def choose_by(self, by: ColourBy) -> None:
        self.by.setCurrentIndex(self.by.findData(by))

    @property
    def chosen_level(self) -> int | None:
        data = self.level.currentData()
        return None if data is None else int(data)

    def show_levels(self, count: int, *, first: int | None) -> None:
        """List the levels of the graph; the selection is kept if it still exists."""
        offered: list[int | None] = [*range(max(count - 1, 0)), None]
        if [self.level.itemData(place) for place in range(self.level.count())] == offered:
            return
        kept = self.chosen_level if self.level.count() > 1 else first
        self.level.blockSignals(True)
        self.level.clear()
        for each in offered:
            self.level.addItem(level_text(each), each)
        self.level.setCurrentIndex(offered.index(kept) if kept in offered else len(offered) - 1)
        self.level.blockSignals(False)
        self.level.updateGeometry()
        self._show_whether_level_counts()
        self._arrange()

    def _show_options(self) -> None:
        prototypes = self.prototypes.isChecked()
        self.edges.setEnabled(prototypes)
        self._canvas.show_options(
            names=self.names.isChecked(), prototypes=prototypes, edges=self.edges.isChecked()
        )

    def _on_by_changed(self, _index: int) -> None:
        self._show_whether_level_counts()
        self.colouring_chosen.emit()

    def _show_whether_level_counts(self) -> None:
        self.level.setVisible(
            self.colours_by in (ColourBy.CLASS, ColourBy.LABEL) and self.level.count() > 1
        )


@final
class ChosenBar(QWidget):
    """`214 images · Label as… · Accept 170 · Show in grid · ✕`, while images are selected."""

    label_wanted = Signal()
    accept_wanted = Signal()
    grid_wanted = Signal()
    clear_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Selected images"))
        self.setProperty("surface", "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.count = make_label("", "strong")
        self.errors = make_label("", "secondary")
        self.label = make_button(
            KEYS.tip(tr("Label as…"), "label"), self.label_wanted.emit, variant="primary"
        )
        self.accept = make_button("", self.accept_wanted.emit)
        self.grid = make_button(
            KEYS.tip(tr("Show in grid"), "show_in_grid"), self.grid_wanted.emit, variant="flat"
        )
        self.clear = make_icon_button(
            "close", tr("Clear the selection (Esc)"), self.clear_wanted.emit
        )
        for part in (self.label, self.accept, self.grid, self.clear):
            part.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus to the map
        spacing = tokens().spacing
        row = QHBoxLayout()
        row.setContentsMargins(spacing.medium, spacing.small, spacing.small, spacing.small)
        row.setSpacing(spacing.small)
        shown: tuple[QWidget, ...] = (self.count, self.label, self.accept, self.errors)
        for each in shown:
            row.addWidget(each)
        row.addStretch(1)
        row.addWidget(self.grid)
        row.addWidget(self.clear)
        column = QVBoxLayout()
        column.addLayout(row)
        fill_column(self, make_separator(), spacing=0).addLayout(column)
        self.hide()

    def show_chosen(self, count: int, *, acceptable: int, errors: str, is_writable: bool) -> None:
        """Show the actions for the selected images; hidden without any."""
        self.count.setText(images(count))
        self.accept.setText(plural(acceptable, "Accept 1 prediction", "Accept {n} predictions"))
        self.accept.setVisible(acceptable > 0)
        self.accept.setEnabled(is_writable)
        self.label.setEnabled(is_writable)
        self.errors.setText(errors)
        self.errors.setVisible(acceptable > 0)
        self.setVisible(count > 0)


def _switch(icon_name: str, tip: str) -> QToolButton:
    button = make_icon_button(icon_name, tip)
    button.setCheckable(True)
    return button
