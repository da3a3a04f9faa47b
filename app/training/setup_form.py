"""Settings of a training, and the Start button."""

from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSpinBox, QWidget

from app.controls import (
    dress_number_box,
    fill_column,
    make_button,
    make_choice_box,
    make_form,
    make_label,
    set_variant,
)
from app.texts import plain_tip, tr
from app.theme.tokens import tokens
from app.training.logic import (
    DEFAULTS,
    FEWEST_ITERATIONS,
    MOST_ITERATIONS,
    SIDES,
    USUAL_SIDE,
    Depth,
    Labels,
    Plan,
    StartingPoint,
    StoppedTraining,
)
from app.training.wording import PURPOSES, STARTS, advice, duration, labels_text, stopped_text
from engine.collection.training.settings import can_train
from engine.training.curve import TrainingDuration

ITERATIONS_STEP = 100  # of the spin box


@final
class SetupForm(QWidget):
    """Settings for one depth."""

    start_requested = Signal(Plan)
    plan_changed = Signal()  # the expected duration may have changed

    def __init__(self, depth: Depth) -> None:
        super().__init__()
        self.topic = depth
        self._labels = Labels()
        self.iterations = dress_number_box(QSpinBox())
        self.iterations.setRange(FEWEST_ITERATIONS, MOST_ITERATIONS)
        self.iterations.setSingleStep(ITERATIONS_STEP)
        self.iterations.setGroupSeparatorShown(True)
        self.iterations.setValue(DEFAULTS[depth].iterations)
        self.start_from = make_choice_box({start: tr(text) for start, text in STARTS.items()})
        self.side = make_choice_box({side: tr("{1} pixels", str(side)) for side in SIDES})
        self.side.setCurrentIndex(SIDES.index(USUAL_SIDE))
        self._expected: TrainingDuration | None = None
        self._is_measuring = False
        self._duration = make_label("", "secondary", wraps=True)
        self._advice = make_label("", "accent", wraps=True)
        self._basis = make_label("", "secondary", wraps=True)
        self.start_button = make_button(
            tr("Start"),
            lambda: self.start_requested.emit(self.plan),
            variant="primary",
            icon_name="play",
        )
        self._lay_out()
        self.start_from.currentIndexChanged.connect(self._on_start_chosen)
        self.side.currentIndexChanged.connect(self._on_setting_changed)
        self.iterations.valueChanged.connect(self._on_setting_changed)
        self._on_start_chosen()
        self.show_labels(Labels(), is_writable=True)

    def _lay_out(self) -> None:
        rows: dict[str, QWidget] = {tr("Iterations"): self.iterations}
        if self.topic is Depth.BACKBONE:
            rows |= {tr("Start from"): self.start_from, tr("Image size"): self.side}
        form, small = make_form(rows), tokens().spacing.small
        # Propagation has no such row.
        parts = [form.itemAtPosition(2, column) for column in range(2)]
        self._side_row = [
            widget for part in parts if part is not None and (widget := part.widget()) is not None
        ]
        column = fill_column(
            self, make_label(tr(PURPOSES[self.topic]), wraps=True), self._basis, self._advice
        )
        column.addSpacing(small)
        column.addLayout(form)
        column.addSpacing(small)
        column.addWidget(self._duration)
        column.addWidget(self.start_button)

    def give_way(self, *, to_another: bool) -> None:
        """Make the Start button the primary one, unless another button is."""
        set_variant(self.start_button, "" if to_another else "primary")

    @property
    def plan(self) -> Plan:
        if self.topic is Depth.PROPAGATION:
            return Plan(self.topic, self.iterations.value())
        start = StartingPoint(self.start_from.currentData())
        side = int(self.side.currentData()) if start is StartingPoint.CONV4 else None
        return Plan(self.topic, self.iterations.value(), start, side)

    def show_labels(self, labels: Labels, *, is_writable: bool) -> None:
        """Show the amount of training data; Start is enabled if it is enough."""
        self._labels, trains = labels, can_train()
        self._basis.setText(labels_text(labels, trains=trains))
        self._show_duration()
        self.start_button.setEnabled(labels.are_enough and is_writable and trains)
        self.start_button.setToolTip(
            "" if is_writable else plain_tip(tr("This project is open read-only."))
        )

    def _on_start_chosen(self) -> None:
        """Show the image size, which only Conv4 can choose."""
        for part in self._side_row:
            part.setVisible(self.start_from.currentData() is StartingPoint.CONV4)
        self._on_setting_changed()

    def show_duration(self, expected: TrainingDuration | None, *, is_measuring: bool) -> None:
        self._expected, self._is_measuring = expected, is_measuring
        self._show_duration()

    def _on_setting_changed(self) -> None:
        self.plan_changed.emit()
        self._show_duration()

    def _show_duration(self) -> None:
        text = duration(self.plan, self._expected, is_measuring=self._is_measuring)
        self._duration.setText(text)
        self._duration.setVisible(bool(text))
        advised = (
            advice(self._labels, self.plan, self._expected) if self.topic is Depth.BACKBONE else ""
        )
        self._advice.setText(advised)
        self._advice.setVisible(bool(advised))


@final
class StoppedNotice(QWidget):
    """Shows the progress of an unfinished training, and resumes it; hidden if there is none."""

    resume_requested = Signal(Plan)

    def __init__(self) -> None:
        super().__init__()
        self._plan: Plan | None = None
        self.text = make_label("", "secondary", wraps=True)
        self.resume_button = make_button(
            tr("Resume"), self._on_resume, variant="primary", icon_name="play"
        )
        fill_column(self, self.text, self.resume_button)
        self.hide()

    def show_stopped(self, stopped: StoppedTraining | None, *, is_writable: bool) -> None:
        self._plan = None if stopped is None else stopped.plan
        if stopped is not None:
            self.text.setText(stopped_text(stopped))
        self.resume_button.setEnabled(is_writable)
        self.setVisible(stopped is not None)

    def _on_resume(self) -> None:
        if self._plan is not None:
            self.resume_requested.emit(self._plan)
