"""The card "Import classes": choose a file or folder, look through what would change, import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from app.controls import fill_column, make_flowing_label
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
from app.palette.import_card import ImportCard, PlanSection
from app.side_panel.cards import FailureNotice
from app.texts import tr
from app.theme.tokens import tokens
from app.wording import sentence

if TYPE_CHECKING:
    from app.graph_import.logic import GraphSurvey
    from engine.collection.importing.import_graph import GraphPreview
    from engine.interchange.versions.report import ReportKind

REASON_WIDTH: Final = 220
"""Logical pixels of the column that says why something stays."""


@final
class GraphImportCard(ImportCard["GraphSurvey"]):
    """Shows what importing a class list would do.

    Signals:
        import_requested: do what is shown; whether renames and the like are taken over, and whether classes that the
            file has no more are removed.

    Attributes:
        levels: how the list begins.
        update_box: whether renames and the like are taken over.
        sections: the lists of changes.
    """

    import_requested = Signal(bool, bool)

    def __init__(self, host: QWidget) -> None:
        words = tr(
            "Import classes from a file, or from folders named after classes. The format is recognised, and you see "
            "the result before anything changes."
        )
        super().__init__(host, tr("Import classes"), words)
        self.levels = FirstLevels()
        self.update_box = QCheckBox(update_choice())
        self.sections = self._make_sections()
        self._levels_text = make_flowing_label("", "secondary")
        self._besides = make_flowing_label("", "secondary")
        self._update_note = make_flowing_label("", "caption")
        self._problem = FailureNotice()
        self._update = QWidget()
        begin, tiny = QWidget(), tokens().spacing.tiny
        fill_column(self._update, self.update_box, self._update_note, spacing=tiny)
        fill_column(begin, self._levels_text, self.levels, spacing=tiny)
        self._fill(self._besides, self._update, self._problem, *self.sections.values(), begin)
        self.update_box.toggled.connect(lambda _is_on: self._show_choice())

    def _make_sections(self) -> dict[ReportKind, PlanSection]:
        class_, labels, now = tr("Class"), tr("Labels"), tr("Becomes")
        return {
            "new": PlanSection(tr("New classes"), (class_,)),
            "renamed": PlanSection(tr("Renamed classes"), (class_, now, labels)),
            "moved": PlanSection(tr("Moved classes"), (class_, tr("Now"), labels)),
            "merged": PlanSection(tr("Merged classes"), (class_, tr("Into"), labels)),
            "split": PlanSection(tr("Split classes"), (class_, tr("In the file"), labels)),
            "gone": PlanSection(tr("Classes that are gone"), (class_, labels)),
            "kept": PlanSection(
                tr("Classes that stay as they are"), (class_, tr("In the file"), tr("Why")), widest_last=REASON_WIDTH
            ),
            "removed_here": PlanSection(tr("Classes that were removed here"), (class_,)),
        }

    # -- what is shown

    @property
    def besides(self) -> str:
        """What else is to be said."""
        return self._besides.text()

    @property
    def problem(self) -> str:
        """Why what is chosen cannot be done."""
        return self._problem.text

    def _show_found(self, survey: GraphSurvey) -> None:
        """Show what would be done: all changes of a list that was imported before, else what is new."""
        self._update.setVisible(survey.updating is not None)
        self._update_note.setText(update_note(survey))
        self.levels.show_levels(survey.top)
        self.update_box.setChecked(survey.updating is not None and bool(survey.known_name or survey.adding is None))

    def _show_choice(self) -> None:
        """Show what the chosen way would do."""
        if self.survey is None:
            return
        preview = self._preview
        self._problem.show_text("" if preview else sentence(self.survey.failure))
        self.import_button.setEnabled(preview is not None and (preview.changes or not preview.is_known))
        for widget in (self._summary, self._besides):
            widget.setVisible(preview is not None)
        if preview is None:
            for section in self.sections.values():
                section.hide()
        else:
            self._show_preview(self.survey, preview)
        self._settle()

    def _show_preview(self, survey: GraphSurvey, preview: GraphPreview) -> None:
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
    def _preview(self) -> GraphPreview | None:
        survey = self.survey
        return None if survey is None else survey.preview(updates=self._updates)

    @property
    def _updates(self) -> bool:
        return self.survey is not None and self.survey.updating is not None and self.update_box.isChecked()

    # -- what the person does

    def _request(self) -> None:
        gone = self.sections["gone"]
        removes = self._updates and not gone.box.isHidden() and gone.box.isChecked()
        self.import_requested.emit(self._updates, removes)
