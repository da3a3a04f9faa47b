"""A task at work: a bar, how far it is, and Cancel; a failure is one line."""

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QProgressBar, QVBoxLayout, QWidget

from app.backbones.wording import task_facts
from app.controls import make_button, make_label
from app.jobs.backbones import Stage
from app.theme.tokens import tokens
from app.training.wording import breakable

if TYPE_CHECKING:
    from app.jobs.backbones import Task
    from engine.events import Progress

_STEPS: Final = 1000


@final
class TaskView(QWidget):
    """Follows one task; takes no room while there is nothing to tell.

    Signals:
        cancel_requested: stop it.

    Args:
        task: the task.
        getting_ready: what is said before its first progress.
        cancel_tip: what a cancel means; empty where a task is over in a moment and cannot be cancelled here.
    """

    cancel_requested = Signal()

    def __init__(self, task: "Task", *, getting_ready: str, cancel_tip: str = "") -> None:
        super().__init__()
        self._task = task
        self._getting_ready = getting_ready
        self._can_cancel = bool(cancel_tip)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._facts = make_label("", "secondary", wraps=True)
        self.cancel_button = make_button(self.tr("Cancel"), self._on_cancel, icon_name="stop")
        self.cancel_button.setToolTip(cancel_tip)
        self.failure = make_failure()
        self._error = make_label("", "danger", wraps=True)
        layout_of(self.failure).addWidget(self._error)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(tokens().spacing.small)
        for widget in (self._bar, self._facts, self.cancel_button, self.failure):
            column.addWidget(widget)
        task.stage_changed.connect(self._on_stage_changed)
        task.progressed.connect(self._on_progressed)
        self._on_stage_changed(task.stage)

    @property
    def facts(self) -> str:
        """The line below the bar."""
        return self._facts.text()

    @property
    def error(self) -> str:
        """The line that says what went wrong; empty while nothing did."""
        return self._task.error if self._task.stage is Stage.FAILED else ""

    def _on_stage_changed(self, stage: Stage) -> None:
        is_busy = self._task.is_busy
        self.setVisible(is_busy or stage is Stage.FAILED)
        for widget in (self._bar, self._facts):
            widget.setVisible(is_busy)
        self.cancel_button.setVisible(is_busy and self._can_cancel)
        self.cancel_button.setEnabled(True)
        self.failure.setVisible(stage is Stage.FAILED)
        self._error.setText(breakable(self._task.error))
        if stage is Stage.WAITING:
            self._show_unknown(self.tr("Waits until the other work is done."))
        elif stage is Stage.RUNNING:
            self._show_unknown(self._getting_ready)

    def _show_unknown(self, text: str) -> None:
        self._bar.setRange(0, 0)
        self._facts.setText(text)

    def _on_cancel(self) -> None:
        """Answer at once: a step that was begun may take seconds to end."""
        self.cancel_button.setEnabled(False)
        self._show_unknown(self.tr("Stopping…"))
        self.cancel_requested.emit()

    def _on_progressed(self, progress: "Progress") -> None:
        if not self.cancel_button.isEnabled():
            return
        if progress.total:
            self._bar.setRange(0, _STEPS)
            self._bar.setValue(_STEPS * progress.done // progress.total)
        self._facts.setText(task_facts(progress))
        self._bar.setAccessibleName(self._facts.text())


def make_failure() -> QFrame:
    """A frame for what went wrong."""
    frame = QFrame()
    frame.setProperty("role", "notice")
    frame.setProperty("tone", "danger")
    column = QVBoxLayout(frame)
    column.setContentsMargins(*4 * (tokens().spacing.medium,))
    return frame


def layout_of(frame: QFrame) -> QVBoxLayout:
    """The column that a frame was made with."""
    layout = frame.layout()
    assert isinstance(layout, QVBoxLayout)
    return layout
