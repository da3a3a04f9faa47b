"""What edits do to the predictions: told after each, and seen before it is done while edits are only tried out."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QObject, Signal

from app.actions.table import Needs
from app.signal_types import either
from app.texts import tr
from app.what_if.edit_watch import EditWatch
from app.what_if.wording import unknown_line
from engine.collection.what_if.changed_images import ChangedImages

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails
    from app.session import Session
    from app.side_panel.place import SidePlace
    from app.status.toast import Toast
    from app.what_if.band import WhatIfBand
    from app.what_if.changed_panel import ChangedPanel
    from engine.collection.state import CollectionState
    from engine.collection.what_if.outcome import WhatIfOutcome

TOPIC: Final = "changed images"


@final
class WhatIf(QObject):
    """Tells what each edit changed, or would change."""

    changes_shown = Signal(either(ChangedImages | None))  # the `ChangedImages` for the badge; None for none
    unknown_moved = Signal(int, str)  # how many more images are unknown by the last edits, and why, in words
    image_requested = Signal(int)
    needs_changed = Signal()
    discarded = Signal()  # what was tried out is gone, and with it what was asked about it

    def __init__(
        self, session: "Session", thumbnails: "Thumbnails", band: "WhatIfBand", side: "SidePlace", toast: "Toast"
    ) -> None:
        super().__init__(side)
        self.panel: ChangedPanel | None = None
        self._session = session
        self._thumbnails = thumbnails
        self._band = band
        self._side = side
        self._toast = toast
        self._changes: ChangedImages | None = None
        self._causes: tuple[str, ...] = ()
        self._outcome: WhatIfOutcome | None = None
        self._leave: Callable[[], object] | None = None  # once it is decided
        self._edits = EditWatch(session, self)
        self._edits.followed.connect(self._on_followed)
        self._edits.forgotten.connect(self._on_forgotten)
        session.what_if.begun.connect(self._on_begun)
        session.what_if.ended.connect(self._on_ended)
        session.fitting_changed.connect(self._on_fitting_changed)
        band.images_requested.connect(self.open_panel)
        band.keep_requested.connect(session.what_if.keep)
        band.discard_requested.connect(session.what_if.drop)
        band.stay_requested.connect(self._stay)

    def callbacks(self) -> dict[str, Callable[[], None]]:
        return {
            "show_changed_images": self.open_panel,
            "what_if": self._session.what_if.begin,
            "keep_what_if": self._session.what_if.keep,
            "discard_what_if": self._session.what_if.drop,
        }

    @property
    def needs(self) -> Needs:
        """Whether edits are tried out, or done for good."""
        return Needs.TRIED_OUT if self._session.what_if.is_on else Needs.FOR_GOOD

    def leave_by(self, leave: Callable[[], object]) -> None:
        """Leave the project, at once or when the person has decided what becomes of what was tried out."""
        if not self.holds_back(leave):
            leave()

    def holds_back(self, leave: Callable[[], object]) -> bool:
        """Whether something would be lost that was tried out; the person is asked, and leaves when it is decided."""
        what_if = self._session.what_if
        if not what_if.has_edits or (self._outcome is not None and not self._outcome.edits):
            return False
        self._leave = leave
        self._band.show_leaving()
        return True

    def _stay(self) -> None:
        self._leave = None
        if self._outcome is None:
            self._band.show_begun()
        else:
            self._band.show_outcome(self._outcome)

    # -- the panel

    def open_panel(self) -> None:
        """Show the images in the place of the inspector."""
        if self.panel is None:
            self.panel = self._make_panel()
        self._fill_panel()
        self._side.show_panel(self.panel)
        if self.panel.moves.isVisible():
            self.panel.moves.setFocus()

    def name_of(self, class_id: int) -> str:
        """Name of a class, also of one that an edit removed."""
        graph = self._session.graph
        if class_id in graph:
            return graph.name(class_id)
        return self._edits.gone.get(class_id, tr("a removed class"))

    def _make_panel(self) -> "ChangedPanel":
        from app.what_if.changed_panel import ChangedPanel

        panel = ChangedPanel(self._thumbnails)
        panel.image_requested.connect(self.image_requested)
        panel.close_requested.connect(lambda: self._side.close_panel(panel))
        return panel

    def _fill_panel(self) -> None:
        if self.panel is None:
            return
        if self._outcome is not None:
            self.panel.show_outcome(self._outcome, self._session.state, self.name_of)
            return
        from engine.collection.what_if.changed_images import ChangedImages

        changes = self._changes or ChangedImages()
        self.panel.show_changes(changes, self._causes, self._session.state, self.name_of)

    # -- after edits

    def _on_followed(self, before: "CollectionState", after: "CollectionState", texts: Sequence[str]) -> None:
        baseline = self._session.what_if.baseline
        if baseline is not None:
            from engine.collection.what_if.outcome import outcome_of

            self._session.ask(lambda live: outcome_of(live, baseline), self._show_outcome, owner=self, topic=TOPIC)
            return
        from engine.collection.what_if.changed_images import changed_images

        self._session.ask(
            lambda _live: changed_images(before, after),
            lambda changes: self._show_changes(changes, texts),
            owner=self, topic=TOPIC,
        )  # fmt: skip

    def _show_changes(self, changes: "ChangedImages | None", causes: Sequence[str] = ()) -> None:
        self._changes, self._causes = changes, tuple(causes)
        self._fill_panel()
        self.changes_shown.emit(changes)
        more = 0 if changes is None else changes.more_unknown
        self.unknown_moved.emit(more, unknown_line(changes, self.name_of) if changes is not None and more else "")

    def _show_outcome(self, outcome: "WhatIfOutcome") -> None:
        if self._session.what_if.is_on:
            self._outcome, self._leave = outcome, None
            self._band.show_outcome(outcome)
            self._fill_panel()

    # -- trying out

    def _on_begun(self) -> None:
        self._show_changes(None)
        self._band.show_begun()
        self.needs_changed.emit()

    def _on_ended(self, is_kept: bool) -> None:
        outcome, self._outcome = self._outcome, None
        self._edits.pass_over()
        self._band.hide()
        if is_kept and outcome is not None:
            self._show_changes(outcome.changes, outcome.edits)
        else:
            self._show_changes(None)
            self.discarded.emit()
            if self._session.info is not None:
                self._toast.say(tr("Discarded. The project is as it was."))
        self.needs_changed.emit()
        leave, self._leave = self._leave, None
        if leave is not None:
            leave()

    def _on_fitting_changed(self, is_fitting: bool) -> None:
        if is_fitting and self._session.what_if.is_on:
            self._band.show_following()

    def _on_forgotten(self) -> None:
        self._show_changes(None)
        if self.panel is not None:
            self._side.close_panel(self.panel)
