"""View of the "Import classes" card: source, preview of changes, import."""

from typing import Any, final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from app.controls import fill_column, make_flowing_label, show_text
from app.graph_import import wording
from app.graph_import.logic import FirstClass, GraphSurvey
from app.palette.import_card import ImportCard, PlanSection, more_text
from app.side_panel.cards import FailureNotice
from app.tables import dress_view
from app.texts import plain_tip, plural, tr
from app.theme.tokens import tokens
from app.wording import number, sentence
from engine.collection.importing.import_graph import GraphPreview
from engine.files import shown
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.versions.plan import ReportKind

ROWS_IN_SIGHT = 7  # visible rows
REASON_WIDTH = 220  # of the column of reasons, in logical pixels
_COUNTS = 1  # index of the column of numbers
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@final
class FirstLevels(QTreeWidget):
    """Tree of the first levels, with the number of descendants; expanded as far as rows fit."""

    def __init__(self) -> None:
        super().__init__()
        dress_view(self, tr("How the list begins"))
        self.setProperty("role", "preview")
        self.setHeaderLabels([tr("Class"), tr("Classes below")])
        self.setUniformRowHeights(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.headerItem().setTextAlignment(_COUNTS, _RIGHT)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(_COUNTS, QHeaderView.ResizeMode.ResizeToContents)

    @property
    def rows(self) -> list[tuple[int, str, str]]:
        """Level, name and count of each row."""
        found: list[tuple[int, str, str]] = []
        item = self.topLevelItem(0)
        while item is not None:
            level, above = 0, item.parent()
            while above is not None:
                level, above = level + 1, above.parent()
            found.append((level, item.text(0), item.text(_COUNTS)))
            item = self.itemBelow(item)
        return found

    def show_levels(self, top: FirstClass) -> None:
        self.clear()
        _fill(self.invisibleRootItem(), top)
        level = [self.invisibleRootItem()]
        in_sight = 0
        while level:
            below = [
                child
                for item in level
                for place in range(item.childCount())
                if (child := item.child(place))
            ]
            in_sight += len(below)
            if in_sight > ROWS_IN_SIGHT:
                break
            for item in level:
                item.setExpanded(True)
            level = below
        rows = max(1, min(len(self.rows), ROWS_IN_SIGHT))
        height = tokens().spacing.control_height - tokens().spacing.tiny
        self.setFixedHeight(
            self.header().sizeHint().height() + rows * max(height, self.sizeHintForRow(0)) + 2
        )


def _fill(root: QTreeWidgetItem, top: FirstClass) -> None:
    waiting = [(root, top)]
    for row, parent in waiting:  # grows during iteration
        for each in parent.children:
            item = QTreeWidgetItem(
                row, [shown(each.name), number(each.below) if each.below else ""]
            )
            item.setTextAlignment(_COUNTS, _RIGHT)
            item.setToolTip(0, plain_tip(shown(each.name)))
            waiting.append((item, each))
        if parent.more:
            rest = QTreeWidgetItem(row, [more_text(parent.more), ""])
            rest.setFlags(Qt.ItemFlag.NoItemFlags)


@final
class GraphImportCard(ImportCard["GraphSurvey"]):
    """Preview of importing a class list."""

    def __init__(self, host: QWidget) -> None:
        words = tr(
            "Import classes from a file, or from folders named after classes. The format is "
            "recognised, and you see "
            "the result before anything changes."
        )
        super().__init__(host, tr("Import classes"), words, purpose=TablePurpose.CLASSES)
        self.levels = FirstLevels()
        self.update_box = QCheckBox(tr("Also rename, move and merge classes as in the file"))
        self.sections = self._make_sections()
        self.left_out = PlanSection(tr("Skipped"), (tr("Reason"), tr("Example"), tr("Count")))
        self._levels_text = make_flowing_label("", "secondary")
        self.besides = make_flowing_label("", "secondary")
        self._update_note = make_flowing_label("", "caption")
        self.problem = FailureNotice()
        self._update = QWidget()
        begin, tiny = QWidget(), tokens().spacing.tiny
        fill_column(self._update, self.update_box, self._update_note, spacing=tiny)
        fill_column(begin, self._levels_text, self.levels, spacing=tiny)
        self._fill(
            self.besides,
            self._update,
            self.problem,
            *self.sections.values(),
            self.left_out,
            begin,
        )
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
                tr("Classes that stay as they are"),
                (class_, tr("In the file"), tr("Why")),
                widest_last=REASON_WIDTH,
            ),
            "removed_here": PlanSection(tr("Classes that were removed here"), (class_,)),
        }

    def _show_found(self, survey: GraphSurvey) -> None:
        """Show all changes of a list that was imported before, else the new classes."""
        self._update.setVisible(survey.updating is not None)
        self._update_note.setText(wording.update_note(survey))
        self.levels.show_levels(survey.top)
        self.update_box.setChecked(
            survey.updating is not None and bool(survey.known_name or survey.adding is None)
        )

    def _show_choice(self) -> None:
        if self.survey is None:
            return
        preview = self._preview
        self.problem.show_text("" if preview else sentence(self.survey.failure))
        self.import_button.setEnabled(
            preview is not None and (preview.changes or not preview.is_known)
        )
        for widget in (self._summary, self.besides):
            widget.setVisible(preview is not None)
        if preview is None:
            for section in (*self.sections.values(), self.left_out):
                section.hide()
        else:
            self._show_preview(self.survey, preview)
        self._settle()

    def _show_preview(self, survey: GraphSurvey, preview: GraphPreview) -> None:
        report = preview.report
        self.kind.setText(wording.kind_text(survey, report))
        self._levels_text.setText(wording.levels_text(report))
        self._summary.setText(wording.summary_text(preview))
        show_text(self.besides, wording.besides_text(survey, preview))
        self.left_out.show_rows(tr("Skipped"), wording.left_out_rows(report))
        for kind, section in self.sections.items():
            lines = () if kind == "new" and wording.is_all_new(report) else report.lists[kind]
            can_go = kind == "gone" and preview.gone_unlabelled > 0
            removal = plural(
                preview.gone_unlabelled,
                "Remove the one without labels",
                "Remove the {n} without labels",
            )
            section.show_rows(
                wording.section_title(kind, report),
                wording.section_rows(kind, lines),
                total=report.counts[kind],
                choice=removal if can_go else "",
            )
        self.import_button.setText(wording.import_button(preview))

    @property
    def _preview(self) -> GraphPreview | None:
        survey = self.survey
        return None if survey is None else survey.preview(updates=self._updates)

    @property
    def _updates(self) -> bool:
        return (
            self.survey is not None
            and self.survey.updating is not None
            and self.update_box.isChecked()
        )

    def _options(self) -> dict[str, Any]:
        gone = self.sections["gone"]
        removes = self._updates and not gone.box.isHidden() and gone.box.isChecked()
        return {"updates": self._updates, "removes_gone": removes}
