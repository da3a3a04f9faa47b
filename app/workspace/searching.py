"""Searches images on the project thread while the user types.

The newest query wins, and hits follow changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from app.session.subsets import ImageSet
from app.signal_types import either

if TYPE_CHECKING:
    from app.session import Session
    from engine.arrays import Flags, Integers
    from engine.collection.live import LiveCollection
    from engine.collection.state import CollectionState

TYPING_MS = 120  # delay after the last keystroke
CHANGES_MS = 400  # delay after the last change, so that a search does not delay labels
TOPIC = "search"


@final
class Searching(QObject):
    """One search of the open project."""

    # Hits of a new query; None: the search was cleared.
    found = Signal(either(ImageSet | None))
    followed = Signal(ImageSet)  # the hits of the same query have changed
    # Why the query is invalid, or finds nothing; "" where it finds images.
    explained = Signal(str)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self.text = ""
        self.hits: ImageSet | None = None
        self._session = session
        self._seen: CollectionState | None = None  # the state that was searched
        self._follows_details = False
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._typing.timeout.connect(lambda: self._ask(is_new=True))
        self._changes = QTimer(self, singleShot=True, interval=CHANGES_MS)
        self._changes.timeout.connect(lambda: self._ask(is_new=False))
        session.state_changed.connect(self._on_state_changed)

    def search(self, text: str, *, at_once: bool = False) -> None:
        """Search for a query; an empty one shows all images."""
        text = text.strip()
        if text == self.text and not at_once:
            return
        self.text = text
        self._changes.stop()
        if not text:
            self.clear()
        elif at_once:
            self._typing.stop()
            self._ask(is_new=True)
        else:
            self._typing.start()

    def clear(self) -> None:
        self._typing.stop()
        self._changes.stop()
        self._follows_details = False
        was_there, self.text, self.hits, self._seen = self.hits is not None, "", None, None
        self.explained.emit("")
        if was_there:
            self.found.emit(None)

    def follow_details(self) -> None:
        """Search again: more image metadata is available."""
        if self.text:
            self._follows_details = True
            self._changes.start()

    def _on_state_changed(self, state: CollectionState | None) -> None:
        if self.text and state is not None and state is not self._seen:
            self._changes.start()

    def _ask(self, *, is_new: bool) -> None:
        text = self.text
        if not text or self._session.state is None:
            return

        def question(live: LiveCollection) -> tuple[Integers | None, str, CollectionState]:
            from engine.collection.search.query import QueryError

            graph = live.project.classes.graph
            try:
                found = live.metadata.search(text, live.state, graph)
                why = None if len(found) else live.metadata.why_nothing(text, live.state, graph)
            except QueryError as error:
                return None, error.translated(), live.state
            return found, "" if why is None else why.translated(), live.state

        self._session.ask(
            question,
            lambda answer: self._on_answer(text, *answer, is_new=is_new),
            owner=self,
            topic=TOPIC,
        )

    def _on_answer(
        self,
        text: str,
        found: Integers | None,
        why: str,
        state: CollectionState,
        *,
        is_new: bool,
    ) -> None:
        if text != self.text:
            return
        self.explained.emit(why)
        if found is None:
            return
        before = self.hits
        is_other = before is None or not np.array_equal(before.image_ids, found)
        if is_other or before is None:
            self.hits = ImageSet(found, text)
        if is_new or before is None:
            self.found.emit(self.hits)
        elif is_other:
            self.followed.emit(self.hits)
        self._seen, self._follows_details = state, False

    def moved(self, state: CollectionState) -> Flags:
        """(n,) mask of images that may enter or leave the hits since the last search.

        Those whose label, note or field values have changed. Others stay, even where their
        prediction no longer matches.
        """
        seen = self._seen
        if (
            seen is None
            or self._follows_details
            or not np.array_equal(seen.image_ids, state.image_ids)
        ):
            return np.ones(len(state.image_ids), dtype=bool)
        is_moved = seen.label_class != state.label_class
        if seen.notes is not state.notes:
            noted = seen.notes.keys() | state.notes.keys()
            others = [each for each in noted if seen.notes.get(each) != state.notes.get(each)]
            is_moved |= np.isin(state.image_ids, np.array(others, dtype=np.int64))
        if seen.field_values is not state.field_values:
            were, are = seen.field_values, state.field_values
            others = [each for each in were.keys() | are.keys() if were.get(each) != are.get(each)]
            is_moved |= np.isin(state.image_ids, np.array(others, dtype=np.int64))
        return is_moved
