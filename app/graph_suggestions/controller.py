"""Suggestions about the graph: when they are looked for, and what becomes of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from app.actions.row import Section, action
from app.feature import PanelFeature
from app.graph_suggestions.search import SuggestionSearch
from app.texts import marked, tr

if TYPE_CHECKING:
    from app.graph_suggestions.view import SuggestionPanel
    from app.shell import Shell
    from engine.collection.graph_suggestions.suggestion import GraphSuggestion, GraphSuggestions
    from engine.project import Action, Change, Project


@final
class Suggesting(PanelFeature["SuggestionPanel"]):
    """Opens the panel and does what is accepted or dismissed there."""

    guide_page = "taxonomy#suggestions"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._search = SuggestionSearch(self._session, self._show, self)
        self._session.closed.connect(self.close_panel)

    @property
    def is_looking(self) -> bool:
        """Whether something else may be found in a moment."""
        return self._search.is_looking

    @action(
        "show_suggestions", marked("Suggestions for the graph"), "suggestion", "Ctrl+Shift+G", Section.CLASSES_GRAPH
    )
    def open_panel(self) -> None:
        """Show the panel in the place of the inspector; while it is in sight it keeps up with every change."""
        self.show_panel()

    def stop(self) -> None:
        """Look for nothing any more: the program ends."""
        self._search.stop()

    def make_panel(self) -> SuggestionPanel:
        from app.graph_suggestions.view import SuggestionPanel

        panel = SuggestionPanel(self._thumbnails)
        panel.shown.connect(lambda is_shown: self._search.want(is_wanted=is_shown))
        panel.accepted.connect(self._accept)
        panel.dismissed.connect(self._dismiss)
        panel.bring_back_requested.connect(self._bring_back)
        panel.image_requested.connect(self._shell.workspace.show_image)
        self._search.searching.connect(panel.show_searching)
        self._search.failed.connect(panel.show_failure)
        return panel

    def _show(self, found: GraphSuggestions | None) -> None:
        panel, info, state = self.panel, self._session.info, self._session.state
        if panel is None or info is None:
            return
        if found is None or state is None or not (found.check.asked or found.found):
            panel.show_nothing_known()
        else:
            panel.show_found(found, state, self._name_of, is_writable=info.is_writable)

    def _name_of(self, class_id: int) -> str:
        graph = self._session.graph
        return graph.name(class_id) if class_id in graph else tr("a removed class")

    def _accept(self, suggestion: GraphSuggestion, choice: int) -> None:
        from engine.collection.graph_suggestions.suggestion import UnderlabelledSuggestion

        if isinstance(suggestion, UnderlabelledSuggestion):
            self.close_panel()
            self._shell.tree.select_class(suggestion.underlabelled.class_id)
            return

        def work(project: Project) -> Change:
            from engine.collection.graph_suggestions.accepting import accept

            return accept(project, suggestion, choice)

        self._session.act(work)

    def _dismiss(self, suggestion: GraphSuggestion, called: Action) -> None:
        key = suggestion.key

        def work(project: Project) -> Change:
            from engine.collection.graph_suggestions.dismissed import dismiss

            return dismiss(project, [key], called)

        self._session.act(work)

    def _bring_back(self) -> None:
        def work(project: Project) -> Change:
            from engine.collection.graph_suggestions.dismissed import bring_back

            return bring_back(project)

        self._session.act(work)
