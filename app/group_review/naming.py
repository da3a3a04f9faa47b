"""Choice of any class for the selected images in the palette, including a new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

from app.palette.logic import CreateChoice, PaletteRow, label_rows
from app.texts import tr
from app.wording import images
from engine.project.actions import action as record_action

if TYPE_CHECKING:
    from app.palette.view import Palette
    from app.session import Session
    from engine.project import Change, Project

RECENT_KEPT = 8  # recently named classes listed first in the palette


@final
class Naming:
    """Class prompt: `on_class` gets an existing class, `on_created` the change with a new one."""

    def __init__(
        self,
        session: Session,
        palette: Palette,
        on_class: Callable[[int], None],
        on_created: Callable[[Change], None],
    ) -> None:
        self._session, self._palette = session, palette
        self._on_class, self._on_created = on_class, on_created
        self._recent: list[int] = []

    def remember(self, class_id: int) -> None:
        self._recent = [class_id, *(known for known in self._recent if known != class_id)][
            :RECENT_KEPT
        ]

    def forget(self) -> None:
        self._recent.clear()

    def ask(
        self, image_ids: Sequence[int], tops: Sequence[int], is_wanted: Callable[[], bool]
    ) -> None:
        """Open the palette for images; the choice is ignored if `is_wanted` returns False."""
        self._palette.ask(
            tr("Label %1 as: name, part of a name, or Parent/Name", images(len(image_ids))),
            lambda text: self._rows_for(text, tops),
            lambda choice: self._on_choice(choice, image_ids) if is_wanted() else None,
        )

    def _rows_for(self, text: str, tops: Sequence[int]) -> list[PaletteRow]:
        graph = self._session.graph
        return label_rows(
            graph, text, first=[*tops, *self._recent], is_locked=self._session.marks.is_locked
        )

    def _on_choice(self, choice: object, image_ids: Sequence[int]) -> None:
        if isinstance(choice, int):
            self._on_class(choice)
        elif isinstance(choice, CreateChoice):
            self._session.act(
                lambda project: _create_and_label(project, choice, image_ids),
                on_done=self._on_created,
            )


def _create_and_label(project: Project, choice: CreateChoice, image_ids: Sequence[int]) -> Change:
    """Create a class with its first labels, in one step."""
    with project.history.one_step(
        record_action("class_created", choice.name, images=len(image_ids))
    ) as step:
        _, class_id = project.classes.add(choice.name, choice.parents)
        project.labels.set(image_ids, class_id)
    return step.change
