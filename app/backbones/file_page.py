"""The ONNX page: inspect a file, set its preprocessing, try it on some images, and add it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

from PySide6.QtCore import QLocale, QMimeData, Qt, Signal, SignalInstance
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from app.backbones.jobs import BackboneJobs, JobSlotView
from app.backbones.wording import file_facts, trial_button, trial_text
from app.controls import (
    dress_number_box,
    fill_column,
    make_button,
    make_choice_box,
    make_form,
    make_label,
    make_notice_column,
    set_variant,
)
from app.drops import DropBox
from app.file_dialogs import Purpose, open_file
from app.jobs.slot import Stage
from app.texts import breakable, marked, plain_tip, tr
from app.theme.tokens import tokens
from app.wording import sentence
from engine.backbones.messages import GUESS_NOTICE, OnnxFacts, Trial
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
from engine.texts import translated

Field = QComboBox | QCheckBox | QLineEdit | QSpinBox | QDoubleSpinBox

OWN_VALUES = ""
PERCENT = 100.0  # factor from a share to percent
_PRESETS = {name: preset(name) for name in PRESETS}
_SHORT_TITLES = {"imagenet": "ImageNet", "caffe": "Caffe", "clip": "CLIP"}
"""Short titles for narrow panels; the full title becomes the tool tip."""
_PRESET_TITLES = {name: _SHORT_TITLES.get(name, each.title) for name, each in PRESETS.items()} | {
    OWN_VALUES: marked("Custom")
}
_CHOICES: Mapping[str, Mapping[Any, str]] = {
    "channel_order": {"rgb": "RGB", "bgr": "BGR", "grey": marked("Grey")},
    "layout": {"nchw": marked("Channels first"), "nhwc": marked("Channels last")},
    "pooling": {"none": marked("None"), "mean": marked("Average"), "first": marked("First token")},
}
_MORE = {
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
    """Name and preprocessing of a network, with rarely needed fields below "More settings"."""

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
            tr("More settings"),
            lambda: self._more.setVisible(self.more_button.isChecked()),
            variant="flat",
        )
        self.more_button.setCheckable(True)
        self._more = QWidget()
        usual = {
            tr("Name"): self.name,
            tr("Input size"): self.side,
            tr("Normalisation"): self.preset,
        }
        more = {tr(title): self._fields[field] for field, title in _MORE.items()}
        fill_column(self._more, self._fields["unit_length"]).insertLayout(0, make_form(more))
        fill_column(self, self.more_button, self._more, self.problem).insertLayout(
            0, make_form(usual)
        )
        self._more.hide()
        self.problem.hide()
        for widget in (self.name, *self._fields.values()):
            _edited(widget).connect(self._on_changed)
        for name in _SHORT_TITLES:
            self.preset.setItemData(
                self.preset.findData(name),
                plain_tip(tr(PRESETS[name].title)),
                Qt.ItemDataRole.ToolTipRole,
            )
        self.preset.currentIndexChanged.connect(self._on_preset_chosen)

    def fill(self, name: str, values: Mapping[str, Any], outputs: Sequence[str]) -> None:
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
        """The fields of `Preprocessing`.

        Raises:
            ValueError: mean or standard deviation are not three numbers.
        """
        return {field: _value_of(widget) for field, widget in self._fields.items()}

    @property
    def is_usable(self) -> bool:
        return not self.problem.text()

    def _show_state(self) -> None:
        """Select the preset that matches the values, and show why they are not valid."""
        problem = "" if self.name.text().strip() else tr("Give it a name.")
        try:
            values = self.values()
        except ValueError:
            problem = problem or tr(
                "Mean and standard deviation need three numbers each, such as 0.5, 0.5, 0.5."
            )
        else:
            followed = (name for name, each in _PRESETS.items() if each.items() <= values.items())
            self._is_filling = True
            _put(self.preset, next(followed, OWN_VALUES))
            self._is_filling = False
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))

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
    return tr("0 to {1}", QLocale().toString(scale, "g", 6))


def _edited(widget: Field) -> SignalInstance:
    if isinstance(widget, QComboBox):
        return widget.currentIndexChanged
    if isinstance(widget, QCheckBox):
        return widget.toggled
    return widget.textEdited if isinstance(widget, QLineEdit) else widget.valueChanged


def _value_of(widget: Field) -> Any:
    if isinstance(widget, QComboBox):
        return widget.currentData() or ""
    if isinstance(widget, QCheckBox):
        return widget.isChecked()
    if isinstance(widget, QLineEdit):
        return three_numbers(widget.text())
    return (
        round(widget.value() / PERCENT, 3) if isinstance(widget, QDoubleSpinBox) else widget.value()
    )


def _put(widget: Field, value: Any) -> None:
    if isinstance(widget, QComboBox):
        # A settings file may contain other values than the list.
        if isinstance(value, int | float) and widget.findData(value) < 0:
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


@final
class FilePage(QWidget):
    """Page for one ONNX file at a time."""

    def __init__(self, jobs: BackboneJobs) -> None:
        super().__init__()
        self._jobs = jobs
        self._images: Sequence[Path] = ()
        self.path: Path | None = None
        self.facts: OnnxFacts | None = None
        self._drop_text = make_label("", wraps=True)
        self.choose_button = make_button(tr("Choose a file…"), self._on_choose, icon_name="open")
        name = tr("Choose an ONNX file")
        self.drop = DropBox(
            name, self._on_choose, self._drop_text, self.choose_button, has_focus=False
        )
        self.inspection = JobSlotView(jobs.inspection, getting_ready=tr("Checking the file…"))
        self._facts_text = make_label("", "secondary", wraps=True)
        self._why = make_label("", "secondary", wraps=True)
        self.form = PreprocessingForm()
        self.try_button = make_button("", self._on_try, icon_name="play")
        self.trial = JobSlotView(
            jobs.trial, getting_ready=tr("Trying it…"), cancel_tip=tr("Stop; nothing is saved")
        )
        self.result = QFrame()
        self._result_text = make_label("", wraps=True)
        make_notice_column(self.result, "accent").addWidget(self._result_text)
        self.add_button = make_button(tr("Add this network"), self._on_add, icon_name="plus")
        self.adding = JobSlotView(jobs.adding, getting_ready=tr("Adding it…"))
        self._body = QWidget()
        steps = (self.try_button, self.trial, self.result, self.add_button, self.adding)
        fill_column(self._body, self._facts_text, self._why, self.form, *steps)
        spacing = tokens().spacing.medium
        fill_column(self, self.drop, self.inspection, self._body, spacing=spacing).addStretch(1)
        self.form.changed.connect(self._forget_trial)
        jobs.inspection.finished.connect(self.show_facts)
        jobs.trial.finished.connect(self.show_trial)
        for slot in (jobs.inspection, jobs.trial, jobs.adding):
            slot.stage_changed.connect(lambda _stage: self._arrange())
        self._arrange()

    def show_images(self, images: Sequence[Path]) -> None:
        self._images = tuple(images)
        self._arrange()

    def show_facts(self, facts: OnnxFacts) -> None:
        self.facts = facts
        usable = [output.name for output in facts.outputs if not output.refused]
        # Guesses are shown in the form.
        notices = [translated(notice) for notice in facts.notices if notice != GUESS_NOTICE]
        self._facts_text.setText("\n".join((file_facts(facts), *notices)))
        if facts.is_declared:
            why = tr("Preprocessing: {1}.", translated(facts.why))
        else:
            why = tr(
                "Check these settings: the file does not say how images were prepared. {1}",
                sentence(facts.why),
            )
        self._why.setText(why)
        self.form.fill(facts.name, vars(facts.preprocessing), usable)
        self.form.side.setEnabled(facts.image_input.fixed_side is None)
        self._forget_trial()

    def show_trial(self, trial: Trial) -> None:
        self._result_text.setText(trial_text(trial))

    @property
    def result_text(self) -> str:
        return "" if self.result.isHidden() else self._result_text.text()

    def forget_file(self) -> None:
        self.path = self.facts = None
        self._jobs.inspection.dismiss()
        self._forget_trial()

    def _forget_trial(self) -> None:
        self._jobs.adding.dismiss()
        self._jobs.trial.dismiss()
        self._arrange()

    def _arrange(self) -> None:
        jobs = self._jobs
        is_known = self.facts is not None and not jobs.inspection.is_busy
        was_tried = jobs.trial.stage is Stage.DONE
        is_busy = jobs.trial.is_busy or jobs.adding.is_busy
        prompt = tr(
            "Drop an ONNX file here: any network that turns an image into a vector or a feature "
            "map. It runs in a separate process and contacts no other computer."
        )
        self._drop_text.setText(prompt if self.path is None else breakable(self.path.name))
        self.drop.setEnabled(not is_busy)
        self._body.setVisible(is_known)
        self.form.setEnabled(not is_busy)
        self.try_button.setText(trial_button(len(self._images)))
        self.try_button.setVisible(not jobs.trial.is_busy)
        self.try_button.setEnabled(bool(self._images) and self.form.is_usable and not is_busy)
        self.result.setVisible(was_tried)
        self.add_button.setVisible(not jobs.adding.is_busy)
        self.add_button.setEnabled(was_tried and self.form.is_usable)
        self.add_button.setToolTip(
            "" if was_tried else tr("Try it first: only what works can be added")
        )
        for button, is_next in ((self.try_button, not was_tried), (self.add_button, was_tried)):
            set_variant(button, "primary" if is_next else "")

    def choose(self, path: Path) -> None:
        if self._jobs.trial.is_busy or self._jobs.adding.is_busy:
            return
        self.path, self.facts = path, None
        self._jobs.inspection.abandon()
        self._jobs.inspection.dismiss()
        self._forget_trial()
        self._jobs.inspect_file(path)

    def _on_choose(self) -> None:
        path = open_file(self, Purpose.BACKBONES, tr("Choose an ONNX file"), "ONNX (*.onnx)")
        if path is not None:
            self.choose(path)

    def _on_try(self) -> None:
        if self.path is not None and self.facts is not None:
            self._jobs.try_file(self.path, self.facts, self.form.values(), self._images)

    def _on_add(self) -> None:
        if self.path is not None:
            self._jobs.add_file(self.path, self.form.name.text().strip(), self.form.values())


def dropped_file(data: QMimeData) -> Path | None:
    """The dropped ONNX file, if exactly one local file was dropped."""
    paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    return paths[0] if len(paths) == 1 and paths[0].suffix.lower() == ".onnx" else None
