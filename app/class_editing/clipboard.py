"""Classes on the system's clipboard: copied with all below them, into another project too, or cut and moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtGui import QGuiApplication

from app.class_editing.removal import chosen_text
from app.drops import classes_text, refusal_text
from app.texts import fill, tr
from engine.graph.placement import placement_refusal

if TYPE_CHECKING:
    from app.class_editing.editing import ClassEditing
    from app.dragging import Places
    from app.session import Session
    from engine.project import Change, Project


@dataclass(frozen=True)
class _Cut:
    """What was cut: it stays where it is until it is put elsewhere in the same project."""

    project: Path
    places: Places
    text: str


@final
class ClassClipboard:
    """Copies, cuts and pastes classes."""

    def __init__(self, session: Session, editing: ClassEditing, say: Callable[[str], None]) -> None:
        self._session = session
        self._editing = editing
        self._say = say
        self._cut: _Cut | None = None

    def copy(self, places: Places) -> None:
        """Copy classes with all below them: names, edges, synonyms, notes, colours, confidence needed; no labels."""
        template = tr("Copied %1")
        self._take(places, lambda _text: self._say(fill(template, self._chosen_text(places))))

    def cut(self, places: Places) -> None:
        """Copy classes, and move them where they are pasted in this project; until then they stay where they are."""

        def remember(text: str) -> None:
            if self._session.info is not None:
                self._cut = _Cut(self._session.info.path, places, text)
                template = tr("Cut %1. Paste to move it.")
                several = tr("Cut %1. Paste to move them.")
                self._say(fill(template if len(places) == 1 else several, self._chosen_text(places)))

        self._take(places, remember)

    def paste(self, parent_id: int | None) -> None:
        """Put what was cut, or a copy of what was copied, under a class, or at the top level (None)."""
        from engine.project.branch_text import is_copied_text

        text, cut, info = QGuiApplication.clipboard().text(), self._cut, self._session.info
        if not is_copied_text(text):
            self._say(tr("No class was copied. Choose classes and press Ctrl+C first."))
        elif cut is not None and info is not None and text == cut.text and info.path == cut.project:
            self._move(cut, parent_id)
        else:
            self._add(text, parent_id)

    def _take(self, places: Places, on_text: Callable[[str], None]) -> None:
        """Have the classes written down on the project thread, and put the text on the clipboard."""
        class_ids = tuple(dict.fromkeys(class_id for class_id, _parent in places))
        if not class_ids:
            return

        def put(text: str) -> None:
            self._cut = None
            QGuiApplication.clipboard().setText(text)
            on_text(text)

        self._editing.copied_text(class_ids, put)

    def _move(self, cut: _Cut, parent_id: int | None) -> None:
        graph = self._session.graph
        places = tuple(place for place in cut.places if place[0] in graph)
        refusal = placement_refusal(graph, places, parent_id, is_link=False) if places else None
        if refusal is not None:
            self._say(refusal_text(graph, refusal, parent_id) or tr("These classes are here already."))
        elif places:
            self._cut = None
            self._editing.place(places, parent_id, is_link=False)

    def _add(self, text: str, parent_id: int | None) -> None:
        pasted: list[int] = []

        def paste(project: Project) -> Change:
            change, class_ids = project.classes.paste(text, parent_id)
            pasted.extend(class_ids)
            return change

        self._session.act(paste, on_done=lambda _change: self._editing.show_classes(pasted))

    def _chosen_text(self, places: Places) -> str:
        graph = self._session.graph
        known = list(dict.fromkeys(class_id for class_id, _parent in places if class_id in graph))
        return chosen_text(graph, known) if known else classes_text(0)
