"""The card "Import classes": choose a file or folder, look through what would change, import."""

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QHBoxLayout, QWidget

from app.controls import fill_column, make_button, make_flowing_label
from app.graph_import.levels_view import FirstLevels
from app.graph_import.wording import (
    besides_text,
    import_button,
    is_all_new,
    kind_text,
    levels_text,
    remove_choice,
    section_rows,
    section_title,
    summary_text,
    update_choice,
    update_note,
)
from app.guide_page import set_guide_page
from app.palette.plan_section import PlanSection
from app.palette.scrolling_card import ScrollingCard
from app.side_panel.failure import FailureNotice
from app.side_panel.progress import ProgressView
from app.texts import breakable, tr
from app.theme.tokens import tokens
from app.wording import sentence
from engine.files import shown

if TYPE_CHECKING:
    from app.graph_import.logic import GraphSurvey
    from engine.collection.importing.import_graph import GraphPreview
    from engine.interchange.versions.report import ReportKind

WIDTH: Final = 720
"""Logical pixels."""

REASON_WIDTH: Final = 220
"""Logical pixels of the column that says why something stays."""


@final
class GraphImportCard(ScrollingCard):
    """Floats over the window; Enter imports, Esc or a click beside it changes nothing.

    Signals:
        file_requested, folder_requested: let the person choose one.
        import_requested: do what is shown; whether renames and the like are taken over, and whether classes that the
            file has no more are removed.

    Attributes:
        levels: how the list begins.
        update_box: whether renames and the like are taken over.
        sections: the lists of changes.
    """

    file_requested = Signal()
    folder_requested = Signal()
    import_requested = Signal(bool, bool)

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, WIDTH, tr("Import classes"))
        set_guide_page(self, "taxonomy#importing-a-class-list")
        self._survey: GraphSurvey | None = None
        self.file_button = make_button(tr("Choose a file…"), self.file_requested.emit, icon_name="file")
        self.folder_button = make_button(tr("Choose a folder…"), self.folder_requested.emit, icon_name="folder")
        self.failure = FailureNotice()
        self.progress = ProgressView(tr("Stop; nothing is imported"))
        self.import_button = make_button(tr("Import"), self._on_import, variant="primary")
        self.keep_button = make_button(tr("Cancel"), self.dismiss)
        self.levels = FirstLevels()
        self.update_box = QCheckBox(update_choice())
        self.sections = self._make_sections()
        self._name = make_flowing_label("", "strong")
        self._kind = make_flowing_label("", "secondary")
        self._levels_text = make_flowing_label("", "secondary")
        self._summary = make_flowing_label("", "heading")
        self._besides = make_flowing_label("", "secondary")
        self._update_note = make_flowing_label("", "caption")
        self._problem = FailureNotice()
        self._start, self._plan, self._foot = self._make_start(), self._make_plan(), self._make_foot()
        self._fill_body()

    # -- putting together

    def _make_sections(self) -> "dict[ReportKind, PlanSection]":
        class_, labels, now = tr("Class"), tr("Labels"), tr("Becomes")
        return {
            "new": PlanSection(tr("New classes"), (class_,)),
            "renamed": PlanSection(tr("Renamed classes"), (class_, now, labels)),
            "moved": PlanSection(tr("Moved classes"), (class_, tr("Now"), labels)),
            "merged": PlanSection(tr("Merged classes"), (class_, tr("Into"), labels)),
            "split": PlanSection(tr("Split classes"), (class_, tr("In the file"), labels)),
            "gone": PlanSection(tr("Classes that are gone"), (class_, labels)),
            "kept": PlanSection(
                tr("Classes that stay as they are"),
                (class_, tr("In the file"), tr("Why")),
                widest_last=REASON_WIDTH,
            ),
            "removed_here": PlanSection(tr("Classes that were removed here"), (class_,)),
        }

    def _fill_body(self) -> None:
        spacing = tokens().spacing
        parts = (self._start, self._name, self._kind, self.failure, self.progress, self._plan)
        column = fill_column(self.body, *parts, spacing=spacing.small)
        column.setContentsMargins(spacing.large, spacing.small, spacing.large, spacing.small)
        column.addStretch(1)
        whole = self.panel.layout()
        assert whole is not None, "the card has one"
        whole.addWidget(self._foot)  # never scrolled away
        self.update_box.toggled.connect(lambda _is_on: self._show_way())
        self.closed.connect(self._forget)

    def _make_start(self) -> QWidget:
        start = QWidget()
        words = tr(
            "Import classes from a file, or from folders named after classes. The format is recognised, and you see "
            "the result before anything changes."
        )
        buttons = QWidget()
        row = QHBoxLayout(buttons)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(tokens().spacing.small)
        row.addWidget(self.file_button)
        row.addWidget(self.folder_button)
        row.addStretch(1)
        fill_column(start, make_flowing_label(words), buttons)
        return start

    def _make_plan(self) -> QWidget:
        plan, update, begin = QWidget(), QWidget(), QWidget()
        tiny = tokens().spacing.tiny
        fill_column(update, self.update_box, self._update_note, spacing=tiny)
        fill_column(begin, self._levels_text, self.levels, spacing=tiny)
        self._update = update
        parts = (self._summary, self._besides, update, self._problem, *self.sections.values(), begin)
        fill_column(plan, *parts, spacing=tokens().spacing.medium)
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
        """How much would be done; "" while nobody knows."""
        return "" if self._plan.isHidden() else self._summary.text()

    @property
    def kind(self) -> str:
        return self._kind.text()

    @property
    def besides(self) -> str:
        """What else is to be said."""
        return self._besides.text()

    @property
    def problem(self) -> str:
        """Why what is chosen cannot be done."""
        return self._problem.text

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

    def show_survey(self, survey: "GraphSurvey") -> None:
        """Show what would be done: all changes of a list that was imported before, else what is new."""
        self._survey = survey
        self._name.setText(breakable(shown(survey.source.name)))
        self._update.setVisible(survey.updating is not None)
        self._update_note.setText(update_note(survey))
        self.levels.show_levels(survey.top)
        self.update_box.setChecked(survey.updating is not None and bool(survey.known_name or survey.adding is None))
        self._show_parts(name=True, plan=True)
        self.failure.show_text("")
        self._show_way()
        self._appear()
        first = self.import_button if self.import_button.isEnabled() else self.keep_button
        first.setFocus()

    def _show_way(self) -> None:
        """Show what the chosen way would do."""
        if self._survey is None:
            return
        preview = self._preview
        self._problem.show_text("" if preview else sentence(self._survey.failure))
        self.import_button.setEnabled(preview is not None and (preview.changes or not preview.is_known))
        for widget in (self._summary, self._besides):
            widget.setVisible(preview is not None)
        if preview is None:
            for section in self.sections.values():
                section.hide()
        else:
            self._show_preview(self._survey, preview)
        self._settle()

    def _show_preview(self, survey: "GraphSurvey", preview: "GraphPreview") -> None:
        report = preview.report
        self._kind.setText(kind_text(survey, report))
        self._levels_text.setText(levels_text(report))
        self._summary.setText(summary_text(preview))
        self._besides.setText(besides_text(survey, preview))
        self._besides.setVisible(bool(self._besides.text()))
        for kind, section in self.sections.items():
            lines = () if kind == "new" and is_all_new(report) else report.lists[kind]
            can_go = kind == "gone" and preview.gone_unlabelled > 0
            section.show_rows(
                section_title(kind, report), section_rows(kind, lines), total=report.counts[kind],
                choice=remove_choice(preview.gone_unlabelled) if can_go else "",
            )  # fmt: skip
        self.import_button.setText(import_button(preview))

    @property
    def _preview(self) -> "GraphPreview | None":
        survey = self._survey
        return None if survey is None else survey.preview(updates=self._updates)

    @property
    def _updates(self) -> bool:
        return self._survey is not None and self._survey.updating is not None and self.update_box.isChecked()

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

    def _forget(self) -> None:
        self._survey = None

    # -- what the person does

    def _on_import(self) -> None:
        if self._survey is not None and self.import_button.isEnabled():
            gone = self.sections["gone"]
            removes = self._updates and not gone.box.isHidden() and gone.box.isChecked()
            self.import_requested.emit(self._updates, removes)

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
