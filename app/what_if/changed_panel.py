"""The panel of the images that changed class: what did it, and each move with its images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal

from app.controls import make_label
from app.images.thumbnails import Thumbnails
from app.side_panel.frame import SidePanel
from app.texts import tr
from app.what_if.move_list import MoveList
from app.what_if.wording import accuracy_line, basis_line, cause_line, tried_line, unknown_line, would_change_line
from app.workspace.changed_badge import changed_line, more_line

if TYPE_CHECKING:
    from engine.collection.state import CollectionState
    from engine.collection.what_if.changed_images import ChangedImages
    from engine.collection.what_if.outcome import WhatIfOutcome


@final
class ChangedPanel(SidePanel):
    """Shows where images went."""

    image_requested = Signal(int)

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._status = make_label("", "strong", wraps=True)
        self._more = make_label("", "secondary", wraps=True)
        self._cause = make_label("", "secondary", wraps=True)
        self._accuracy = make_label("", wraps=True)
        self._basis = make_label("", "caption", wraps=True)
        self.moves = MoveList(thumbnails)
        self.moves.image_requested.connect(self.image_requested)
        self._words = (self._status, self._more, self._cause, self._accuracy, self._basis)
        self.lay_out(tr("What changed"), tr("Close"), self._words, filling=self.moves)

    @property
    def text(self) -> str:
        return "\n".join(label.text() for label in self._words if label.text())

    def show_changes(
        self,
        changes: ChangedImages,
        causes: Sequence[str],
        state: CollectionState | None,
        name_of: Callable[[int], str],
    ) -> None:
        self._title.setText(tr("What changed"))
        words = (changed_line(changes), more_line(changes), cause_line(causes), unknown_line(changes, name_of), "")
        self._show(words, changes, state, name_of)

    def show_outcome(
        self, outcome: WhatIfOutcome, state: CollectionState | None, name_of: Callable[[int], str]
    ) -> None:
        """Show what edits would do that are only tried out."""
        self._title.setText(tr("What would change"))
        changes, held_out = outcome.changes, outcome.held_out
        lines = (
            would_change_line(changes), more_line(changes), tried_line(outcome.edits),
            accuracy_line(held_out), basis_line(held_out),
        )  # fmt: skip
        self._show(lines, changes, state, name_of)

    def _show(
        self, lines: Sequence[str], changes: ChangedImages, state: CollectionState | None, name_of: Callable[[int], str]
    ) -> None:
        for label, text in zip(self._words, lines, strict=True):
            label.setText(text)
            label.setVisible(bool(text))
        self.moves.show_changes(changes, state, name_of)
        self.moves.setVisible(bool(changes.moves))
