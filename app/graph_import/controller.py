"""Controller of class list imports: compared in the background, applied in one undoable step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from app.actions.row import WRITE, Section, action
from app.feature import Imports
from app.file_dialogs import Purpose
from app.texts import marked, tr

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.graph_import.logic import GraphSurvey
    from app.graph_import.view import GraphImportCard
    from app.shell import Shell
    from engine.collection.importing.import_graph import GraphImport
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken


@final
class GraphImports(Imports["GraphImportCard"]):
    """Import classes from a file or folder."""

    guide_page = "taxonomy#importing-a-class-list"
    purpose = Purpose.CLASSES
    dialog_title = marked("Import classes")

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

    def make_card(self) -> GraphImportCard:
        from app.graph_import.view import GraphImportCard

        return GraphImportCard(self._host)

    def _file_kinds(self) -> str:
        from app.graph_import.logic import file_patterns

        return tr("Class lists ({1});;All files (*)", file_patterns())

    def _survey(
        self, project: Path, source: Path, given: Mapping[str, str], _cancel: CancelToken
    ) -> GraphSurvey:
        from app.graph_import.logic import survey_graph

        return survey_graph(project, source, given)

    def _job_title(self, name: str) -> str:
        return tr("Importing {1}", name)

    def _import(
        self,
        live: LiveCollection,
        survey: GraphSurvey,
        options: Mapping[str, Any],
        _cancel: CancelToken,
    ) -> GraphImport:
        from engine.collection.importing.import_graph import import_graph

        return import_graph(live.project, survey.source, read=survey.imported, **options)

    def _on_imported(self, done: GraphImport) -> None:
        """Report skipped entries; changes are shown by the views."""
        from app.graph_import.wording import stayed_text

        if done.stayed:
            self.show_undoable(stayed_text(done), is_failure=True)
        elif done.change.is_empty:
            self._toast.show_message(tr("Nothing was imported"))
