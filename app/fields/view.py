"""View of the "Fields of the project" card: a line for each field, and a camera trap preset."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.controls import (
    fill_column,
    fill_row,
    make_button,
    make_choice_box,
    make_flowing_label,
    make_icon_button,
    make_row,
    show_text,
)
from app.fields.logic import renamed_choices
from app.fields.wording import kind_title, refusal_text, renamed_text
from app.palette.overlay import ScrollingCard
from app.texts import tr
from app.theme.tokens import tokens
from engine.errors import InputError
from engine.field_renaming import Renaming, paired_fields, renamed_fields
from engine.image_fields import (
    CAMERA_TRAP,
    LONGEST_FIELD_NAME,
    FieldKind,
    ImageField,
    checked_fields,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 640  # in logical pixels
_NAME_WIDTH = 150  # in logical pixels
_KIND_WIDTH = 120  # in logical pixels


@final
class FieldLine(QWidget):
    """Name, kind and choices of one field.

    Args:
        field: initial value.
        is_new: whether the project does not have it yet.
    """

    removed = Signal()
    edited = Signal()

    def __init__(self, field: ImageField | None, *, is_new: bool) -> None:
        super().__init__()
        self._before = None if is_new else field
        self.name = QLineEdit("" if field is None else field.name)
        self.name.setMaxLength(LONGEST_FIELD_NAME)
        self.name.setPlaceholderText(tr("Name"))
        self.name.setAccessibleName(tr("Name of the field"))
        self.name.setFixedWidth(_NAME_WIDTH)
        self.kind = make_choice_box({kind: kind_title(kind) for kind in FieldKind})
        self.kind.setAccessibleName(tr("Kind of the field"))
        self.kind.setFixedWidth(_KIND_WIDTH)
        self.choices = QLineEdit("" if field is None else ", ".join(field.choices))
        self.choices.setPlaceholderText(tr("Choices, with commas between them"))
        self.choices.setAccessibleName(tr("Choices, with commas between them"))
        self.choices.setCursorPosition(0)
        remove = make_icon_button("delete", tr("Remove the field"), self.removed.emit)
        self._gap = QWidget()
        fill_row(self, self.name, self.kind, self.choices, self._gap, remove).setStretch(2, 1)
        # Keeps its height if the card is too small.
        self.setFixedHeight(tokens().spacing.control_height)
        self.kind.currentIndexChanged.connect(lambda _place: self._show_choices())
        if field is not None:
            self.kind.setCurrentIndex(self.kind.findData(field.kind))
        self._show_choices()
        self.kind.currentIndexChanged.connect(lambda _place: self.edited.emit())
        for line in (self.name, self.choices):
            line.textEdited.connect(lambda _text: self.edited.emit())

    def _show_choices(self) -> None:
        has_choices = self.kind.currentData() == FieldKind.CHOICE
        self.choices.setVisible(has_choices)
        self._gap.setVisible(not has_choices)
        row = self.layout()
        if row is not None:
            row.setStretch(3, not has_choices)  # type: ignore[attr-defined]

    @property
    def field(self) -> ImageField:
        """The field as entered."""
        name, kind = self._name, FieldKind(self.kind.currentData())
        choices = self._choices if kind is FieldKind.CHOICE else ()
        if self._before is None:
            return ImageField(name, kind, choices)
        (field,) = renamed_fields([self._before], self.renamings)
        return replace(field, name=name, kind=kind, choices=choices)

    @property
    def renamings(self) -> list[Renaming]:
        """Renamed field and choices."""
        before = self._before
        if before is None:
            return []
        field = [Renaming(before.name, self._name)] if self._name not in {"", before.name} else []
        is_choice = before.kind == self.kind.currentData() == FieldKind.CHOICE
        names = renamed_choices(before.choices, self._choices) if is_choice else {}
        return [*field, *(Renaming(before.name, name, was) for was, name in names.items())]

    @property
    def is_empty(self) -> bool:
        """Whether a new field has no input."""
        return self._before is None and not (self._name or self.choices.text().strip())

    @property
    def _name(self) -> str:
        return " ".join(self.name.text().split())

    @property
    def _choices(self) -> tuple[str, ...]:
        choices = (" ".join(each.split()) for each in self.choices.text().split(","))
        return tuple(filter(None, choices))


@final
class FieldsCard(ScrollingCard):
    """Card over the window; changes are applied by Save."""

    saved = Signal(tuple, tuple)  # fields, renamings

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, WIDTH, tr("Fields of the project"))
        self.lines: list[FieldLine] = []
        self._lines = QWidget()
        self._column = fill_column(self._lines)
        self._about = make_flowing_label(
            tr(
                "In addition to the count, which every image can have. Renaming a field or choice "
                "keeps its values, "
                "removing it removes them; undo brings them back."
            ),
            "secondary",
        )
        self.renamed = make_flowing_label("", "secondary")
        self.refusal = make_flowing_label("", "danger")
        self.add_button = make_button(tr("Add a field"), self._add, icon_name="plus")
        self.preset_button = make_button(
            tr("Camera trap: sex, life stage, behaviour"), self._add_preset, variant="flat"
        )
        self.save_button = make_button(tr("Save"), self._save, variant="primary")
        space, adding = tokens().spacing, make_row(self.add_button, self.preset_button, None)
        save = make_row(None, self.save_button)
        fill_column(
            self.body,
            *(self._about, self._lines, adding, self.renamed, self.refusal, save, None),
            spacing=space.medium,
            margins=(space.large, 0, space.large, space.medium),
        )

    def show_fields(self, fields: Sequence[ImageField]) -> None:
        """Show the card with the fields of the project."""
        for line in self.lines:
            line.hide()
            line.deleteLater()
        self.lines.clear()
        for field in fields:
            self._append(field, is_new=False)
        self._on_edited()
        self.show_over()
        (self.lines[0].name if self.lines else self.add_button).setFocus()

    def _append(self, field: ImageField | None, *, is_new: bool = True) -> FieldLine:
        line = FieldLine(field, is_new=is_new)
        line.removed.connect(lambda: self._remove(line))
        line.edited.connect(self._on_edited)
        self.lines.append(line)
        self._column.addWidget(line)
        line.show()
        self._settle()
        return line

    def _add(self) -> None:
        self._append(None).name.setFocus()

    def _add_preset(self) -> None:
        """Add the missing fields of the camera trap preset."""
        known = paired_fields([line.field for line in self.lines], CAMERA_TRAP)
        for field in CAMERA_TRAP:
            if field.search_name not in known:
                self._append(field)

    def _remove(self, line: FieldLine) -> None:
        self.lines.remove(line)
        self._column.removeWidget(line)
        line.hide()
        line.deleteLater()
        self.add_button.setFocus()
        self._on_edited()

    def _save(self) -> None:
        try:
            fields = checked_fields([line.field for line in self.lines if not line.is_empty])
        except InputError as error:
            self._refuse(error.translated())
            return
        self.dismiss()
        self.saved.emit(fields, tuple(self._renamings))

    @property
    def _renamings(self) -> list[Renaming]:
        return [each for line in self.lines for each in line.renamings]

    def _on_edited(self) -> None:
        """Update the list of renamings and clear the error."""
        renamings = self._renamings
        show_text(self.renamed, renamed_text(renamings) if renamings else "")
        self._refuse("")

    def _refuse(self, message: str) -> None:
        show_text(self.refusal, refusal_text(message))
        self._settle()
