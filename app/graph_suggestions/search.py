"""Looks for suggestions whenever the collection has come to rest, on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs.background_thread import DetachedJob
from app.texts import tr

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.graph_suggestions.find import SuggestionInput
    from engine.collection.graph_suggestions.suggestion import GraphSuggestions
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress

TOPIC: Final = "graph suggestions"
REST_MS: Final = 250  # the collection must be left alone so long: who labels quickly is not slowed down


@final
class SuggestionSearch(QObject):
    """Finds suggestions again after every change, while somebody looks.

    Args:
        on_found: called with suggestions; with None while nothing can be said.
    """

    searching = Signal()
    failed = Signal(str)  # why it could not, in a sentence

    def __init__(
        self, session: Session, on_found: Callable[[GraphSuggestions | None], None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._on_found = on_found
        self._session = session
        self._is_wanted = self._is_asked = False
        self._job: DetachedJob | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._ask)
        session.state_changed.connect(self._on_changed)
        session.change_made.connect(self._on_changed)
        session.fitting_changed.connect(self._on_changed)
        session.closed.connect(self.stop)

    @property
    def is_looking(self) -> bool:
        """Whether something else may be found in a moment."""
        return self._is_asked or self._rest.isActive() or self._job is not None

    def want(self, *, is_wanted: bool) -> None:
        """Look now and after every change, or no longer."""
        if is_wanted and not self._is_wanted:
            self._is_wanted = True
            self._ask()
        elif not is_wanted:
            self.stop()

    def stop(self) -> None:
        self._is_wanted = self._is_asked = False
        self._rest.stop()
        if self._job is not None:
            self._job.stop()
        self._job = None

    def _on_changed(self, _news: object) -> None:
        if self._is_wanted:
            self._drop_job()
            self._rest.start()

    def _ask(self) -> None:
        if self._session.info is None:
            return
        self._is_asked = True
        self.searching.emit()
        self._session.ask(_given, self._on_given, owner=self, topic=TOPIC)

    def _on_given(self, given: SuggestionInput | None) -> None:
        self._is_asked = False
        if not self._is_wanted or self._rest.isActive():
            return
        if given is None:
            self._on_found(None)
            return
        self._drop_job()

        def work(_on_progress: OnProgress, cancel: CancelToken) -> GraphSuggestions:
            from engine.collection.graph_suggestions.find import find_suggestions

            return find_suggestions(given, cancel)

        job = self._job = DetachedJob(tr("Looking for suggestions"), work, self)
        job.finished.connect(self._on_finished)
        job.failed.connect(self._on_failed)
        job.ended.connect(job.deleteLater)
        job.start()

    def _on_finished(self, found: GraphSuggestions) -> None:
        self._job = None
        self._on_found(found)

    def _on_failed(self, message: str) -> None:
        self._job = None
        self.failed.emit(message)

    def _drop_job(self) -> None:
        if self._job is not None:
            self._job.cancel()
        self._job = None


def _given(live: LiveCollection) -> SuggestionInput | None:
    from engine.collection.graph_suggestions.find import suggestion_input

    return suggestion_input(live)
