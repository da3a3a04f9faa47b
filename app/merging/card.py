"""View of the "Merge another copy" card: file, preview of changes, merge."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.controls import make_flowing_label
from app.merging import wording
from app.palette.import_card import MOST_ROWS, ImportCard, PlanSection
from app.texts import tr
from app.wording import number
from engine.files import shown

if TYPE_CHECKING:
    from app.merging.logic import MergeSurvey


@final
class MergeCard(ImportCard["MergeSurvey"]):
    """Preview of a merge."""

    merge_requested = Signal(bool)  # whether to add images

    def __init__(self, host: QWidget) -> None:
        words = tr(
            "Bring in what another person did in their copy of this project: labels, classes and "
            "notes. Images are "
            "matched by their content. You see the result before anything changes, and nothing of "
            "yours is overwritten."
        )
        super().__init__(host, tr("Merge another copy"), words)
        self.folder_button.hide()
        image, by = tr("Image"), tr("By")
        self.agreement = PlanSection(
            tr("Agreement"),
            (tr("Compared"), tr("Images"), tr("Equal"), tr("Kappa"), tr("95% interval")),
        )
        self.conflicts = PlanSection(tr("Conflicts"), (image, tr("Yours"), by, tr("Theirs"), by))
        self.classes = PlanSection(tr("New classes"), (tr("Class"),))
        self.differences = PlanSection(
            tr("Classes that differ"), (tr("There"), tr("Here"), tr("Difference")), widest_last=320
        )
        self.waiting = PlanSection(tr("Labels left out"), (tr("Class"), tr("Labels")))
        self.outdated = PlanSection(tr("Labels left out"), (image, tr("Class"), by))
        self.missing = PlanSection(tr("Missing images"), (image, tr("File")))
        self.other_content = PlanSection(tr("Different photos"), (image,))
        self._labels = make_flowing_label("", "secondary")
        self._fill(
            self._labels,
            self.agreement,
            self.conflicts,
            self.classes,
            self.differences,
            self.waiting,
            self.outdated,
            self.missing,
            self.other_content,
        )
        self.missing.box.toggled.connect(lambda _is_on: self._show_choice())

    @property
    def labels_text(self) -> str:
        return self._labels.text()

    def _show_found(self, survey: MergeSurvey) -> None:
        plan = survey.plan
        self._kind.setText(wording.kind_text(survey))
        self._labels.setText(wording.labels_text(plan))
        self._labels.setVisible(bool(self._labels.text()))
        exact = plan.agreement.exact
        rows = wording.agreement_rows(plan.agreement) if exact.images else []
        self.agreement.show_rows(wording.agreement_title(exact), rows, total=len(rows))
        disputed = len(plan.conflicts) + len(plan.comments)
        self.conflicts.show_rows(
            wording.conflicts_title(plan), wording.conflict_rows(plan), total=disputed
        )
        new = [
            (plan.classes.after.path_text(each),)
            for each in islice(plan.classes.new.values(), MOST_ROWS)
        ]
        self.classes.show_rows(
            wording.classes_title(len(plan.classes.new)), new, total=len(plan.classes.new)
        )
        differences = plan.classes.differences
        title, rows = (
            wording.differences_title(len(differences)),
            wording.difference_rows(differences),
        )
        self.differences.show_rows(title, rows, total=len(differences))
        rows = [(each.theirs, number(each.labels)) for each in plan.waiting[:MOST_ROWS]]
        self.waiting.show_rows(wording.waiting_title(plan.waiting), rows, total=len(plan.waiting))
        title, rows = (
            wording.outdated_title(len(plan.outdated)),
            wording.outdated_rows(plan.outdated),
        )
        self.outdated.show_rows(title, rows, total=len(plan.outdated))
        self._show_missing(survey)
        rows = [(shown(path),) for path in plan.other_content[:MOST_ROWS]]
        count = len(plan.other_content)
        self.other_content.show_rows(wording.other_content_title(count), rows, total=count)

    def _show_missing(self, survey: MergeSurvey) -> None:
        count, found = len(survey.plan.missing), len(survey.on_disk)
        choice = wording.add_images_text(found) if found else ""
        note = "" if found else wording.not_found_text(survey.source)
        title, rows = wording.missing_title(count), wording.missing_rows(survey)
        self.missing.show_rows(title, rows, total=count, choice=choice, note=note)

    def _show_choice(self) -> None:
        if self.survey is not None:
            plan, adds_images = self.survey.plan, self.missing.box.isChecked()
            self._summary.setText(wording.summary_text(plan))
            self.import_button.setText(wording.merge_button(plan, adds_images))
            is_worth_it = plan.has_news or adds_images or bool(plan.conflicts or plan.comments)
            self.import_button.setEnabled(is_worth_it)
            self._settle()

    def _request(self) -> None:
        self.merge_requested.emit(self.missing.box.isChecked())
