"""Preprocessing of a network that a person adds: prefilled, and rarely changed."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from PySide6.QtCore import QEvent, QLocale, QObject, Signal
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.controls import make_button, make_label
from app.texts import QT_TRANSLATE_NOOP, translate
from app.theme.tokens import tokens
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

OWN_VALUES: Final = ""
_PRESETS: Final = {name: preset(name) for name in PRESETS}
_PRESET_TITLES: Final = {
    **{name: each.title for name, each in PRESETS.items()},
    OWN_VALUES: QT_TRANSLATE_NOOP("backbones", "Own values"),
}
_SCALES: Final = (1.0, 255.0)
_CHANNEL_ORDERS: Final = {"rgb": "RGB", "bgr": "BGR", "grey": QT_TRANSLATE_NOOP("backbones", "Grey")}
_LAYOUTS: Final = {
    "nchw": QT_TRANSLATE_NOOP("backbones", "Channels first (NCHW)"),
    "nhwc": QT_TRANSLATE_NOOP("backbones", "Channels last (NHWC)"),
}
_POOLINGS: Final = {
    "none": QT_TRANSLATE_NOOP("backbones", "None"),
    "mean": QT_TRANSLATE_NOOP("backbones", "Mean over positions"),
    "first": QT_TRANSLATE_NOOP("backbones", "First token"),
}


@final
class PreprocessingForm(QWidget):
    """The few settings worth a thought, and the others below "More settings".

    Signals:
        changed: a person changed something.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._is_filling = False
        self.name, self.mean, self.std = QLineEdit(), QLineEdit(), QLineEdit()
        self.side, self.resize_share = QSpinBox(), QDoubleSpinBox()
        self.preset, self.output = _choice(_PRESET_TITLES), _choice({})
        self.value_scale = _choice({scale: _scale_text(scale) for scale in _SCALES})
        self.channel_order, self.layout_box = _choice(_CHANNEL_ORDERS), _choice(_LAYOUTS)
        self.pooling = _choice(_POOLINGS)
        self.unit_length = QCheckBox(self.tr("Normalise embeddings to unit length"))
        self.problem = make_label("", "danger", wraps=True)
        self.more_button = make_button(self.tr("More settings"), self._on_more, variant="flat")
        self.more_button.setCheckable(True)
        self._set_ranges()
        self._more = QWidget()
        self._lay_out()
        self._connect()

    # -- putting together

    def _set_ranges(self) -> None:
        self.side.setRange(SMALLEST_SIDE, LARGEST_SIDE)
        self.side.setSingleStep(32)
        self.side.setValue(USUAL_SIDE)
        self.resize_share.setRange(SMALLEST_SHARE, 1.0)
        self.resize_share.setDecimals(3)
        self.resize_share.setSingleStep(0.025)
        self.resize_share.setValue(1.0)

    def _lay_out(self) -> None:
        usual: Mapping[str, QWidget] = {
            self.tr("Name"): self.name,
            self.tr("Input side, in pixels"): self.side,
            self.tr("Normalisation"): self.preset,
        }
        more: Mapping[str, QWidget] = {
            self.tr("Mean (red, green, blue)"): self.mean,
            self.tr("Standard deviation"): self.std,
            self.tr("Maximum pixel value"): self.value_scale,
            self.tr("Channel order"): self.channel_order,
            self.tr("Input layout"): self.layout_box,
            self.tr("Centre crop, share of the side"): self.resize_share,
            self.tr("Output"): self.output,
            self.tr("Pooling"): self.pooling,
        }
        below, column = QVBoxLayout(self._more), QVBoxLayout(self)
        for layout in (below, column):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(tokens().spacing.small)
        below.addLayout(_grid(more))
        below.addWidget(self.unit_length)
        column.addLayout(_grid(usual))
        for widget in (self.more_button, self._more, self.problem):
            column.addWidget(widget)
        self._more.hide()
        self.problem.hide()

    def _connect(self) -> None:
        for field in (self.name, self.mean, self.std):
            field.textEdited.connect(self._on_changed)
        for spin in (self.side, self.resize_share):
            spin.valueChanged.connect(self._on_changed)
        for box in (self.value_scale, self.channel_order, self.layout_box, self.output, self.pooling):
            box.currentIndexChanged.connect(self._on_changed)
        self.preset.currentIndexChanged.connect(self._on_preset_chosen)
        self.unit_length.toggled.connect(self._on_changed)
        for widget in self.findChildren(QWidget):
            if isinstance(widget, QComboBox | QAbstractSpinBox):
                widget.installEventFilter(self)

    # -- values

    def fill(self, name: str, values: Mapping[str, Any], outputs: Sequence[str]) -> None:
        """Show what is known of a network.

        Args:
            name: it will have.
            values: fields of `Preprocessing`.
            outputs: names of its outputs.
        """
        self._is_filling = True
        self.name.setText(name)
        self.side.setValue(int(values["input_side"]))
        self.output.clear()
        for output in outputs:
            self.output.addItem(output, output)
        self.output.setEnabled(len(outputs) > 1)
        for box, field in ((self.output, "output"), (self.layout_box, "layout"), (self.pooling, "pooling")):
            _choose(box, values[field])
        self.resize_share.setValue(float(values["resize_share"]))
        self.unit_length.setChecked(bool(values["unit_length"]))
        self._fill_colours(values)
        self._is_filling = False
        self._show_preset()
        self._show_problem()

    def values(self) -> dict[str, Any]:
        """Fields of `Preprocessing`, as the person has set them.

        Raises:
            ValueError: mean or deviation are not three numbers.
        """
        return {
            "input_side": self.side.value(),
            "mean": three_numbers(self.mean.text()),
            "std": three_numbers(self.std.text()),
            "value_scale": float(self.value_scale.currentData()),
            "layout": self.layout_box.currentData(),
            "channel_order": self.channel_order.currentData(),
            "resize_share": round(self.resize_share.value(), 3),
            "output": self.output.currentData() or "",
            "pooling": self.pooling.currentData(),
            "unit_length": self.unit_length.isChecked(),
        }

    @property
    def is_usable(self) -> bool:
        """Whether everything that was typed can be meant."""
        return not self.problem.text()

    def _fill_colours(self, values: Mapping[str, Any]) -> None:
        self.mean.setText(numbers_text(values["mean"]))
        self.std.setText(numbers_text(values["std"]))
        scale = float(values["value_scale"])
        if self.value_scale.findData(scale) < 0:  # a settings file beside the network may ask for any
            self.value_scale.addItem(_scale_text(scale), scale)
        _choose(self.value_scale, scale)
        _choose(self.channel_order, values["channel_order"])

    def _show_preset(self) -> None:
        """Name the preset that the values follow."""
        try:
            values = self.values()
        except ValueError:
            return
        self._is_filling = True
        _choose(
            self.preset, next((name for name, each in _PRESETS.items() if each.items() <= values.items()), OWN_VALUES)
        )
        self._is_filling = False

    def _show_problem(self) -> None:
        text = "" if self.name.text().strip() else self.tr("Give it a name.")
        try:
            self.values()
        except ValueError:
            text = text or self.tr("Mean and standard deviation need three numbers each, such as 0.5, 0.5, 0.5.")
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    # -- what a person does

    def _on_preset_chosen(self) -> None:
        fields = _PRESETS.get(self.preset.currentData())
        if self._is_filling or fields is None:
            return
        self._is_filling = True
        self._fill_colours(fields)
        self._is_filling = False
        self._on_changed()

    def _on_changed(self) -> None:
        if not self._is_filling:
            self._show_preset()
            self._show_problem()
            self.changed.emit()

    def _on_more(self) -> None:
        self._more.setVisible(self.more_button.isChecked())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the wheel scroll the panel: a setting must not change because the pointer passed over it."""
        if event.type() == QEvent.Type.Wheel:
            event.ignore()
            return True
        return super().eventFilter(watched, event)


def _choice(texts: Mapping[Any, str]) -> QComboBox:
    """A box of values with their texts; the width of the panel counts, not that of its longest entry."""
    box = QComboBox()
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for value, text in texts.items():
        box.addItem(translate("backbones", text), value)
    return box


def _choose(box: QComboBox, value: object) -> None:
    box.setCurrentIndex(max(0, box.findData(value)))


def _scale_text(scale: float) -> str:
    return QLocale().toString(scale, "g", 6)


def _grid(rows: Mapping[str, QWidget]) -> QGridLayout:
    grid = QGridLayout()
    grid.setVerticalSpacing(tokens().spacing.small)
    grid.setHorizontalSpacing(tokens().spacing.medium)
    for line, (text, field) in enumerate(rows.items()):
        label = make_label(text, "secondary")
        label.setBuddy(field)
        field.setAccessibleName(text)
        grid.addWidget(label, line, 0)
        grid.addWidget(field, line, 1)
    grid.setColumnStretch(1, 1)
    return grid
