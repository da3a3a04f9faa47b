"""Search for suggestions about the graph while the collection is idle, and apply the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QTimer

from app.actions.row import Section, action
from app.feature import PanelFeature
from app.jobs.slot import JobSlot
from app.texts import marked, tr

if TYPE_CHECKING:
    from app.graph_suggestions.view import SuggestionPanel
    from app.shell import Shell
    from engine.collection.graph_suggestions.find import SuggestionInput
    from engine.collection.graph_suggestions.suggestion import GraphSuggestion, GraphSuggestions
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress

TOPIC = "graph suggestions"
# Debounce: time without a change before a search, so that fast labelling is not slowed down.
REST_MS = 250


@final
class Suggesting(PanelFeature["SuggestionPanel"]):
    """Show suggestions, refresh them after changes while the panel is visible, apply answers."""

    guide_page = "taxonomy#suggestions"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._is_wanted = self._is_user_request = False
        self._looking = JobSlot(parent=self)
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._ask)
        session = self._session
        for changed in (session.state_changed, session.change_made, session.fitting_changed):
            changed.connect(self._on_changed)
        session.closed.connect(self.stop)
        session.closed.connect(self.close_panel)

    @action(
        "show_suggestions",
        marked("Suggestions for the graph"),
        "suggestion",
        "Ctrl+Shift+G",
        Section.CLASSES_GRAPH,
    )
    def open_panel(self) -> None:
        self.show_panel()

    def make_panel(self) -> SuggestionPanel:
        from app.graph_suggestions.view import SuggestionPanel

        panel = SuggestionPanel(self._thumbnails)
        panel.shown.connect(self._on_panel_shown)
        panel.accepted.connect(self._accept)
        panel.dismissed.connect(self._dismiss)
        panel.bring_back_requested.connect(self._bring_back)
        panel.image_requested.connect(self._shell.workspace.show_image)
        return panel

    @property
    def is_looking(self) -> bool:
        """Whether a search is pending or running."""
        return self._is_user_request or self._rest.isActive() or self._looking.is_busy

    def stop(self) -> None:
        self._is_wanted = self._is_user_request = False
        self._rest.stop()
        self._looking.stop()

    def _on_panel_shown(self, is_shown: bool) -> None:
        if not is_shown:
            self.stop()
        elif not self._is_wanted:
            self._is_wanted = True
            self._ask()

    def _on_changed(self, _news: object) -> None:
        if self._is_wanted:
            self._looking.abandon()
            self._rest.start()

    def _ask(self) -> None:
        if self._session.info is not None and self.panel is not None:
            self._is_user_request = True
            self.panel.show_searching()
            self._session.ask(_given, self._on_given, owner=self, topic=TOPIC)

    def _on_given(self, given: SuggestionInput | None) -> None:
        self._is_user_request = False
        if not self._is_wanted or self._rest.isActive():
            return
        if given is None:
            self._show(None)
            return

        def work(_on_progress: OnProgress, cancel: CancelToken) -> GraphSuggestions:
            from engine.collection.graph_suggestions.find import find_suggestions

            return find_suggestions(given, cancel)

        title = tr("Looking for suggestions")
        self._looking.start(title, work, self._show, self._on_failed, replaces=True)

    def _show(self, found: GraphSuggestions | None) -> None:
        """Show search results; None without predictions."""
        panel, info, state = self.panel, self._session.info, self._session.state
        if panel is None or info is None:
            return
        if found is None or state is None or not (found.check.asked or found.found):
            panel.show_nothing_known()
        else:
            panel.show_found(found, state, self._name_of, is_writable=info.is_writable)

    def _on_failed(self, message: str) -> None:
        if self.panel is not None:
            self.panel.show_failure(message)

    def _name_of(self, class_id: int) -> str:
        graph = self._session.graph
        return graph.shown_name(class_id) if class_id in graph else tr("a removed class")

    def _accept(self, suggestion: GraphSuggestion, choice: int) -> None:
        from engine.collection.graph_suggestions.suggestion import UnderlabelledClass, accept

        subject = suggestion.subject
        if isinstance(subject, UnderlabelledClass):
            self.close_panel()
            self._shell.tree.select_class(subject.class_id)
        else:
            self._session.act(lambda project: accept(project, subject, choice))

    def _dismiss(self, suggestion: GraphSuggestion) -> None:
        from engine.collection.graph_suggestions.suggestion import dismiss, dismissal

        self._session.act(
            lambda project: dismiss(
                project, [suggestion.key], dismissal(suggestion.subject, project.classes.graph)
            )
        )

    def _bring_back(self) -> None:
        from engine.collection.graph_suggestions.suggestion import bring_back

        self._session.act(bring_back)


def _given(live: LiveCollection) -> SuggestionInput | None:
    from engine.collection.graph_suggestions.find import suggestion_input

    return suggestion_input(live)
