"""Questions to the collection: answered on the project thread, delivered only where the answer is still wanted."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, final

import shiboken6
from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection

T = TypeVar("T")
OnProject = Callable[["Callable[[LiveCollection], None]"], None]


@final
class Questions:
    """Keeps track of what was asked last.

    Args:
        on_project: runs work on the project thread.
        post: calls something on the GUI thread.
    """

    def __init__(self, on_project: OnProject, post: Callable[[Callable[[], None]], None]) -> None:
        self._on_project = on_project
        self._post = post
        self._newest: dict[str, int] = {}
        self._count = 0
        self._epoch = 0  # one more with every project that is left: answers about it are dropped

    def ask(
        self, question: "Callable[[LiveCollection], T]", on_answer: Callable[[T], None], *, owner: QObject, topic: str
    ) -> None:
        """Ask the collection; see `Session.ask`."""
        self._count += 1
        number, epoch = self._count, self._epoch
        self._newest[topic] = number

        def is_wanted() -> bool:
            return epoch == self._epoch and (not topic or self._newest[topic] == number)

        def deliver(answer: T) -> None:
            if is_wanted() and shiboken6.isValid(owner):
                on_answer(answer)

        def work(live: "LiveCollection") -> None:
            if is_wanted():
                answer = question(live)
                self._post(lambda: deliver(answer))

        self._on_project(work)

    def drop_all(self) -> None:
        """Deliver no answer any more to what was asked until now."""
        self._epoch += 1
