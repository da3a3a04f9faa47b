"""Splitting a class by its labelled images; the proposal can be edited by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from app.actions.row import WRITE, Needs, Section, action
from app.feature import CardFeature
from app.texts import marked, plural

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.class_split.view import SplitCard, SplitDraft
    from app.shell import Shell
    from engine.collection.live import LiveCollection

FEWEST = 2  # minimum number of labelled images of a class to split
Kinds = tuple[tuple[int, ...], ...]


def too_few_text(name: str, count: int) -> str:
    return plural(
        count,
        "{1} has 1 labelled image; to split a class takes 2. Label some more first.",
        "{1} has {n} labelled images; to split a class takes 2. Label some more first.",
        name,
    )


@final
class ClassSplitting(CardFeature["SplitCard"]):
    """Open the card and split."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._session.failed.connect(self._on_failed)

    @action(
        "split_class",
        marked("Split class…"),
        "split",
        "Ctrl+Alt+J",
        Section.CLASSES_CHANGE,
        needs=WRITE | Needs.CLASS,
    )
    def ask(self) -> None:
        class_id = self._shell.tree.selected_class
        if class_id is not None:
            self.open(class_id, self._shell.workspace.grid.selected_ids)

    def open(self, class_id: int, chosen: Sequence[int] = ()) -> None:
        """Propose to move `chosen` images, or by default the smaller of two clusters."""
        session = self._session
        if session.is_writable and class_id in session.graph:
            session.ask(
                lambda live: _look(live, class_id),
                lambda found: self._on_looked(class_id, chosen, *found),
                owner=self,
                topic="split class",
            )

    def _on_looked(
        self, class_id: int, chosen: Sequence[int], labelled: tuple[int, ...], kinds: Kinds
    ) -> None:
        state, graph = self._session.state, self._session.graph
        if state is None or class_id not in graph:
            return
        listed = frozenset(state.image_ids.tolist())
        known = [image_id for image_id in labelled if image_id in listed]
        if len(known) < FEWEST:
            self._toast.report_failure(too_few_text(graph.shown_name(class_id), len(known)))
            return
        from app.class_split.view import first_draft

        self.made_card().show_draft(
            first_draft(class_id, graph.name(class_id), known, chosen, kinds), state
        )

    def make_card(self) -> SplitCard:
        from app.class_split.view import SplitCard

        card = SplitCard(self._host, self._thumbnails)
        card.split_requested.connect(self._split)
        return card

    def _split(self, draft: SplitDraft, name: str, is_below: bool) -> None:
        from engine.project import SplitPart

        parts = [SplitPart(name, draft.leaving)]
        self._session.act(
            lambda project: project.classes.split(draft.class_id, parts, as_children=is_below)[0],
            on_done=lambda _change: self.made_card().dismiss(),
        )

    def _on_failed(self, reason: str) -> None:
        if self.card is not None and self.card.isVisible():
            self.card.show_failure(reason)


def _look(live: LiveCollection, class_id: int) -> tuple[tuple[int, ...], Kinds]:
    """Labelled images of a class and their clusters; called on the project thread."""
    from engine.collection.graph_suggestions.pairs import kinds_of

    labelled = tuple(live.embedded.images.labelled_as(class_id))
    return labelled, kinds_of(live, class_id)
