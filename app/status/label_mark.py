"""What the last key did to one image, and the way back: `Labelled Orange · 41 to review · Undo`."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.controls import make_button
from app.elided import ElidedLabel
from app.session.subsets import Subset, subset_counts
from app.texts import tr
from app.wording import SEPARATOR, number
from engine.collection.state import NO_CLASS, UNKNOWN

if TYPE_CHECKING:
    from app.session import Session
    from engine.project import Change


@final
class LabelMark(QWidget):
    """Follows the labels of single images; other actions are answered in the toast."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._words = ElidedLabel("caption", takes_rest=False)
        self._undo = make_button(tr("Undo"), session.undo, variant="flat")
        self._undo.setProperty("size", "small")
        self._undo.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._words)
        layout.addWidget(self._undo)
        layout.addStretch(1)
        session.change_made.connect(self._on_change_made)
        session.closed.connect(self._clear)
        self._clear()

    @property
    def text(self) -> str:
        """What is said; "" for nothing."""
        return self._words.text()

    def _on_change_made(self, change: Change) -> None:
        is_single = change.kind == "done" and len(change.labelled) == 1 and not change.graph_edits
        words = self._words_for(change.labelled[0]) if is_single else ""
        self._words.show_text(words)
        self._undo.setVisible(bool(words))

    def _words_for(self, image_id: int) -> str:
        state, graph = self._session.state, self._session.graph
        if state is None:
            return ""
        try:
            label = int(state.label_class[state.position(image_id)])
        except KeyError:  # it was removed
            return ""
        if label == NO_CLASS:
            done = tr("Label removed")
        elif label == UNKNOWN:
            done = tr("Labelled as none of the classes")
        else:
            done = tr("Labelled %1", graph.name(label) if label in graph else "")
        left = tr("%1 to review", number(subset_counts(state)[Subset.TO_REVIEW]))
        return f"{done}{SEPARATOR}{left}"

    def _clear(self) -> None:
        self._words.show_text("")
        self._undo.hide()
