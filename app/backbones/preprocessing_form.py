"""How pictures are prepared for a network that a person brings: prefilled, and rarely changed."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from PySide6.QtCore import QEvent, QObject, Signal
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

from app.backbones.numbers import numbers_text, three_numbers
from app.backbones.wording import (
    channel_order_text,
    layout_text,
    pooling_text,
    preset_title,
    value_scale_text,
)
from app.controls import make_button, make_label
from app.theme.tokens import tokens

OWN_VALUES: Final = ""
VALUE_SCALES: Final = (1.0, 255.0)
CHANNEL_ORDERS: Final = ("rgb", "bgr", "grey")
LAYOUTS: Final = ("nchw", "nhwc")
POOLINGS: Final = ("none", "mean", "first")
COLOUR_FIELDS: Final = ("mean", "std", "value_scale", "channel_order")
"""What a preset decides."""


@final
class PreprocessingForm(QWidget):
    """The few settings worth a thought, and the others below "More settings".

    Signals:
        changed: a person changed something.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._presets: Mapping[str, Mapping[str, Any]] = {}
        self._is_filling = False
        self.name = QLineEdit()
        self.side = self._side_box()
        self.preset = _narrow_box()
        self.mean, self.std = QLineEdit(), QLineEdit()
        self.value_scale = self._choice({value_scale_text(scale): scale for scale in VALUE_SCALES})
        self.channel_order = self._choice({channel_order_text(order): order for order in CHANNEL_ORDERS})
        self.layout_box = self._choice({layout_text(layout): layout for layout in LAYOUTS})
        self.output = _narrow_box()
        self.pooling = self._choice({pooling_text(pooling): pooling for pooling in POOLINGS})
        self.resize_share = self._share_box()
        self.unit_length = QCheckBox(self.tr("Scale embeddings to length 1"))
        self.problem = make_label("", "danger", wraps=True)
        self.more_button = make_button(self.tr("More settings"), self._on_more, variant="flat")
        self.more_button.setCheckable(True)
        self._more = QWidget()
        self._lay_out()
        self._connect()

    # -- putting together

    @staticmethod
    def _side_box() -> QSpinBox:
        from engine.backbones.preprocessing import LARGEST_SIDE, SMALLEST_SIDE, USUAL_SIDE

        box = QSpinBox()
        box.setRange(SMALLEST_SIDE, LARGEST_SIDE)
        box.setSingleStep(32)
        box.setValue(USUAL_SIDE)
        return box

    @staticmethod
    def _share_box() -> QDoubleSpinBox:
        from engine.backbones.preprocessing import SMALLEST_SHARE

        box = QDoubleSpinBox()
        box.setRange(SMALLEST_SHARE, 1.0)
        box.setDecimals(3)
        box.setSingleStep(0.025)
        box.setValue(1.0)
        return box

    @staticmethod
    def _choice(values: Mapping[str, object]) -> QComboBox:
        box = _narrow_box()
        for text, value in values.items():
            box.addItem(text, value)
        return box

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        usual: list[tuple[str, QWidget]] = [
            (self.tr("Name"), self.name),
            (self.tr("Input side, in pixels"), self.side),
            (self.tr("Brightness"), self.preset),
        ]
        more: list[tuple[str, QWidget]] = [
            (self.tr("Mean (red, green, blue)"), self.mean),
            (self.tr("Deviation"), self.std),
            (self.tr("Full brightness is"), self.value_scale),
            (self.tr("Colours"), self.channel_order),
            (self.tr("Order of the input"), self.layout_box),
            (self.tr("Share kept of the short side"), self.resize_share),
            (self.tr("Output"), self.output),
            (self.tr("Make a vector by"), self.pooling),
        ]
        below = QVBoxLayout(self._more)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(spacing.small)
        below.addLayout(_grid(more))
        below.addWidget(self.unit_length)
        self._more.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(spacing.small)
        column.addLayout(_grid(usual))
        for widget in (self.more_button, self._more, self.problem):
            column.addWidget(widget)
        self.problem.hide()

    def _connect(self) -> None:
        for field in (self.name, self.mean, self.std):
            field.textEdited.connect(lambda _text: self._on_changed())
        for spin in (self.side, self.resize_share):
            spin.valueChanged.connect(lambda _value: self._on_changed())
        for box in (self.value_scale, self.channel_order, self.layout_box, self.output, self.pooling):
            box.currentIndexChanged.connect(lambda _place: self._on_changed())
        self.preset.currentIndexChanged.connect(lambda _place: self._on_preset_chosen())
        self.unit_length.toggled.connect(lambda _is_on: self._on_changed())
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
        self._fill_presets()
        self.name.setText(name)
        self.side.setValue(int(values["input_side"]))
        self.output.clear()
        for output in outputs:
            self.output.addItem(output, output)
        self._choose(self.output, values["output"])
        self.output.setEnabled(len(outputs) > 1)
        self._choose(self.layout_box, values["layout"])
        self._choose(self.pooling, values["pooling"])
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

    def _fill_presets(self) -> None:
        """Make the list when it is first needed: the engine is not loaded for an empty form."""
        if self._presets:
            return
        from engine.backbones.preprocessing import PRESETS, preset

        self._presets = {name: preset(name) for name in PRESETS}
        for name in PRESETS:
            self.preset.addItem(preset_title(name), name)
        self.preset.addItem(preset_title(OWN_VALUES), OWN_VALUES)

    def _fill_colours(self, values: Mapping[str, Any]) -> None:
        self.mean.setText(numbers_text(values["mean"]))
        self.std.setText(numbers_text(values["std"]))
        scale = float(values["value_scale"])
        if self.value_scale.findData(scale) < 0:  # a settings file beside the network may ask for any
            self.value_scale.addItem(value_scale_text(scale), scale)
        self._choose(self.value_scale, scale)
        self._choose(self.channel_order, values["channel_order"])

    @staticmethod
    def _choose(box: QComboBox, value: object) -> None:
        box.setCurrentIndex(max(0, box.findData(value)))

    def _show_preset(self) -> None:
        """Name the preset that the values follow."""
        try:
            values = self.values()
        except ValueError:
            return
        found = next((name for name, fields in self._presets.items() if _follows(values, fields)), OWN_VALUES)
        self._is_filling = True
        self._choose(self.preset, found)
        self._is_filling = False

    def _show_problem(self) -> None:
        text = ""
        try:
            self.values()
        except ValueError:
            text = self.tr("Mean and deviation are three numbers each, such as 0.5, 0.5, 0.5.")
        if not self.name.text().strip():
            text = self.tr("Give it a name.")
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    # -- what a person does

    def _on_preset_chosen(self) -> None:
        fields = self._presets.get(self.preset.currentData() or OWN_VALUES)
        if self._is_filling or fields is None:
            return
        self._is_filling = True
        self._fill_colours(fields)
        self._is_filling = False
        self._on_changed()

    def _on_changed(self) -> None:
        if self._is_filling:
            return
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


def _narrow_box() -> QComboBox:
    box = QComboBox()
    # The width of the panel counts, not that of the longest entry in some language.
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    return box


def _follows(values: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    return all(values[name] == fields[name] for name in COLOUR_FIELDS)


def _grid(rows: Sequence[tuple[str, QWidget]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setVerticalSpacing(tokens().spacing.small)
    grid.setHorizontalSpacing(tokens().spacing.medium)
    for line, (text, field) in enumerate(rows):
        label = make_label(text, "secondary")
        label.setBuddy(field)
        field.setAccessibleName(text)
        grid.addWidget(label, line, 0)
        grid.addWidget(field, line, 1)
    grid.setColumnStretch(1, 1)
    return grid
