"""Preprocessing of a network that a person adds: prefilled, and rarely changed."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from PySide6.QtCore import QLocale, Qt, Signal, SignalInstance
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QSpinBox, QWidget

from app.controls import dress_number_box, fill_column, make_button, make_choice_box, make_form, make_label
from app.texts import marked, plain_tip, tr
from engine.backbones.preprocessing import (
    LARGEST_SIDE,
    PRESETS,
    SMALLEST_SHARE,
    SMALLEST_SIDE,
    USUAL_SIDE,
    numbers_text,
    preset,
    three_numbers,
)

Field = QComboBox | QCheckBox | QLineEdit | QSpinBox | QDoubleSpinBox

OWN_VALUES: Final = ""
PERCENT: Final = 100.0
_PRESETS: Final = {name: preset(name) for name in PRESETS}
_SHORT_TITLES: Final = {"imagenet": "ImageNet", "caffe": "Caffe", "clip": "CLIP"}
"""Where the whole title is too long for a narrow panel; it is the entry's tip then."""
_PRESET_TITLES: Final = {name: _SHORT_TITLES.get(name, each.title) for name, each in PRESETS.items()} | {
    OWN_VALUES: marked("Custom")
}
_CHOICES: Final[Mapping[str, Mapping[Any, str]]] = {
    "channel_order": {"rgb": "RGB", "bgr": "BGR", "grey": marked("Grey")},
    "layout": {"nchw": marked("Channels first"), "nhwc": marked("Channels last")},
    "pooling": {"none": marked("None"), "mean": marked("Average"), "first": marked("First token")},
}
_MORE: Final = {
    "mean": marked("Mean (RGB)"),
    "std": marked("Std (RGB)"),
    "value_scale": marked("Pixel range"),
    "channel_order": marked("Channel order"),
    "layout": marked("Input layout"),
    "resize_share": marked("Centre crop"),
    "output": marked("Output"),
    "pooling": marked("Pooling"),
}


