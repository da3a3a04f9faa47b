"""The formats below one another, under headings: a radio button each; what it is for stands beside the list."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QWidget

from app.controls import fill_column, make_label, make_scroll_area
from app.exporting.wording import description, group_title
from app.texts import plain_tip, tr
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from engine.interchange.labelled_images.formats import ImageFormat


@final
class FormatList(QWidget):
    """One format is chosen; the arrow keys go through them, and what is chosen is in sight.

    Signals:
        chosen: name of the format.

    Attributes:
        buttons: by the format's name.
    """

    chosen = Signal(str)

    def __init__(self, offered: Mapping[str, ImageFormat]) -> None:
        super().__init__()
        self.buttons: dict[str, QRadioButton] = {}
        self._group = QButtonGroup(self)
        self._area = make_scroll_area()
        spacing = tokens().spacing
        body = QWidget()
        body.setProperty("surface", "raised")
        column = fill_column(body, spacing=spacing.small)
        column.setContentsMargins(spacing.large, 0, spacing.small, spacing.small)
        for group, members in groupby(offered.items(), key=lambda item: item[1].group):
            if self.buttons:
                column.addSpacing(spacing.medium)
            column.addWidget(make_label(group_title(group), "section"))
            for name, one in members:
                column.addWidget(self._button_for(name, one))
        column.addStretch(1)
        self._area.setWidget(body)
        fill_column(self, self._area)

    @property
    def name(self) -> str:
        return next(name for name, button in self.buttons.items() if button.isChecked())

    def choose(self, name: str) -> None:
        self.buttons[name].setChecked(True)

    def _button_for(self, name: str, one: ImageFormat) -> QRadioButton:
        button = QRadioButton(tr(one.title))
        button.setAccessibleDescription(description(one))
        button.setToolTip(plain_tip(description(one)))
        button.toggled.connect(lambda is_on: self._on_toggled(name) if is_on else None)
        self._group.addButton(button)
        self.buttons[name] = button
        return button

    def _on_toggled(self, name: str) -> None:
        self._area.ensureWidgetVisible(self.buttons[name])
        self.chosen.emit(name)
