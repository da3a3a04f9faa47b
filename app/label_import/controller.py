"""Controller of label imports: compared on a thread, applied in one undoable step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from app.actions.row import WRITE_FOR_GOOD, Section, action
from app.feature import Imports
from app.file_dialogs import Purpose
from app.texts import marked, tr
from engine.files import shown

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.label_import.logic import LabelSurvey
    from app.label_import.view import LabelImportCard
    from app.shell import Shell
    from engine.collection.importing.import_labels import LabelImport
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken


@final
class LabelImports(Imports["LabelImportCard"]):
    """Imports labels, also from dropped files."""

    guide_page = "exporting#importing-labels"
    purpose = Purpose.LABELS
    dialog_title = marked("Import labels")

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        shell.files_given.connect(self.take_dropped)

    @action(
        "import_labels",
        marked("Import labels…"),
        "label",
        "Ctrl+Shift+L",
        Section.FILE_IMPORT,
        needs=WRITE_FOR_GOOD,
    )
    def import_labels(self) -> None:
        self.begin()

    def make_card(self) -> LabelImportCard:
        from app.label_import.view import LabelImportCard

        return LabelImportCard(self._host)

    def _file_kinds(self) -> str:
        return tr(
            "Labels (*.csv *.tsv *.txt *.xlsx *.ods *.jsonl *.json *.xml *.zip "
            "*.parquet);;All files (*)"
        )

    def _survey(
        self, project: Path, source: Path, given: Mapping[str, str], cancel: CancelToken
    ) -> LabelSurvey:
        from app.label_import.logic import survey_labels

        return survey_labels(project, source, cancel, columns=given)

    def take_dropped(self, paths: Sequence[Path]) -> None:
        """Read a dropped file of labels; add other files as images."""
        from app.label_import.logic import may_be_labels
        from engine.collection.importing.label_plan import is_label_file

        if not self._session.is_writable or len(paths) != 1 or not may_be_labels(paths[0]):
            self._shell.images_given.emit(paths, None)
            return
        source = paths[0]
        self._session.read_files(
            tr("Reading {1}", shown(source.name)),
            lambda _on_progress, _cancel: is_label_file(source),
            lambda found: (
                self.read(source) if found else self._shell.images_given.emit(paths, None)
            ),
        )

    def _job_title(self, name: str) -> str:
        return tr("Importing labels from {1}", name)

    def _import(
        self,
        live: LiveCollection,
        survey: LabelSurvey,
        options: Mapping[str, Any],
        cancel: CancelToken,
    ) -> LabelImport:
        from engine.collection.importing.import_labels import import_labels

        survey.contents.cancel = cancel
        return import_labels(
            live.project, survey.source, read=survey.read, contents=survey.contents, **options
        )

    def _on_imported(self, done: LabelImport) -> None:
        from app.label_import.wording import done_text

        if done.change.is_empty:
            self._toast.show_message(tr("Nothing was imported"))
        else:
            self.show_undoable(done_text(done), is_failure=bool(done.plan.conflicts))
