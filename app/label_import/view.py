"""View of the "Import labels" card: source, preview of changes, import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from PySide6.QtWidgets import QLineEdit, QSpinBox, QWidget

from app.controls import dress_number_box, fill_row, make_flowing_label, make_label, show_text
from app.label_import import wording
from app.palette.import_card import ImportCard, PlanSection
from app.texts import plural, tr
from app.wording import percent_sign
from engine.detection.detections import THRESHOLD
from engine.files import shown
from engine.interchange.tables.dialects import TablePurpose
from engine.texts import translated

if TYPE_CHECKING:
    from app.label_import.logic import LabelSurvey


@final
class LabelImportCard(ImportCard["LabelSurvey"]):
    """Preview of importing labels."""

    def __init__(self, host: QWidget) -> None:
        words = tr(
            "Import labels made in another program or project. The format is recognised, and you "
            "see the result "
            "before anything changes. Labels of this project are never overwritten."
        )
        hint = tr("Or drop a file of labels on the window.")
        super().__init__(host, tr("Import labels"), words, hint, purpose=TablePurpose.LABELS)
        image, by = tr("Image"), tr("By")
        here, there = tr("In the project"), tr("In the file")
        self.conflicts = PlanSection(tr("Conflicts"), (image, here, there, by))
        self.contradictions = PlanSection(
            tr("Images with two classes"), (image, tr("Class used"), tr("Also"), by)
        )
        self.class_conflicts = PlanSection(
            tr("Ambiguous classes"), (image, there, tr("By name"), tr("By id"))
        )
        self.content_conflicts = PlanSection(tr("Different photos"), (image, here, tr("Reason")))
        self.classes = PlanSection(tr("Missing classes"), (tr("Class"), tr("Labels")))
        self.images = PlanSection(tr("Missing images"), (image, tr("File")))
        self.suggestions = PlanSection(tr("Keywords"), (tr("Keyword"), tr("Images")))
        self.problems = PlanSection(tr("Problems"), (tr("Problem"),))
        self.passed_over = make_flowing_label("", "secondary")
        self.who = QLineEdit()  # annotator of nameless labels
        label = make_label(tr("Labelled by"), "secondary")
        label.setBuddy(self.who)
        self.who.setAccessibleName(label.text())
        self._whose = QWidget()
        fill_row(self._whose, label, self.who)
        # Minimum score of detected boxes, in percent.
        self.threshold = dress_number_box(QSpinBox())
        self.threshold.setRange(0, 100)
        self.threshold.setSingleStep(5)
        self.threshold.setSuffix(percent_sign())
        self.threshold.setValue(round(100 * THRESHOLD))
        self.threshold.valueChanged.connect(lambda _percent: self._show_choice())
        score = make_label(tr("Boxes with a score of at least"), "secondary")
        score.setBuddy(self.threshold)
        self.threshold.setAccessibleName(score.text())
        self._boxes = make_flowing_label("", "secondary")
        self._scores = QWidget()
        fill_row(self._scores, score, self.threshold)
        conflicts = (
            self.conflicts,
            self.class_conflicts,
            self.content_conflicts,
            self.contradictions,
        )
        sections = (*conflicts, self.classes, self.suggestions, self.images, self.problems)
        self._fill(self.passed_over, self._scores, self._boxes, self._whose, *sections)
        for section in (self.classes, self.images):
            section.box.toggled.connect(lambda _is_on: self._show_choice())

    def _show_found(self, survey: LabelSurvey) -> None:
        plan = survey.plan
        self.kind.setText(wording.kind_text(survey))
        show_text(self.passed_over, wording.passed_over(survey))
        self.who.setText(shown(survey.source.name))
        self._whose.setVisible(survey.is_nameless)
        self._scores.setVisible(plan.has_scores)
        self._boxes.setVisible(bool(plan.new_parts))
        self.conflicts.show_rows(
            wording.conflicts_title(len(plan.conflicts)), plan.conflicts, wording.conflict_row
        )
        self.contradictions.show_rows(
            plural(
                len(plan.contradictions),
                "1 image has two classes in the file. The first is taken.",
                "{n} images have two classes in the file. The first is taken.",
            ),
            plan.contradictions,
            wording.conflict_row,
        )
        self.class_conflicts.show_rows(
            wording.class_conflicts_title(len(plan.class_conflicts)),
            plan.class_conflicts,
            wording.class_conflict_row,
        )
        self.content_conflicts.show_rows(
            wording.content_conflicts_title(len(plan.content_conflicts)),
            plan.content_conflicts,
            wording.content_conflict_row,
        )
        count = len(plan.new_classes)
        self.classes.show_rows(
            plural(count, "1 class is not in the project", "{n} classes are not in the project"),
            plan.new_classes.items(),
            wording.class_row,
            choice=plural(count, "Create this class", "Create these classes"),
        )
        count, on_disk = len(survey.missing_images), len(survey.on_disk)
        choice = plural(on_disk, "Add the one found on disk", "Add the {n} found on disk")
        self.images.show_rows(
            plural(count, "1 image is not in the project", "{n} images are not in the project"),
            survey.missing_images,
            lambda image: wording.image_row(image, is_found=image in survey.on_disk),
            choice=choice if on_disk else "",
            note="" if on_disk else tr("None of them was found on disk."),
        )
        self.suggestions.show_rows(
            wording.suggestions_title(len(plan.suggestions)),
            plan.suggestions.items(),
            wording.suggestion_row,
            note=tr("To use one, create a class of this name and import again."),
        )
        self.problems.show_rows(
            plural(len(plan.problems), "1 line skipped", "{n} lines skipped"),
            plan.problems,
            lambda problem: (shown(translated(problem)),),
        )

    @property
    def _least_score(self) -> float:
        return self.threshold.value() / 100

    @property
    def _choices(self) -> tuple[bool, bool]:
        return self.classes.box.isChecked(), self.images.box.isChecked()

    def _show_choice(self) -> None:
        if self.survey is not None:
            count, plan = self.survey.counts[self._choices], self.survey.plan
            boxes = plan.boxes(self._least_score)
            self._boxes.setText(wording.boxes_text(boxes, len(plan.new_parts)))
            self._summary.setText(wording.summary_text(count, boxes))
            self.import_button.setText(wording.import_button(count))
            self.import_button.setEnabled(count > 0 or boxes > 0 or bool(plan.notes))
            self._settle()

    def _options(self) -> dict[str, Any]:
        adds_classes, adds_images = self._choices
        return {
            "adds_classes": adds_classes,
            "adds_images": adds_images,
            "who": self.who.text().strip(),
            "threshold": self._least_score,
        }
