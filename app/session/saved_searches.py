"""Saved searches of the open project, with their numbers of images.

They are read and counted on the project thread, and changed by actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.live import LiveCollection
    from engine.project import Change

COUNT_MS = 500  # delay of counting after a change, so that it does not delay labels
TOPIC = "saved searches"


@dataclass(frozen=True)
class SavedSearch:
    """A named search."""

    name: str
    query: str
    count: int | None  # number of matching images; None where the query is no longer valid


def _read(live: LiveCollection) -> tuple[SavedSearch, ...]:
    from engine.collection.search.saved import saved_searches

    return tuple(
        SavedSearch(name, query, _count(live, query))
        for name, query in saved_searches(live.project).items()
    )


def _count(live: LiveCollection, query: str) -> int | None:
    from engine.collection.search.query import QueryError

    try:
        return len(live.metadata.search(query, live.state, live.project.classes.graph))
    except QueryError:
        return None


@final
class SavedSearches(QObject):
    """The saved searches of the session's project."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.searches: tuple[SavedSearch, ...] = ()
        self._session = session
        self._counting = QTimer(self, singleShot=True, interval=COUNT_MS)
        self._counting.timeout.connect(self._ask)
        session.loaded.connect(self._ask)
        session.state_changed.connect(self._on_state_changed)
        session.change_made.connect(self._on_change_made)
        session.closed.connect(lambda: self._show(()))

    def holds(self, query: str) -> bool:
        """Whether a query is saved already, under any name."""
        return any(each.query == query.strip() for each in self.searches)

    def save(self, query: str) -> None:
        """Save a query; its initial name is its text."""
        from engine.collection.search.saved import LONGEST_NAME, save_search

        self._session.act(lambda project: save_search(project, query[:LONGEST_NAME], query))

    def rename(self, name: str, new_name: str) -> None:
        from engine.collection.search.saved import rename_search

        self._session.act(lambda project: rename_search(project, name, new_name))

    def remove(self, name: str) -> None:
        from engine.collection.search.saved import remove_search

        self._session.act(lambda project: remove_search(project, name))

    def _on_state_changed(self, _state: object) -> None:
        if self.searches:
            self._counting.start()

    def _on_change_made(self, change: Change) -> None:
        from engine.collection.search.saved import SAVED_SETTING

        if SAVED_SETTING in change.settings:
            self._ask()

    def _ask(self) -> None:
        if self._session.state is not None:
            self._session.ask(_read, self._show, owner=self, topic=TOPIC)

    def _show(self, searches: tuple[SavedSearch, ...]) -> None:
        if searches != self.searches:
            self.searches = searches
            self.changed.emit()
