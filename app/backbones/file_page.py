"""The third source: an ONNX file. It is inspected, its preprocessing set, it is tried on some images, then added."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QMimeData
from PySide6.QtWidgets import QFrame, QWidget

from app.backbones.job_slot_view import JobSlotView
from app.backbones.preprocessing_form import PreprocessingForm
from app.backbones.wording import file_facts, trial_button, trial_text
from app.controls import fill_column, make_button, make_label, make_notice_column, set_variant
from app.drops import DropBox
from app.file_dialogs import Purpose, open_file
from app.jobs.process_job import Stage
from app.texts import breakable, tr
from app.theme.tokens import tokens
from app.wording import sentence

if TYPE_CHECKING:
    from app.backbones.jobs import BackboneJobs
    from engine.backbones.onnx_files.facts import OnnxFacts, Trial

KINDS: Final = "ONNX (*.onnx)"
SUFFIX: Final = ".onnx"


@final
class FilePage(QWidget):
    """One file at a time."""

    def __init__(self, jobs: BackboneJobs) -> None:
        super().__init__()
        self._jobs = jobs
        self._images: Sequence[Path] = ()
        self.path: Path | None = None
        self.facts: OnnxFacts | None = None
        self.drop = self._make_drop()
        self.inspection = JobSlotView(jobs.inspection, getting_ready=tr("Checking the file…"))
        self._facts_text = make_label("", "secondary", wraps=True)
        self._why = make_label("", "secondary", wraps=True)
        self.form = PreprocessingForm()
        self.try_button = make_button("", self._on_try, icon_name="play")
        self.trial = JobSlotView(jobs.trial, getting_ready=tr("Trying it…"), cancel_tip=tr("Stop; nothing is kept"))
        self.result = self._make_result()
        self.add_button = make_button(tr("Add this network"), self._on_add, icon_name="plus")
        self.adding = JobSlotView(jobs.adding, getting_ready=tr("Adding it…"))
        self._lay_out()
        self.form.changed.connect(self._forget_trial)
        jobs.inspection.finished.connect(self.show_facts)
        jobs.trial.finished.connect(self.show_trial)
        for slot in (jobs.inspection, jobs.trial, jobs.adding):
            slot.stage_changed.connect(lambda _stage: self._arrange())
        self._arrange()

    # -- putting together

    def _make_drop(self) -> DropBox:
        self._drop_text = make_label("", wraps=True)
        self.choose_button = make_button(tr("Choose a file…"), self._on_choose, icon_name="open")
        name = tr("Choose an ONNX file")
        return DropBox(name, self._on_choose, self._drop_text, self.choose_button, has_focus=False)

    def _make_result(self) -> QFrame:
        frame = QFrame()
        self._result_text = make_label("", wraps=True)
        make_notice_column(frame, "accent").addWidget(self._result_text)
        return frame

    def _lay_out(self) -> None:
        self._body = QWidget()
        parts: tuple[QWidget, ...] = (
            self._facts_text, self._why, self.form,
            self.try_button, self.trial, self.result, self.add_button, self.adding,
        )  # fmt: skip
        fill_column(self._body, *parts)
        spacing = tokens().spacing.medium
        fill_column(self, self.drop, self.inspection, self._body, spacing=spacing).addStretch(1)

    # -- what is shown

    def show_images(self, images: Sequence[Path]) -> None:
        self._images = tuple(images)
        self._arrange()

    def show_facts(self, facts: OnnxFacts) -> None:
        """Show what was found out about the file, and what is usual for it."""
        self.facts = facts
        usable = [output.name for output in facts.outputs if not output.refused]
        self._facts_text.setText("\n".join((file_facts(facts), *_other_notices(facts))))
        self._why.setText(self._why_text(facts))
        self.form.fill(facts.name, vars(facts.preprocessing), usable)
        self.form.side.setEnabled(facts.image_input.fixed_side is None)
        self._forget_trial()

    def _why_text(self, facts: OnnxFacts) -> str:
        if facts.is_declared:
            return tr("Preprocessing: %1.", facts.why)
        return tr("Check these settings: the file does not say how images were prepared. %1", sentence(facts.why))

    def show_trial(self, trial: Trial) -> None:
        self._result_text.setText(trial_text(trial))

    @property
    def result_text(self) -> str:
        return "" if self.result.isHidden() else self._result_text.text()

    def forget_file(self) -> None:
        """Start anew, after a file was added."""
        self.path = self.facts = None
        self._jobs.inspection.dismiss()
        self._forget_trial()

    def _forget_trial(self) -> None:
        """What was tried is no longer what would be added."""
        self._jobs.adding.dismiss()
        self._jobs.trial.dismiss()
        self._arrange()

    def _arrange(self) -> None:
        jobs = self._jobs
        is_known = self.facts is not None and not jobs.inspection.is_busy
        was_tried = jobs.trial.stage is Stage.DONE
        is_busy = jobs.trial.is_busy or jobs.adding.is_busy
        self._drop_text.setText(self._prompt())
        self.drop.setEnabled(not is_busy)
        self._body.setVisible(is_known)
        self.form.setEnabled(not is_busy)
        self.try_button.setText(trial_button(len(self._images)))
        self.try_button.setVisible(not jobs.trial.is_busy)
        self.try_button.setEnabled(bool(self._images) and self.form.is_usable and not is_busy)
        self.result.setVisible(was_tried)
        self.add_button.setVisible(not jobs.adding.is_busy)
        self.add_button.setEnabled(was_tried and self.form.is_usable)
        self.add_button.setToolTip("" if was_tried else tr("Try it first: only what works can be added"))
        for button, is_next in ((self.try_button, not was_tried), (self.add_button, was_tried)):
            set_variant(button, "primary" if is_next else "")

    def _prompt(self) -> str:
        if self.path is None:
            return tr(
                "Drop an ONNX file here: any network that turns an image into a vector or a feature map. It runs in a "
                "separate process and contacts no other computer."
            )
        return breakable(self.path.name)

    # -- what a person does

    def choose(self, path: Path) -> None:
        if self._jobs.trial.is_busy or self._jobs.adding.is_busy:
            return
        self.path, self.facts = path, None
        self._jobs.inspection.abandon()
        self._jobs.inspection.dismiss()
        self._forget_trial()
        self._jobs.inspect_file(path)

    def _on_choose(self) -> None:
        path = open_file(self, Purpose.BACKBONES, tr("Choose an ONNX file"), KINDS)
        if path is not None:
            self.choose(path)

    def _on_try(self) -> None:
        if self.path is not None and self.facts is not None:
            self._jobs.try_file(self.path, self.facts, self.form.values(), self._images)

    def _on_add(self) -> None:
        if self.path is not None:
            self._jobs.add_file(self.path, self.form.name.text().strip(), self.form.values())


def _other_notices(facts: OnnxFacts) -> list[str]:
    """What there is to know beside the settings, of which the form speaks itself."""
    from engine.backbones.onnx_files.facts import GUESS_NOTICE

    return [notice for notice in facts.notices if notice != GUESS_NOTICE]


def dropped_file(data: QMimeData) -> Path | None:
    """The ONNX file among what is dropped, if it is one file of this computer."""
    paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    return paths[0] if len(paths) == 1 and paths[0].suffix.lower() == SUFFIX else None
