"""Controller of class list imports: compared in the background, applied in one undoable step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, final

from app.actions.row import WRITE, Section, action
from app.feature import Imports
from app.file_dialogs import Purpose
from app.texts import marked, tr
from engine.files import shown

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.graph_import.logic import GraphSurvey
    from app.graph_import.view import GraphImportCard
    from app.shell import Shell
    from engine.collection.importing.import_graph import GraphImport
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress


@final
class GraphImports(Imports["GraphImportCard"]):
    """Import classes from a file or folder."""

    guide_page = "taxonomy#importing-a-class-list"
    purpose = Purpose.CLASSES

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        shell.tree.requests.import_requested.connect(self.begin)

    @action(
        "import_classes",
        marked("Import classes from a file…"),
        "graph_import",
        "Ctrl+Shift+I",
        Section.FILE_IMPORT,
        needs=WRITE,
    )
    def import_classes(self) -> None:
        self.begin()

    def _make_card(self) -> GraphImportCard:
        from app.graph_import.view import GraphImportCard

        card = GraphImportCard(self._host)
        card.import_requested.connect(self._import)
        return card

    def _title(self) -> str:
        return tr("Import classes")

    def _file_kinds(self) -> str:
        from app.graph_import.logic import file_patterns

        return tr("Class lists (%1);;All files (*)", file_patterns())

    def _survey(
        self, project: Path, source: Path, given: Mapping[str, str], _cancel: CancelToken
    ) -> GraphSurvey:
        from app.graph_import.logic import survey_graph

        return survey_graph(project, source, given)

    def _import(self, updates: bool, removes_gone: bool) -> None:
        survey = None if self.card is None else self.card.survey
        if survey is None:
            return

        def work(
            live: LiveCollection, _on_progress: OnProgress, _cancel: CancelToken
        ) -> GraphImport:
            from engine.collection.importing.import_graph import import_graph

            return import_graph(
                live.project,
                survey.source,
                updates=updates,
                removes_gone=removes_gone,
                read=survey.imported,
            )

        self._take_over(tr("Importing %1", shown(survey.source.name)), work, self._on_imported)

    def _on_imported(self, done: GraphImport) -> None:
        """Report what was not imported; changes are shown by the views."""
        from app.graph_import.wording import stayed_text

        if done.stayed:
            self._toast.report_failure(
                stayed_text(done), action=tr("Undo"), on_action=self._session.undo
            )
        elif done.change.is_empty:
            self._toast.show_message(tr("Nothing was imported"))
