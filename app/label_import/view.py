"""The card "Import labels": choose a file or folder, look through what would be done, import."""

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLineEdit, QWidget

from app.controls import fill_column, make_button, make_flowing_label, make_label
from app.guide_page import set_guide_page
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
from app.palette.plan_section import MOST_ROWS, PlanSection
from app.palette.scrolling_card import ScrollingCard
from app.side_panel.failure import FailureNotice
from app.side_panel.progress import ProgressView
from app.texts import breakable, tr
from app.theme.tokens import tokens
from engine.files import shown

if TYPE_CHECKING:
    from app.label_import.logic import LabelSurvey
    from engine.events import Progress

WIDTH: Final = 720
"""Logical pixels."""


@final
class LabelImportCard(ScrollingCard):
    """Floats over the window; Enter imports, Esc or a click beside it changes nothing.

    Signals:
        file_requested, folder_requested: let the person choose one.
        import_requested: take over what is shown; whether classes are made, whether images are added, and whose labels
            they are where the source does not say.

    Attributes:
        who: that name.
        conflicts, class_conflicts, content_conflicts, contradictions: the lists of what is not clear.
        classes, suggestions, images, problems: the other lists.
    """

    file_requested = Signal()
    folder_requested = Signal()
    import_requested = Signal(bool, bool, str)

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, WIDTH, tr("Import labels"))
        set_guide_page(self, "exporting#importing-labels")
        self._survey: LabelSurvey | None = None
        self.file_button = make_button(tr("Choose a file…"), self.file_requested.emit, icon_name="file")
        self.folder_button = make_button(tr("Choose a folder…"), self.folder_requested.emit, icon_name="folder")
        self.failure = FailureNotice()
        self.progress = ProgressView(tr("Stop; nothing is imported"))
        self.import_button = make_button(tr("Import"), self._on_import, variant="primary")
        self.keep_button = make_button(tr("Cancel"), self.dismiss)
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
        self._name = make_flowing_label("", "strong")
        self._kind = make_flowing_label("", "secondary")
        self._summary = make_flowing_label("", "heading")
        self._passed_over = make_flowing_label("", "secondary")
        self.who = QLineEdit()
        self._whose = self._make_whose()
        self._start, self._plan, self._foot = self._make_start(), self._make_plan(), self._make_foot()
        self._fill_body()

    # -- putting together

    def _fill_body(self) -> None:
        spacing = tokens().spacing
        parts = (self._start, self._name, self._kind, self.failure, self.progress, self._plan)
        column = fill_column(self.body, *parts, spacing=spacing.small)
        column.setContentsMargins(spacing.large, spacing.small, spacing.large, spacing.small)
        column.addStretch(1)
        whole = self.panel.layout()
        assert whole is not None, "the card has one"
        whole.addWidget(self._foot)  # never scrolled away
        for section in (self.classes, self.images):
            section.box.toggled.connect(lambda _is_on: self._show_count())

    def _make_start(self) -> QWidget:
        start = QWidget()
        words = tr(
            "Import labels made in another program or project. The format is recognised, and you see the result "
            "before anything changes. Labels of this project are never overwritten."
        )
        buttons = QWidget()
        row = QHBoxLayout(buttons)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(tokens().spacing.small)
        row.addWidget(self.file_button)
        row.addWidget(self.folder_button)
        row.addStretch(1)
        drop = make_flowing_label(tr("Or drop a file of labels on the window."), "secondary")
        fill_column(start, make_flowing_label(words), buttons, drop)
        return start

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

    def _make_plan(self) -> QWidget:
        plan = QWidget()
        conflicts = self.conflicts, self.class_conflicts, self.content_conflicts, self.contradictions
        sections = (*conflicts, self.classes, self.suggestions, self.images, self.problems)
        fill_column(plan, self._summary, self._passed_over, self._whose, *sections, spacing=tokens().spacing.medium)
        return plan

    def _make_foot(self) -> QWidget:
        foot = QWidget()
        row = QHBoxLayout(foot)
        spacing = tokens().spacing
        row.setContentsMargins(spacing.large, spacing.small, spacing.large, spacing.small)
        row.setSpacing(spacing.small)
        row.addStretch(1)
        row.addWidget(self.keep_button)
        row.addWidget(self.import_button)
        return foot

    # -- what is shown

    @property
    def summary(self) -> str:
        """How much would be imported; "" while nobody knows."""
        return "" if self._plan.isHidden() else self._summary.text()

    @property
    def kind(self) -> str:
        return self._kind.text()

    @property
    def passed_over(self) -> str:
        """What the source says besides."""
        return self._passed_over.text()

    def show_start(self, failure: str = "") -> None:
        """Ask for a file or folder; say why the last one was none."""
        self._survey = None
        self._show_parts(start=True)
        self.failure.show_text(failure)
        self._appear()
        self.file_button.setFocus()

    def show_reading(self, name: str) -> None:
        """Say what is being read."""
        self._survey = None
        self._name.setText(breakable(shown(name)))
        self._show_parts(name=True, progress=True)
        self.failure.show_text("")
        self.progress.show_step(tr("Reading %1…", shown(name)))
        self._appear()
        self.progress.cancel_button.setFocus()

    def show_progress(self, progress: "Progress") -> None:
        """Show how far the reading is."""
        self.progress.show_progress(progress)

    def show_survey(self, survey: "LabelSurvey") -> None:
        """Show what would be imported."""
        plan = survey.plan
        self._survey = survey
        self._name.setText(breakable(shown(survey.source.name)))
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
        self._show_parts(name=True, plan=True)
        self.failure.show_text("")
        self._show_count()
        self._appear()
        first = self.import_button if self.import_button.isEnabled() else self.keep_button
        first.setFocus()

    def _show_parts(
        self, *, start: bool = False, name: bool = False, progress: bool = False, plan: bool = False
    ) -> None:
        self._start.setVisible(start)
        self._name.setVisible(name)
        self._kind.setVisible(plan)
        self.progress.setVisible(progress)
        self._plan.setVisible(plan)
        self._foot.setVisible(plan)

    def _appear(self) -> None:
        self.show_over()
        self.scroll_area.verticalScrollBar().setValue(0)
        self._settle()

    @property
    def _choices(self) -> tuple[bool, bool]:
        return self.classes.box.isChecked(), self.images.box.isChecked()

    def _show_count(self) -> None:
        if self._survey is not None:
            count = self._survey.counts[self._choices]
            self._summary.setText(summary_text(count))
            self.import_button.setText(import_button(count))
            self.import_button.setEnabled(count > 0)
            self._settle()

    # -- what the person does

    def _on_import(self) -> None:
        if self._survey is not None and self.import_button.isEnabled():
            self.import_requested.emit(*self._choices, self.who.text().strip())

    def wanted_height(self, width: int) -> int:
        """With the answers below what scrolls."""
        return super().wanted_height(width) + (0 if self._foot.isHidden() else self._foot.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter imports, from wherever the keyboard is but a button that says otherwise."""
        others = (self.keep_button, self.close_button, self.file_button, self.folder_button)
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and self._survey is not None and QApplication.focusWidget() not in others:
            self._on_import()
            return
        super().keyPressEvent(event)
