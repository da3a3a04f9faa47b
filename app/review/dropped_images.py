"""What becomes of images that were dropped on a class, below all classes, or on a view of all images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from app.palette.logic import Choice, ClassChoice, CreateChoice, PaletteRow, class_rows, create_choice, create_row
from app.palette.view import Palette
from app.review.labelling import create_and_label
from app.session.subsets import Subset
from app.texts import tr
from app.wording import images

if TYPE_CHECKING:
    from app.session import Session


@final
class DroppedImages:
    """Labels what is dropped; what is chosen stays chosen.

    Args:
        session: the open project.
        palette: asks for the name of a new class.
    """

    def __init__(self, session: Session, palette: Palette) -> None:
        self._session = session
        self._palette = palette

    def take(self, target: int | Subset | None, image_ids: Sequence[int]) -> None:
        """Label images as the class they were dropped on; None asks for the name of a new one.

        Args:
            target: a class; Unknown for none of the classes, To review for no label; None for below all classes.
            image_ids: what was dropped.
        """
        if target is None:
            self._ask_name(image_ids)
        elif target is Subset.TO_REVIEW:
            self._session.unlabel(image_ids)
        else:
            self._session.label(image_ids, None if isinstance(target, Subset) else target)

    def _ask_name(self, image_ids: Sequence[int]) -> None:
        self._palette.ask(
            tr("Name of the new class with %1", images(len(image_ids))),
            self._rows_for,
            lambda choice: self._on_choice(image_ids, choice),
            foot=tr("Type Parent/Name to put it under a class · Enter creates · Esc closes"),
        )

    def _rows_for(self, text: str) -> list[PaletteRow]:
        """The new class first; below it those that are there already, in case one of them is meant."""
        if not text.strip():
            return []
        graph = self._session.graph
        new = create_choice(graph, text, under=None)
        known = class_rows(graph, text)
        if new is None:
            return known
        return [create_row(new, graph.name(new.parent_id) if new.parent_id is not None else ""), *known]

    def _on_choice(self, image_ids: Sequence[int], choice: Choice) -> None:
        if isinstance(choice, ClassChoice):
            self._session.label(image_ids, choice.class_id)
        elif isinstance(choice, CreateChoice):
            self._session.act(lambda project: create_and_label(project, choice, image_ids))
