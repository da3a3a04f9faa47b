"""What edits do to the predictions: told after each, and seen before it is done while edits are only tried out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

from app.actions.row import WRITE, WRITE_FOR_GOOD, Needs, Section, action
from app.feature import GoOn, PanelFeature
from app.texts import marked, tr
from app.what_if.band import WhatIfBand
from app.what_if.edit_watch import EditWatch
from app.what_if.wording import unknown_line
from engine.collection.what_if.changed_images import ChangedImages

if TYPE_CHECKING:
    from app.shell import Shell
    from app.what_if.changed_panel import ChangedPanel
    from engine.collection.state import CollectionState
    from engine.collection.what_if.outcome import WhatIfOutcome

TOPIC: Final = "changed images"


@final
class WhatIf(PanelFeature["ChangedPanel"]):
    """Tells what each edit changed, or would change."""

    guide_page = "taxonomy#what-an-edit-changes"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        session, band = shell.session, WhatIfBand()
        self.band = band
        self._changes: ChangedImages | None = None
        self._causes: tuple[str, ...] = ()
        self._outcome: WhatIfOutcome | None = None
        self._leave: GoOn | None = None  # once it is decided
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
        shell.bands.append(band)
        shell.workspace.header.badge.clicked.connect(self.open_panel)

    @action(
        "what_if",
        marked("What if: try edits out"),
        "what_if",
        "Ctrl+Shift+W",
        Section.CLASSES_WHAT_IF,
        needs=WRITE_FOR_GOOD,
    )
    def begin(self) -> None:
        self._session.what_if.begin()

    @action(
        "keep_what_if",
        marked("Keep what was tried out"),
        "accept",
        "Ctrl+Shift+K",
        Section.CLASSES_WHAT_IF,
        needs=WRITE | Needs.TRIED_OUT,
    )
    def keep(self) -> None:
        self._session.what_if.keep()

    @action(
        "discard_what_if",
        marked("Discard what was tried out"),
        "delete",
        "Ctrl+Shift+D",
        Section.CLASSES_WHAT_IF,
        needs=WRITE | Needs.TRIED_OUT,
    )
    def discard(self) -> None:
        self._session.what_if.drop()

    def there(self) -> Needs:
        """Whether edits are tried out, or done for good."""
        return Needs.TRIED_OUT if self._session.what_if.is_on else Needs.FOR_GOOD

    def holds_back(self, go_on: GoOn, *, at_end: bool) -> bool:  # noqa: ARG002
        """Whether something would be lost that was tried out; the person is asked."""
        what_if = self._session.what_if
        if not what_if.has_edits or (self._outcome is not None and not self._outcome.edits):
            return False
        self._leave = go_on
        self.band.show_leaving()
        return True

    def _stay(self) -> None:
        self._leave = None
        if self._outcome is None:
            self.band.show_begun()
        else:
            self.band.show_outcome(self._outcome)

    # -- the panel

    @action(
        "show_changed_images", marked("Show images that changed class"), "changed", "Ctrl+Shift+J", Section.VIEW_FOUND
    )
    def open_panel(self) -> None:
        """Show the images in the place of the inspector."""
        self.made_panel()
        self._fill_panel()
        panel = self.show_panel()
        if panel.moves.isVisible():
            panel.moves.setFocus()

    def name_of(self, class_id: int) -> str:
        """Name of a class, also of one that an edit removed."""
        graph = self._session.graph
        if class_id in graph:
            return graph.name(class_id)
        return self._edits.gone.get(class_id, tr("a removed class"))

    def make_panel(self) -> ChangedPanel:
        from app.what_if.changed_panel import ChangedPanel

        panel = ChangedPanel(self._thumbnails)
        panel.image_requested.connect(self._shell.workspace.show_image)
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

    def _on_followed(self, before: CollectionState, after: CollectionState, texts: Sequence[str]) -> None:
        baseline = self._session.what_if.baseline
        if baseline is not None:
            from engine.collection.what_if.outcome import outcome_of

            self._session.ask(lambda live: outcome_of(live, baseline), self._show_outcome, owner=self, topic=TOPIC)
            return
        from engine.collection.what_if.changed_images import changed_images

        self._session.ask(
            lambda _live: changed_images(before, after),
            lambda changes: self._show_changes(changes, texts),
            owner=self,
            topic=TOPIC,
        )

    def _show_changes(self, changes: ChangedImages | None, causes: Sequence[str] = ()) -> None:
        self._changes, self._causes = changes, tuple(causes)
        self._fill_panel()
        self._shell.workspace.header.show_moves(changes)
        more = 0 if changes is None else changes.more_unknown
        self._shell.tree.explain_unknown(
            more, unknown_line(changes, self.name_of) if changes is not None and more else ""
        )

    def _show_outcome(self, outcome: WhatIfOutcome) -> None:
        if self._session.what_if.is_on:
            self._outcome, self._leave = outcome, None
            self.band.show_outcome(outcome)
            self._fill_panel()

    # -- trying out

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
            self._palette.dismiss()  # no question outlives what it is about
            if self._session.info is not None:
                self._toast.say(tr("Discarded. The project is as it was."))
        self._shell.needs_changed.emit()
        leave, self._leave = self._leave, None
        if leave is not None:
            leave()

    def _on_fitting_changed(self, is_fitting: bool) -> None:
        if is_fitting and self._session.what_if.is_on:
            self.band.show_following()

    def _on_forgotten(self) -> None:
        self._show_changes(None)
        self.close_panel()
