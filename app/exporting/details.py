"""Options of a format: images, placing of files, and a preview."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QCheckBox,
    QLabel,
    QPlainTextEdit,
    QRadioButton,
    QTableWidget,
    QVBoxLayout,
    QWidget,
)

from app.controls import (
    fill_column,
    make_flowing_label,
    make_hint,
    make_label,
    make_scroll_area,
    show_text,
)
from app.exporting.wording import (
    GROUPS,
    description,
    lacks_space,
    losses,
    photos_hint,
    photos_text,
    placing_hint,
    placing_text,
    preview_caption,
    which_hint,
    which_text,
)
from app.tables import fill_table, make_preview_table
from app.texts import plain_tip, tr
from app.theme.tokens import tokens
from app.wording import images
from engine.exporting.export import Which
from engine.exporting.preview import ExportPreview
from engine.interchange.labelled_images.class_folders import FolderOptions
from engine.interchange.labelled_images.formats import FormatGroup
from engine.new_folder import Placing

if TYPE_CHECKING:
    from app.exporting.logic import ExportLook
    from engine.interchange.labelled_images.formats import ImageFormat


WIDEST_COLUMN = 240
"""In logical pixels; longer cells are elided."""
LINES_SHOWN = 11
"""Visible lines of a text."""
ROWS_IN_SIGHT = 6
"""Visible rows of a table."""


@final
class PreviewView(QWidget):
    """Read-only preview as a table or text; selectable, scrolls by keyboard."""

    def __init__(self) -> None:
        super().__init__()
        self.caption = make_label("", "caption", wraps=True)
        self.table = self._make_table()
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setAccessibleName(tr("Preview"))
        self.text.setTabChangesFocus(True)
        self.text.setProperty("role", "preview")
        self.text.setFixedHeight(
            LINES_SHOWN * self.text.fontMetrics().lineSpacing() + tokens().spacing.large
        )
        fill_column(self, self.caption, self.table, self.text, spacing=tokens().spacing.tiny)
        self.show_preview(ExportPreview(), "")

    def _make_table(self) -> QTableWidget:
        table = make_preview_table(tr("Preview"))
        table.setShowGrid(True)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        table.horizontalHeader().setMaximumSectionSize(WIDEST_COLUMN)
        row = table.verticalHeader().defaultSectionSize()
        table.setFixedHeight((ROWS_IN_SIGHT + 1) * row + tokens().spacing.medium)
        return table

    @property
    def lines(self) -> list[str]:
        """Lines of the text; [] for a table."""
        return [] if self.text.isHidden() else self.text.toPlainText().split("\n")

    def show_preview(self, preview: ExportPreview, caption: str) -> None:
        """Show a preview and its caption."""
        self.caption.setText(caption)
        self.table.setVisible(bool(preview.columns))
        self.text.setVisible(bool(preview.lines))
        if preview.columns:
            self.table.setColumnCount(len(preview.columns))
            self.table.setHorizontalHeaderLabels(preview.columns)
            fill_table(self.table, preview.rows)
            self.table.resizeColumnsToContents()
        if self.text.toPlainText() != "\n".join(preview.lines):
            self.text.setPlainText("\n".join(preview.lines))


@final
class FormatList(QWidget):
    """Radio buttons of formats; the chosen one is scrolled into view.

    Signals:
        chosen: name of the format.

    Attributes:
        buttons: by format name.
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
            column.addWidget(make_label(tr(GROUPS[group]), "section"))
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


_BULLET = "•  "


