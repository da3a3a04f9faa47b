"""Edits that are tried out: begun, kept or dropped on the project thread."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, final

from PySide6.QtCore import QObject, Signal

from app.session.fitting import Fitting
from app.session.news import News, news_of_change, news_of_kept, news_of_state

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection
    from engine.collection.what_if.outcome import WhatIfBaseline

OnProject = Callable[["Callable[[LiveCollection], None]"], None]


class Tell(Protocol):
    """Brings news to the GUI thread, then calls what it is given."""

    def __call__(self, live: "LiveCollection", news: News, on_done: Callable[[], None], /) -> None:
        """Tell."""


@final
class WhatIfSession(QObject):
    """While it is on, all that a person does goes to a copy of the project in memory.

    Args:
        on_project: runs work on the project thread.
        tell: brings news to the window.
        fitting: predictions must be up to date before it begins, or there would be nothing to compare with.

    Attributes:
        baseline: the collection before; None while it is off.

    Signals:
        begun: it is on.
        ended: whether what was tried out was kept; also False when the project was left in the middle.
    """

    begun = Signal()
    ended = Signal(bool)

    def __init__(self, on_project: OnProject, tell: Tell, fitting: Fitting, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.baseline: WhatIfBaseline | None = None
        self._on_project = on_project
        self._tell = tell
        self._fitting = fitting
        self._is_wanted = False
        self._has_edits = False
        fitting.caught_up.connect(self._on_caught_up)

    @property
    def is_on(self) -> bool:
        """Whether edits are only tried out."""
        return self.baseline is not None

    @property
    def has_edits(self) -> bool:
        """Whether anything was edited since it began, also where that was undone again."""
        return self.is_on and self._has_edits

    def begin(self) -> None:
        """Begin as soon as predictions are up to date."""
        self._is_wanted = not self.is_on
        if not self._fitting.is_running:
            self._begin_if_wanted()

    def keep(self) -> None:
        """Bring all that was tried out into the project, as one step."""

        def work(live: "LiveCollection") -> None:
            from engine.collection.what_if.outcome import step_text, tried_edits

            change = live.project.keep_what_if(step_text(tried_edits(live.project)))
            self._tell(live, news_of_kept(live, change), lambda: self._end(is_kept=True))

        if self.is_on:
            self._on_project(work)

    def drop(self) -> None:
        """Go back to where it began."""

        def work(live: "LiveCollection") -> None:
            change = live.project.discard_what_if()
            self._tell(live, news_of_change(live, change), lambda: self._end(is_kept=False))

        if self.is_on:
            self._on_project(work)

    def forget(self) -> None:
        """The project was left, and what was tried out with it."""
        self._is_wanted = False
        if self.is_on:
            self._end(is_kept=False)

    def note_edit(self) -> None:
        """Something was edited: from now on what it would change is told from where that began."""
        self._has_edits = True

    def _on_caught_up(self) -> None:
        if self.is_on and not self._has_edits:
            self._begin_anew()
        else:
            self._begin_if_wanted()

    def _begin_anew(self) -> None:
        """Embedding changed predictions before anything was edited: compare with these."""

        def work(live: "LiveCollection") -> None:
            from engine.collection.what_if.outcome import baseline_of

            start = baseline_of(live)
            self._tell(live, news_of_state(live, live.state), lambda: self._set_start(start))

        self._on_project(work)

    def _set_start(self, start: "WhatIfBaseline") -> None:
        if self.is_on and not self._has_edits:
            self.baseline = start

    def _begin_if_wanted(self) -> None:
        if not self._is_wanted:
            return
        self._is_wanted = False

        def work(live: "LiveCollection") -> None:
            from engine.collection.what_if.outcome import begin_what_if

            baseline = begin_what_if(live)
            self._tell(live, news_of_state(live, live.state), lambda: self._on_begun(baseline))

        self._on_project(work)

    def _on_begun(self, baseline: "WhatIfBaseline") -> None:
        self.baseline, self._has_edits = baseline, False
        self.begun.emit()

    def _end(self, *, is_kept: bool) -> None:
        self.baseline = None
        self.ended.emit(is_kept)
