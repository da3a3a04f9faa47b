"""What-if edits: begun, kept or discarded on the project thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.session.fitting import Fitting
from app.session.runner import Runner, update_of_applied, update_of_change, update_of_state

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection
    from engine.project import Change
    from engine.review.what_if import WhatIfBaseline


@final
class WhatIfSession(QObject):
    """While it is on, edits go to a copy of the project in memory.

    It is on from the call of `begin`, even while a computation is running, so that the next edit
    is part of it.
    """

    begun = Signal()
    ended = Signal(bool)  # whether the edits were kept; False when the project was closed

    def __init__(self, runner: Runner, fitting: Fitting, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_on = False
        # The collection before the edits, once computed.
        self.baseline: WhatIfBaseline | None = None
        self._runner = runner
        self._has_edits = False
        fitting.caught_up.connect(self._on_caught_up)

    @property
    def has_edits(self) -> bool:
        """Whether anything was edited since it began, even if undone."""
        return self.is_on and self._has_edits

    def begin(self) -> None:
        """Begin a what-if; the baseline is updated until the first edit."""

        def begin(live: LiveCollection) -> WhatIfBaseline:
            from engine.review.what_if import begin_what_if

            return begin_what_if(live)

        if not self.is_on:
            self.is_on, self._has_edits = True, False
            self._runner.operate(begin, update_of_state, self._on_ready, on_failure=self.forget)
            self.begun.emit()

    def keep(self) -> None:
        """Apply all edits to the project, as one step."""

        def keep(live: LiveCollection) -> Change:
            from engine.review.what_if import kept_action, tried_edits

            return live.project.what_if.keep(kept_action(tried_edits(live.project)))

        if self.is_on:
            self._runner.operate(keep, update_of_applied, lambda _change: self._end(is_kept=True))

    def drop(self) -> None:
        if self.is_on:
            self._runner.operate(
                lambda live: live.project.what_if.discard(),
                update_of_change,
                lambda _change: self._end(is_kept=False),
            )

    def forget(self) -> None:
        if self.is_on:
            self._end(is_kept=False)

    def note_edit(self) -> None:
        self._has_edits = True

    def _on_caught_up(self) -> None:
        """Update the baseline where embedding changed predictions before the first edit."""

        def baseline(live: LiveCollection) -> WhatIfBaseline:
            from engine.review.what_if import baseline_of

            return baseline_of(live)

        if self.baseline is not None and not self._has_edits:
            self._runner.operate(baseline, update_of_state, self._set_baseline)

    def _on_ready(self, baseline: WhatIfBaseline) -> None:
        """Set the baseline; edits that were pending at the start are not part of the what-if."""
        self._has_edits = False
        self._set_baseline(baseline)

    def _set_baseline(self, baseline: WhatIfBaseline) -> None:
        if self.is_on and not self._has_edits:
            self.baseline = baseline

    def _end(self, *, is_kept: bool) -> None:
        self.is_on, self.baseline = False, None
        self.ended.emit(is_kept)