@final
class ExportDetails(QWidget):
    """Right half of the card.

    Signals:
        changed: another option was chosen.

    Attributes:
        which: button of each choice of images.
        placings: button of each way to place files in a folder.
        photos: of a project archive, buttons for photos (False) and previews (True).
        flat: one folder per class, without hierarchy.
        crops: crop boxes from their images.
        coarse: include images of broader classes.
        byte_order_mark: start a table with one.
        preview: the beginning of the export.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.which = {which: QRadioButton() for which in Which}
        self._which_hints = {which: make_hint("") for which in Which}
        self.placings = {placing: QRadioButton() for placing in Placing}
        self.photos = {is_reduced: QRadioButton() for is_reduced in (False, True)}
        self.flat = QCheckBox(tr("One folder per class, without hierarchy"))
        self.crops = QCheckBox(tr("Cut out the boxes, as JPEGs"))
        self.coarse = QCheckBox()
        self.byte_order_mark = QCheckBox(tr("Opens correctly in Excel (byte-order mark)"))
        self.preview = PreviewView()
        self._title = make_flowing_label("", "heading")
        self._description = make_flowing_label("")
        self.losses = make_flowing_label("", "secondary")
        self._room = make_flowing_label("", "warning")
        self._which_part, self._files_part, self._photos_part = QWidget(), QWidget(), QWidget()
        self._fill()
        self._connect()

    # -- layout

    def _fill(self) -> None:
        spacing = tokens().spacing
        _fill_choices(self._which_part, tr("Images"), self.which, self._which_hints)
        hints = {placing: make_hint(placing_hint(placing)) for placing in Placing}
        files = _fill_choices(self._files_part, tr("Files"), self.placings, hints)
        files.addSpacing(spacing.tiny)
        self._coarse_hint = make_hint(tr("Training programs treat each folder as a class."))
        for part in (self.crops, self.flat, self.coarse, self._coarse_hint):
            files.addWidget(part)
        about = {each: make_hint(photos_hint(is_reduced=each)) for each in self.photos}
        _fill_choices(self._photos_part, tr("Photos"), self.photos, about)
        body = QWidget()
        body.setProperty("surface", "raised")
        column = fill_column(
            body,
            self._title,
            self._description,
            make_label(tr("Limits of this format"), "section"),
            self.losses,
            self._which_part,
            self._files_part,
            self._photos_part,
            self._room,
            self.byte_order_mark,
            make_label(tr("Preview"), "section"),
            self.preview,
            spacing=spacing.small,
        )
        for heading in (10, 9, 8, 6, 5, 4, 2):
            column.insertSpacing(heading, spacing.small)
        column.setContentsMargins(spacing.large, 0, spacing.large, spacing.small)
        column.addStretch(1)
        self._area = make_scroll_area()
        self._area.setWidget(body)
        fill_column(self, self._area)

    def _connect(self) -> None:
        for buttons in (self.which, self.placings, self.photos):
            group = QButtonGroup(self)
            for button in buttons.values():
                group.addButton(button)
                button.clicked.connect(self.changed)
        for box in (self.crops, self.flat, self.coarse, self.byte_order_mark):
            box.clicked.connect(self.changed)
        self.byte_order_mark.setChecked(True)
        self.which[Which.SURE].setChecked(True)
        self.placings[Placing.COPY].setChecked(True)
        self.photos[False].setChecked(True)

    # -- options

    @property
    def chosen_which(self) -> Which:
        return next(which for which, button in self.which.items() if button.isChecked())

    @property
    def options(self) -> FolderOptions:
        """Options of folder formats."""
        placing = next(placing for placing, button in self.placings.items() if button.isChecked())
        is_flat = self.flat.isChecked() and not self.flat.isHidden()
        has_crops = self.crops.isChecked() and not self.crops.isHidden()
        return FolderOptions(placing, is_flat, self.coarse.isChecked(), has_crops)

    @property
    def is_reduced(self) -> bool:
        """Whether an archive has previews instead of photos."""
        return self.photos[True].isChecked() and not self._photos_part.isHidden()

    @property
    def has_byte_order_mark(self) -> bool:
        """Whether a table starts with a byte-order mark."""
        return self.byte_order_mark.isChecked() and not self.byte_order_mark.isHidden()

    # -- display

    def show_format(self, offered: ImageFormat) -> None:
        """Show another format; its preview follows."""
        self._title.setText(tr(offered.title))
        self._description.setText(description(offered))
        lines = losses(offered)
        self.losses.setText("\n".join(f"{_BULLET}{line}" for line in lines))
        self._which_part.setVisible(offered.has_labels)
        self._files_part.setVisible(offered.has_images)
        self._photos_part.setVisible(offered.group is FormatGroup.PROJECT)
        self.flat.setVisible(offered.has_flat_form)
        self.crops.setVisible(False)
        self._show_coarse(0)
        self.byte_order_mark.setVisible(offered.is_spreadsheet)
        self._area.verticalScrollBar().setValue(0)

    def show_look(self, look: ExportLook | None) -> None:
        """Show the preview of the current options; without one, no counts and sizes."""
        for which, button in self.which.items():
            found = look.chosen.get(which) if look else None
            button.setText(which_text(which, found.count if found else None))
            self._which_hints[which].setText(which_hint(which, look))
            button.setAccessibleDescription(which_hint(which, look))
        chosen = look.chosen.get(look.choice.which) if look else None
        for placing, button in self.placings.items():
            button.setText(placing_text(placing, chosen.size_bytes if chosen else None))
        for is_reduced, button in self.photos.items():
            size_bytes = look.copy_bytes.get(is_reduced) if look else None
            button.setText(photos_text(size_bytes, is_reduced=is_reduced))
        show_text(self._room, lacks_space(look, self.options.placing) if look else "")
        if look is None:
            self._show_coarse(0)
            return
        has_one_folder_per_class = look.format.is_flat or look.choice.folder.is_flat
        self.crops.setVisible(look.has_boxes and look.format.has_crop_form)
        self._show_coarse(chosen.coarse if chosen and has_one_folder_per_class else 0)
        caption = preview_caption(look.preview, chosen.count if chosen else 0)
        self.preview.show_preview(look.preview, caption)

    def _show_coarse(self, count: int) -> None:
        self.coarse.setText(tr("Also {1} of broader classes", images(count)))
        self.coarse.setVisible(count > 0)
        self._coarse_hint.setVisible(count > 0)


def _fill_choices(
    part: QWidget, title: str, buttons: Mapping[Any, QRadioButton], hints: Mapping[Any, QLabel]
) -> QVBoxLayout:
    """Fill a part with a title, and buttons with hints below them."""
    column = fill_column(part, make_label(title, "section"), spacing=tokens().spacing.tiny)
    for choice, button in buttons.items():
        button.setAccessibleDescription(hints[choice].text())
        column.addWidget(button)
        column.addWidget(hints[choice])
    return column
