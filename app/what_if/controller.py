"""Effect of edits on predictions: shown after each edit, and beforehand during a what if."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.actions.row import WRITE, WRITE_FOR_GOOD, Needs, Section, action
from app.feature import GoOn, PanelFeature
from app.texts import marked, tr
from app.what_if.band import WhatIfBand
from app.what_if.wording import unknown_line
from engine.collection.state import ChangedImages, CollectionState, changed_images
from engine.graph.edits import ClassRemoved

if TYPE_CHECKING:
    from app.session import Session
    from app.shell import Shell
    from app.what_if.changed_panel import ChangedPanel
    from engine.project import Change
    from engine.review.what_if import WhatIfOutcome

TOPIC = "changed images"
TRIED_OUT = WRITE | Needs.TRIED_OUT
action_on_trial = partial(action, section=Section.CLASSES_WHAT_IF)


@final
class EditWatch(QObject):
    """Track edits of graph, threshold or label until the predictions are up to date."""

    # The `CollectionState` before the edits and after the update of predictions, and the texts of
    # the edits.
    followed = Signal(CollectionState, CollectionState, tuple)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.gone: dict[int, str] = {}  # names of removed classes
        self._session = session
        self._previous: CollectionState | None = None
        self._current: CollectionState | None = None
        self._before: CollectionState | None = None  # set while predictions are being updated
        self._pending: list[str] = []
        self._is_fitting = False
        session.state_changed.connect(self._on_state_changed)
        session.change_made.connect(self._on_change_made)
        session.fitting_changed.connect(self._on_fitting_changed)
        session.closed.connect(self._on_closed)

    def _on_state_changed(self, state: CollectionState | None) -> None:
        self._previous, self._current = self._current, state

    def _on_change_made(self, change: Change) -> None:
        """Record an edit; the state that includes it has just arrived."""
        if not (change.graph_edits or change.policies or change.labelled or change.excluded):
            return
        self.gone |= {
            edit.class_id: edit.name
            for edit in change.graph_edits
            if isinstance(edit, ClassRemoved)
        }
        if not self._pending:
            self._before = self._previous
        self._pending.append(change.text)
        # After the start of a fit, if one is due.
        QTimer.singleShot(0, self, self._finish_unless_fitting)

    def _on_fitting_changed(self, is_fitting: bool) -> None:
        self._is_fitting = is_fitting
        self._finish_unless_fitting()

    def _finish_unless_fitting(self) -> None:
        before, after = self._before, self._current
        if self._is_fitting or before is None or after is None:
            return
        texts = tuple(self._pending)
        self.pass_over()
        self.followed.emit(before, after, texts)

    def pass_over(self) -> None:
        self._before = None
        self._pending.clear()

    def _on_closed(self) -> None:
        self.pass_over()
        self._previous = self._current = None
        self.gone.clear()
        self._is_fitting = False


@final
class WhatIf(PanelFeature["ChangedPanel"]):
    """Show what each edit changed, or would change."""

    guide_page = "taxonomy#what-an-edit-changes"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        session = shell.session
        self.band = band = WhatIfBand()
        self._changes: ChangedImages | None = None
        self._causes: tuple[str, ...] = ()
        self._outcome: WhatIfOutcome | None = None
        self._leave: GoOn | None = None  # called after the decision
        self._edits = EditWatch(session, self)
        self._edits.followed.connect(self._on_followed)
        session.closed.connect(self._on_closed)
        session.what_if.begun.connect(self._on_begun)
        session.what_if.ended.connect(self._on_ended)
        session.fitting_changed.connect(self._on_fitting_changed)
        band.images_requested.connect(self.open_panel)
        band.keep_requested.connect(session.what_if.keep)
        band.discard_requested.connect(session.what_if.drop)
        band.stay_requested.connect(self._stay)
        shell.bands.append(band)
        shell.workspace.header.badge.clicked.connect(self.open_panel)

    @action_on_trial(
        "what_if",
        marked("Try changes without saving"),
        "what_if",
        "Ctrl+Shift+W",
        needs=WRITE_FOR_GOOD,
    )
    def begin(self) -> None:
        self._session.what_if.begin()

    @action_on_trial(
        "keep_what_if", marked("Apply changes"), "accept", "Ctrl+Shift+K", needs=TRIED_OUT
    )
    def keep(self) -> None:
        self._session.what_if.keep()

    @action_on_trial(
        "discard_what_if", marked("Discard changes"), "delete", "Ctrl+Shift+D", needs=TRIED_OUT
    )
    def discard(self) -> None:
        self._session.what_if.drop()

    def there(self) -> Needs:
        return Needs.TRIED_OUT if self._session.what_if.is_on else Needs.FOR_GOOD

    def blocks_closing(self, go_on: GoOn, *, at_end: bool) -> bool:  # noqa: ARG002
        what_if = self._session.what_if
        if not what_if.has_edits or (self._outcome is not None and not self._outcome.edits):
            return False
        self._leave = go_on
        self.band.show_leaving()
        return True

    def _stay(self) -> None:
        self._leave = None
        self.band.show_begun() if self._outcome is None else self.band.show_outcome(self._outcome)

    @action(
        "show_changed_images",
        marked("Images that changed class"),
        "changed",
        "Ctrl+Shift+J",
        Section.VIEW_FOUND,
    )
    def open_panel(self) -> None:
        self.made_panel()
        self._fill_panel()
        panel = self.show_panel()
        if panel.moves.isVisible():
            panel.moves.setFocus()

    def name_of(self, class_id: int) -> str:
        """Name of a class, including removed ones."""
        graph, gone = self._session.graph, self._edits.gone
        return (
            graph.shown_name(class_id)
            if class_id in graph
            else gone.get(class_id, tr("a removed class"))
        )

    def make_panel(self) -> ChangedPanel:
        from app.what_if.changed_panel import ChangedPanel

        panel = ChangedPanel(self._thumbnails)
        panel.image_requested.connect(self._shell.workspace.show_image)
        return panel

    def _fill_panel(self) -> None:
        state = self._session.state
        if self.panel is not None and self._outcome is not None:
            self.panel.show_outcome(self._outcome, state, self.name_of)
        elif self.panel is not None:
            self.panel.show_changes(
                self._changes or ChangedImages(), self._causes, state, self.name_of
            )

    def _on_followed(
        self, before: CollectionState, after: CollectionState, texts: Sequence[str]
    ) -> None:
        baseline = self._session.what_if.baseline
        if baseline is not None:
            from engine.review.what_if import outcome_of

            self._session.ask(
                lambda live: outcome_of(live, baseline), self._show_outcome, owner=self, topic=TOPIC
            )
            return
        show = partial(self._show_changes, causes=texts)
        self._session.ask(
            lambda _live: changed_images(before, after), show, owner=self, topic=TOPIC
        )

    def _show_changes(self, changes: ChangedImages | None, causes: Sequence[str] = ()) -> None:
        self._changes, self._causes = changes, tuple(causes)
        self._fill_panel()
        self._shell.workspace.header.show_moves(changes)
        seen = changes or ChangedImages()
        self._shell.tree.subset_list.rows.explain_unknown(
            seen.more_unknown, unknown_line(seen, self.name_of)
        )

    def _show_outcome(self, outcome: WhatIfOutcome) -> None:
        if self._session.what_if.is_on:
            self._outcome, self._leave = outcome, None
            self.band.show_outcome(outcome)
            self._fill_panel()

    def _on_begun(self) -> None:
        self._show_changes(None)
        self.band.show_begun()
        self._shell.needs_changed.emit()

    def _on_ended(self, is_kept: bool) -> None:
        outcome, self._outcome = self._outcome, None
        self._edits.pass_over()
        self.band.hide()
        if is_kept and outcome is not None:
            self._show_changes(outcome.changes, outcome.edits)
        else:
            self._show_changes(None)
            self._palette.dismiss()  # a question may refer to discarded edits
            if self._session.info is not None:
                self._toast.show_message(tr("Discarded. The project is as it was."))
        self._shell.needs_changed.emit()
        leave, self._leave = self._leave, None
        if leave is not None:
            leave()

    def _on_fitting_changed(self, is_fitting: bool) -> None:
        if is_fitting and self._session.what_if.has_edits:
            self.band.show_following()

    def _on_closed(self) -> None:
        self._show_changes(None)
        self.close_panel()
