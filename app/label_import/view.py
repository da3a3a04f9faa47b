"""The card "Import labels": choose a file or folder, look through what would be done, import."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.controls import make_flowing_label, make_label
from app.label_import.wording import (
    add_images_text,
    class_conflict_rows,
    class_conflicts_title,
    class_rows,
    classes_title,
    conflict_rows,
    conflicts_title,
    content_conflict_rows,
    content_conflicts_title,
    contradictions_title,
    image_rows,
    images_title,
    import_button,
    kind_text,
    make_classes_text,
    none_found,
    passed_over,
    problems_title,
    suggestion_rows,
    suggestions_note,
    suggestions_title,
    summary_text,
)
from app.palette.import_card import MOST_ROWS, ImportCard, PlanSection
from app.texts import tr
from app.theme.tokens import tokens
from engine.files import shown

if TYPE_CHECKING:
    from app.label_import.logic import LabelSurvey


@final
class LabelImportCard(ImportCard["LabelSurvey"]):
    """Shows what importing labels would do.

    Signals:
        import_requested: take over what is shown; whether classes are made, whether images are added, and whose labels
            they are where the source does not say.

    Attributes:
        who: that name.
        conflicts, class_conflicts, content_conflicts, contradictions: the lists of what is not clear.
        classes, suggestions, images, problems: the other lists.
    """

    import_requested = Signal(bool, bool, str)

    def __init__(self, host: QWidget) -> None:
        words = tr(
            "Import labels made in another program or project. The format is recognised, and you see the result "
            "before anything changes. Labels of this project are never overwritten."
        )
        super().__init__(host, tr("Import labels"), words, tr("Or drop a file of labels on the window."))
        image, by = tr("Image"), tr("By")
        here, there = tr("In the project"), tr("In the file")
        self.conflicts = PlanSection(tr("Conflicts"), (image, here, there, by))
        self.contradictions = PlanSection(tr("Images with two classes"), (image, tr("Taken"), tr("Also"), by))
        self.class_conflicts = PlanSection(tr("Unclear classes"), (image, there, tr("By name"), tr("By id")))
        self.content_conflicts = PlanSection(tr("Other photos"), (image, here, tr("Reason")))
        self.classes = PlanSection(tr("Missing classes"), (tr("Class"), tr("Labels")))
        self.images = PlanSection(tr("Missing images"), (image, tr("File")))
        self.suggestions = PlanSection(tr("Keywords"), (tr("Keyword"), tr("Images")))
        self.problems = PlanSection(tr("Problems"), (tr("Problem"),))
        self._passed_over = make_flowing_label("", "secondary")
        self.who = QLineEdit()
        self._whose = self._make_whose()
        conflicts = self.conflicts, self.class_conflicts, self.content_conflicts, self.contradictions
        sections = (*conflicts, self.classes, self.suggestions, self.images, self.problems)
        self._fill(self._passed_over, self._whose, *sections)
        for section in (self.classes, self.images):
            section.box.toggled.connect(lambda _is_on: self._show_choice())

    def _make_whose(self) -> QWidget:
        whose = QWidget()
        row = QHBoxLayout(whose)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(tokens().spacing.small)
        label = make_label(tr("Labelled by"), "secondary")
        label.setBuddy(self.who)
        self.who.setAccessibleName(label.text())
        row.addWidget(label)
        row.addWidget(self.who, 1)
        return whose

    # -- what is shown

    @property
    def passed_over(self) -> str:
        """What the source says besides."""
        return self._passed_over.text()

    def _show_found(self, survey: LabelSurvey) -> None:
        """Show what would be imported."""
        plan = survey.plan
        self._kind.setText(kind_text(survey))
        self._passed_over.setText(passed_over(survey))
        self._passed_over.setVisible(bool(self._passed_over.text()))
        self.who.setText(shown(survey.source.name))
        self._whose.setVisible(survey.is_nameless)
        for section, found, title in (
            (self.conflicts, plan.conflicts, conflicts_title),
            (self.contradictions, plan.contradictions, contradictions_title),
        ):
            section.show_rows(title(len(found)), conflict_rows(found), total=len(found))
        count = len(plan.class_conflicts)
        self.class_conflicts.show_rows(
            class_conflicts_title(count), class_conflict_rows(plan.class_conflicts), total=count
        )
        count = len(plan.content_conflicts)
        self.content_conflicts.show_rows(
            content_conflicts_title(count), content_conflict_rows(plan.content_conflicts), total=count
        )
        count = len(plan.new_classes)
        self.classes.show_rows(classes_title(count), class_rows(survey), total=count, choice=make_classes_text(count))
        count, found_on_disk = len(survey.missing_images), len(survey.on_disk)
        self.images.show_rows(
            images_title(count), image_rows(survey), total=count,
            choice=add_images_text(found_on_disk) if found_on_disk else "", note="" if found_on_disk else none_found(),
        )  # fmt: skip
        keywords, count = suggestion_rows(survey), len(plan.suggestions)
        self.suggestions.show_rows(suggestions_title(count), keywords, total=count, note=suggestions_note())
        problems = plan.problems[:MOST_ROWS]
        self.problems.show_rows(
            problems_title(len(plan.problems)), [(shown(each),) for each in problems], total=len(plan.problems)
        )

    @property
    def _choices(self) -> tuple[bool, bool]:
        return self.classes.box.isChecked(), self.images.box.isChecked()

    def _show_choice(self) -> None:
        if self.survey is not None:
            count = self.survey.counts[self._choices]
            self._summary.setText(summary_text(count))
            self.import_button.setText(import_button(count))
            self.import_button.setEnabled(count > 0)
            self._settle()

    # -- what the person does

    def _request(self) -> None:
        self.import_requested.emit(*self._choices, self.who.text().strip())
