"""A training that was stopped and can go on; what is asked of the project runs on the project thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.controls import fill_column, make_button, make_label
from app.texts import tr
from app.training.logic import Plan, StoppedTraining
from app.training.wording import stopped_text

if TYPE_CHECKING:
    from engine.config import CacheFolders
    from engine.project import Project


def stopped_training(project: Project, caches: CacheFolders) -> StoppedTraining | None:
    """The stopped training of an open project; None where none can go on."""
    from engine.collection.training.unfinished import unfinished

    found = unfinished(project, caches)
    return None if found is None else StoppedTraining(found.done, Plan.of_settings(found.chosen))


@final
class StoppedNotice(QWidget):
    """Says how far it was, and lets it go on; hidden while there is none."""

    resume_requested = Signal(Plan)  # its `Plan`

    def __init__(self) -> None:
        super().__init__()
        self._plan: Plan | None = None
        self._text = make_label("", "secondary", wraps=True)
        self.resume_button = make_button(tr("Resume"), self._on_resume, variant="primary", icon_name="play")
        fill_column(self, self._text, self.resume_button)
        self.hide()

    @property
    def text(self) -> str:
        return self._text.text()

    def show_stopped(self, stopped: StoppedTraining | None, *, is_writable: bool) -> None:
        self._plan = None if stopped is None else stopped.plan
        if stopped is not None:
            self._text.setText(stopped_text(stopped))
        self.resume_button.setEnabled(is_writable)
        self.setVisible(stopped is not None)

    def _on_resume(self) -> None:
        if self._plan is not None:
            self.resume_requested.emit(self._plan)
