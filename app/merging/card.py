"""View of the "Merge another copy" card: file, preview of changes, merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from PySide6.QtWidgets import QWidget

from app.controls import make_flowing_label, show_text
from app.merging import wording
from app.palette.import_card import ImportCard, PlanSection
from app.texts import plural, tr
from app.wording import number
from engine.files import shown

if TYPE_CHECKING:
    from app.merging.logic import MergeSurvey


@final
class MergeCard(ImportCard["MergeSurvey"]):
    """Preview of a merge."""

    def __init__(self, host: QWidget) -> None:
        words = tr(
            "Merge another person's copy of this project: labels, classes and notes. Images are "
            "matched by content. You see the result before anything changes, and nothing of "
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
        self.labels = make_flowing_label("", "secondary")
        self._fill(
            self.labels,
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

    def _show_found(self, survey: MergeSurvey) -> None:
        plan = survey.plan
        self.kind.setText(wording.kind_text(survey))
        show_text(self.labels, wording.labels_text(plan))
        self.agreement.show_rows(
            wording.agreement_title(plan.agreement.exact), wording.agreement_rows(plan.agreement)
        )
        self.conflicts.show_rows(
            wording.conflicts_title(plan), (*plan.conflicts, *plan.comments), wording.conflict_row
        )
        self.classes.show_rows(
            plural(len(plan.classes.new), "1 new class", "{n} new classes"),
            plan.classes.new.values(),
            lambda new: (plan.classes.after.path_text(new),),
        )
        self.differences.show_rows(
            plural(
                len(plan.classes.differences),
                "1 class differs. Yours stays as it is.",
                "{n} classes differ. Yours stay as they are.",
            ),
            plan.classes.differences,
            wording.difference_row,
        )
        self.waiting.show_rows(
            wording.waiting_title(plan.waiting),
            plan.waiting,
            lambda waiting: (waiting.theirs, number(waiting.labels)),
        )
        self.outdated.show_rows(
            wording.outdated_title(len(plan.outdated)), plan.outdated, wording.outdated_row
        )
        found = len(survey.on_disk)
        self.missing.show_rows(
            plural(
                len(plan.missing),
                "1 image is not in your project",
                "{n} images are not in your project",
            ),
            sorted(plan.missing, key=lambda each: each.image_id not in survey.on_disk),
            lambda each: (
                shown(each.path),
                tr("Found", about="image") if each.image_id in survey.on_disk else tr("Not found"),
            ),
            choice=plural(
                found,
                "Add the one found on disk, with its label",
                "Add the {n} found on disk, with their labels",
            )
            if found
            else "",
            note="" if found else wording.not_found_text(survey.source),
        )
        self.other_content.show_rows(
            plural(
                len(plan.other_content),
                "1 image has the same path but is a different photo",
                "{n} images have the same path but are different photos",
            ),
            plan.other_content,
            lambda path: (shown(path),),
        )

    def _show_choice(self) -> None:
        if self.survey is not None:
            plan, adds_images = self.survey.plan, self.missing.box.isChecked()
            self._summary.setText(wording.summary_text(plan))
            self.import_button.setText(wording.merge_button(plan, adds_images))
            is_worth_it = plan.has_news or adds_images or bool(plan.conflicts or plan.comments)
            self.import_button.setEnabled(is_worth_it)
            self._settle()

    def _options(self) -> dict[str, Any]:
        return {"adds_images": self.missing.box.isChecked()}