@final
class PreprocessingForm(QWidget):
    """The few settings worth a thought, and the others below "More settings"."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._is_filling = False
        self.name, self.mean, self.std = QLineEdit(), QLineEdit(), QLineEdit()
        self.side, self.preset, self._output = _side_box(), _choice(_PRESET_TITLES), _choice({})
        self._fields: Mapping[str, Field] = {
            "input_side": self.side,
            "mean": self.mean,
            "std": self.std,
            "value_scale": _choice({scale: _scale_text(scale) for scale in (1.0, 255.0)}),
            "resize_share": _share_box(),
            "output": self._output,
            "unit_length": QCheckBox(tr("Scale embeddings to unit length")),
            **{field: _choice(texts) for field, texts in _CHOICES.items()},
        }
        self.problem = make_label("", "danger", wraps=True)
        self.more_button = make_button(
            tr("More settings"), lambda: self._more.setVisible(self.more_button.isChecked()), variant="flat"
        )
        self.more_button.setCheckable(True)
        self._more = QWidget()
        self._lay_out()
        for widget in (self.name, *self._fields.values()):
            _edited(widget).connect(self._on_changed)
        for name in _SHORT_TITLES:
            self.preset.setItemData(
                self.preset.findData(name), plain_tip(PRESETS[name].title), Qt.ItemDataRole.ToolTipRole
            )
        self.preset.currentIndexChanged.connect(self._on_preset_chosen)

    def _lay_out(self) -> None:
        usual: Mapping[str, QWidget] = {
            tr("Name"): self.name,
            tr("Input size"): self.side,
            tr("Normalisation"): self.preset,
        }
        more = {tr(title): self._fields[field] for field, title in _MORE.items()}
        fill_column(self._more, self._fields["unit_length"]).insertLayout(0, make_form(more))
        fill_column(self, self.more_button, self._more, self.problem).insertLayout(0, make_form(usual))
        self._more.hide()
        self.problem.hide()

    # -- values

    def fill(self, name: str, values: Mapping[str, Any], outputs: Sequence[str]) -> None:
        """Show what is known of a network."""
        self._is_filling = True
        self.name.setText(name)
        self._output.clear()
        for output in outputs:
            self._output.addItem(output, output)
        self._output.setEnabled(len(outputs) > 1)
        self._put(values)
        self._show_state()

    def _put(self, values: Mapping[str, Any]) -> None:
        self._is_filling = True
        for field, value in values.items():
            _put(self._fields[field], value)
        self._is_filling = False

    def values(self) -> dict[str, Any]:
        """Fields of `Preprocessing` as they are set; ValueError where mean or deviation are not three numbers."""
        return {field: _value_of(widget) for field, widget in self._fields.items()}

    @property
    def is_usable(self) -> bool:
        """Whether everything that was typed can be meant."""
        return not self.problem.text()

    def _show_state(self) -> None:
        """Name the preset that the values follow, and say what cannot be meant."""
        problem = "" if self.name.text().strip() else tr("Give it a name.")
        try:
            values = self.values()
        except ValueError:
            problem = problem or tr("Mean and standard deviation need three numbers each, such as 0.5, 0.5, 0.5.")
        else:
            followed = (name for name, each in _PRESETS.items() if each.items() <= values.items())
            self._is_filling = True
            _put(self.preset, next(followed, OWN_VALUES))
            self._is_filling = False
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))

    # -- what a person does

    def _on_preset_chosen(self) -> None:
        fields = _PRESETS.get(self.preset.currentData())
        if not self._is_filling and fields is not None:
            self._put(fields)
            self._on_changed()

    def _on_changed(self) -> None:
        if not self._is_filling:
            self._show_state()
            self.changed.emit()


def _side_box() -> QSpinBox:
    box = dress_number_box(QSpinBox())
    box.setRange(SMALLEST_SIDE, LARGEST_SIDE)
    box.setSingleStep(32)
    box.setValue(USUAL_SIDE)
    box.setSuffix(tr(" px"))
    return box


def _share_box() -> QDoubleSpinBox:
    box = dress_number_box(QDoubleSpinBox())
    box.setRange(PERCENT * SMALLEST_SHARE, PERCENT)
    box.setDecimals(1)
    box.setSingleStep(2.5)
    box.setValue(PERCENT)
    box.setSuffix("%")
    return box


def _choice(texts: Mapping[Any, str]) -> QComboBox:
    return make_choice_box({value: tr(text) for value, text in texts.items()})


def _scale_text(scale: float) -> str:
    return tr("0 to %1", QLocale().toString(scale, "g", 6))


def _edited(widget: Field) -> SignalInstance:
    """The signal that a person changed a field."""
    if isinstance(widget, QComboBox):
        return widget.currentIndexChanged
    if isinstance(widget, QCheckBox):
        return widget.toggled
    return widget.textEdited if isinstance(widget, QLineEdit) else widget.valueChanged


def _value_of(widget: Field) -> Any:
    """What a field holds; three numbers where it is a line of text."""
    if isinstance(widget, QComboBox):
        return widget.currentData() or ""
    if isinstance(widget, QCheckBox):
        return widget.isChecked()
    if isinstance(widget, QLineEdit):
        return three_numbers(widget.text())
    return round(widget.value() / PERCENT, 3) if isinstance(widget, QDoubleSpinBox) else widget.value()


def _put(widget: Field, value: Any) -> None:
    if isinstance(widget, QComboBox):
        if isinstance(value, int | float) and widget.findData(value) < 0:  # a settings file may ask for any
            widget.addItem(_scale_text(value), float(value))
        widget.setCurrentIndex(max(0, widget.findData(value)))
    elif isinstance(widget, QCheckBox):
        widget.setChecked(value)
    elif isinstance(widget, QLineEdit):
        widget.setText(numbers_text(value))
    elif isinstance(widget, QDoubleSpinBox):
        widget.setValue(PERCENT * value)
    else:
        widget.setValue(value)
