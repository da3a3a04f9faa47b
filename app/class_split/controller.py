"""Splitting a class by its labelled images: proposed by their looks or by what is chosen in the grid, then by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

from app.actions.row import WRITE, Needs, Section, action
from app.class_split.logic import SplitDraft, first_draft
from app.class_split.wording import too_few_text
from app.feature import Feature
from app.texts import marked

if TYPE_CHECKING:  # the window shows first
    from app.class_split.view import SplitCard
    from app.shell import Shell
    from engine.collection.live import LiveCollection
    from engine.collection.state import CollectionState

FEWEST: Final = 2  # labelled images that a class needs to be split
Kinds = tuple[tuple[int, ...], ...]


@final
class ClassSplitting(Feature):
    """Opens the card and splits."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.card: SplitCard | None = None  # None until it was asked for
        self._session.closed.connect(self._dismiss)
        self._session.failed.connect(self._on_failed)

    @action(
        "split_class", marked("Split class…"), "split", "Ctrl+Alt+J", Section.CLASSES_CHANGE, needs=WRITE | Needs.CLASS
    )
    def ask(self) -> None:
        class_id = self._shell.tree.selected_class
        if class_id is not None:
            self.open(class_id, self._shell.workspace.selected_ids)

    def open(self, class_id: int, chosen: Sequence[int] = ()) -> None:
        """Ask how to split a class.

        Args:
            chosen: images that are to leave it; without any the smaller of two kinds, where there are two.
        """
        session = self._session
        if session.info is not None and session.info.is_writable and class_id in session.graph:
            session.ask(
                lambda live: _look(live, class_id),
                lambda found: self._on_looked(class_id, chosen, *found),
                owner=self,
                topic="split class",
            )

    def _on_looked(self, class_id: int, chosen: Sequence[int], labelled: tuple[int, ...], kinds: Kinds) -> None:
        state, graph = self._session.state, self._session.graph
        if state is None or class_id not in graph:
            return
        known = _listed(state, labelled)
        if len(known) < FEWEST:
            self._toast.say_failure(too_few_text(graph.name(class_id), len(known)))
            return
        if self.card is None:
            self.card = self._make_card()
        self.card.show_draft(first_draft(class_id, graph.name(class_id), known, chosen, kinds), state)

    def _make_card(self) -> SplitCard:
        from app.class_split.view import SplitCard

        card = SplitCard(self._host, self._thumbnails)
        card.split_requested.connect(self._split)
        return card

    def _split(self, draft: SplitDraft, name: str, is_below: bool) -> None:
        from engine.project import SplitPart

        parts = [SplitPart(name, draft.leaving)]
        self._session.act(
            lambda project: project.classes.split(draft.class_id, parts, as_children=is_below)[0],
            on_done=lambda _change: self._dismiss(),
        )

    def _on_failed(self, reason: str) -> None:
        if self.card is not None and self.card.isVisible():
            self.card.show_failure(reason)

    def _dismiss(self) -> None:
        if self.card is not None:
            self.card.dismiss()


def _look(live: LiveCollection, class_id: int) -> tuple[tuple[int, ...], Kinds]:
    """The images that are labelled with a class, and the kinds that they fall into; on the project thread."""
    from engine.collection.graph_suggestions.kinds import kinds_of

    labelled = tuple(image_id for image_id, label in live.embedded.images.label_items() if label == class_id)
    return labelled, kinds_of(live, class_id)


def _listed(state: CollectionState, image_ids: Sequence[int]) -> list[int]:
    """Those of the images that a snapshot knows."""
    known = frozenset(state.image_ids.tolist())
    return [image_id for image_id in image_ids if image_id in known]
