"""Line below the images with the class to label next, while some have no examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QObject

from app.texts import shortened, tr
from engine.texts import translated

if TYPE_CHECKING:
    from app.session import Session
    from app.status.notice import Notice
    from engine.collection.live import LiveCollection
    from engine.collection.recommendations import Recommendation
    from engine.everyday.unseen import ClassesSeen

TOPIC: Final = "class to label next"
LONGEST_NAME: Final = 40  # maximum length of a class name


@final
class ClassGuide(QObject):
    """Notice from the first label until all classes have examples, or until dismissed.

    Args:
        show_class: opens a class.
        is_free: whether no other notice is shown.
    """

    def __init__(
        self,
        session: Session,
        notice: Notice,
        show_class: Callable[[int], object],
        is_free: Callable[[], bool],
    ) -> None:
        super().__init__(notice)
        self._session = session
        self._notice = notice
        self._show_class = show_class
        self._is_free = is_free
        self._shown: Recommendation | None = None
        self._is_dismissed = False
        session.state_changed.connect(self.look)
        session.closed.connect(self._on_closed)

    def look(self) -> None:
        """Update the class to label next."""
        state, info = self._session.state, self._session.info
        is_dismissed = self._was_dismissed()
        if state is None or info is None or state.unseen is None:
            self._hide()
            return
        is_shown = self._shown is not None and _counts(self._shown.unseen) == _counts(state.unseen)
        is_wanted = info.is_writable and self._is_free() and not is_dismissed
        if is_wanted and not is_shown:
            self._session.ask(_next_class, self._on_next_class, owner=self, topic=TOPIC)

    def _on_next_class(self, found: Recommendation | None) -> None:
        graph = self._session.graph
        if self._was_dismissed() or not self._is_free():
            return
        if found is None or found.class_ids[0] not in graph:
            self._hide()
            return
        class_id = found.class_ids[0]
        words = found.text(lambda each: shortened(graph.shown_name(each), LONGEST_NAME))
        self._shown = found
        self._notice.ask(translated(words), [(tr("Show the class"), lambda: self._open(class_id))])

    def _was_dismissed(self) -> bool:
        self._is_dismissed |= self._shown is not None and self._notice.isHidden()
        return self._is_dismissed

    def _open(self, class_id: int) -> None:
        self._notice.show()  # answering hides it
        if class_id in self._session.graph:
            self._show_class(class_id)

    def _hide(self) -> None:
        self._shown = None
        self._notice.hide()

    def _on_closed(self) -> None:
        self._hide()
        self._is_dismissed = False


def _counts(unseen: ClassesSeen | None) -> tuple[int, int] | None:
    return None if unseen is None else (unseen.seen, unseen.unseen)


def _next_class(live: LiveCollection) -> Recommendation | None:
    from engine.collection.recommendations import next_class_of

    return next_class_of(live)
