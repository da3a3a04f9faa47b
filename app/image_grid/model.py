"""Qt model of the grid's cards: positions in the latest state, in a stable order."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, final

import numpy as np
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.image_grid.arranging import FEWEST_BEHIND, Arrangement, Arranging
from app.image_grid.card_words import Card, CardWords, Mark, noted_text, stack_text
from app.image_grid.folded import (
    NO_CARDS,
    NO_IMAGES,
    NOTHING_UNFOLDED,
    FoldedCards,
    Positions,
    ShownImages,
)
from app.image_grid.held_order import HeldOrder, Order, has_same_images
from app.session.subsets import ImageFilter, ImageSet
from app.texts import fill, plain_tip, shortened, tr
from app.wording import image_name, number, percent, titled
from engine.arrays import Flags, Integers
from engine.collection.folding.partitions import ALONE
from engine.collection.state import NO_CLASS, Codes, CollectionState
from engine.file_parts import BoundingBox, file_part, is_within_picture

AnyIndex = QModelIndex | QPersistentModelIndex
CARD_ROLE = Qt.ItemDataRole.UserRole + 1
ID_ROLE = Qt.ItemDataRole.UserRole + 2
_LONGEST_COMMENT = 200  # characters, in a tool tip


@final
class ImageGridModel(QAbstractListModel):
    """Sorted images of a `CollectionState` that pass a filter."""

    def __init__(self, words: CardWords, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.state: CollectionState | None = None
        self.filter = ImageFilter()
        self.order = Order.UNSURE_FIRST
        self._missing: frozenset[int] = frozenset()
        self._cards = NO_CARDS
        self._positions: Positions = np.zeros(0, dtype=np.int32)
        self._is_folding = False
        self._unfolded: set[int] = set()  # folds that are shown image by image
        self._held: HeldOrder | None = None
        self._counted_for: Codes | None = None
        self._changed = 0
        self._near = 0  # last row found: the next one is near
        # Whether the current card changes because of sorting, not by the user.
        self.is_rearranging = False
        # Whether the order is kept while predictions change, as the user works on the cards.
        self.is_held = False
        self._arranging = Arranging(self)
        self._arranging.arranged.connect(self._on_arranged)
        self.stop = self._arranging.stop

    def set_state(self, state: CollectionState | None, wanted: ImageFilter | None = None) -> None:
        """Show a newer state; while `is_held`, cards keep their order."""
        is_other_filter = wanted is not None and wanted != self.filter
        self.filter = wanted or self.filter
        if state is None:
            self._arranging.drop()
            self._reset(None, None, NO_CARDS)
        elif self._held is None or is_other_filter or not (self.is_held or self._takes_long(state)):
            self._sort(state)
        else:
            self._follow(state, self._held)

    def _follow(self, state: CollectionState, before: HeldOrder) -> None:
        """Keep the order, and unless it is held, sort in the background."""
        held = before.followed(state, self.filter, self.order)
        if not held.is_in.any():  # no card is left to keep in place
            self._sort(state)
            return
        if held.is_in is before.is_in:
            self._show_same_cards(state, held)
        else:
            self._show(Arrangement.of(held, frozenset(self._unfolded)))
        if not self.is_held:
            self._arranging.begin(self._arrange(state))

    def _takes_long(self, state: CollectionState) -> bool:
        return (
            len(state.image_ids) >= FEWEST_BEHIND
            and self.state is not None
            and has_same_images(self.state, state)
        )

    def _sort(self, state: CollectionState) -> None:
        self._arranging.drop()
        self._show(self._arrange(state)())

    def _arrange(self, state: CollectionState) -> Callable[[], Arrangement]:
        """A function that sorts the cards of a state with the current options, on any thread."""
        sort = partial(
            HeldOrder.sorted_now, state, self.filter, self.order, is_folding=self._is_folding
        )
        folds, unfolded = (
            None if self._held is None else self._held.folds,
            frozenset(self._unfolded),
        )
        return lambda: Arrangement.of(
            held := sort(), unfolded if held.folds is folds else NOTHING_UNFOLDED
        )

    def _on_arranged(self, found: Arrangement) -> None:
        state = self.state
        if self.is_held or state is None:
            return
        if found.held.state is not state:  # newer labels or predictions have arrived
            held = found.held.followed(state, self.filter, self.order)
            is_same = held.is_in is found.held.is_in
            found = (
                replace(found, held=held)
                if is_same
                else Arrangement.of(held, frozenset(self._unfolded))
            )
        self._show(found)

    def follow_search(self, found: ImageSet, moved: Callable[[CollectionState], Flags]) -> None:
        """Update the results of the same search; a held order is kept.

        Args:
            moved: function for the images (n,) of a state that may be added or removed.
        """
        self.filter = replace(self.filter, found=found)
        if self.state is not None and self._held is not None and self.is_held:
            held = self._held.followed(self.state, self.filter, self.order, moved=moved(self.state))
            self._show(Arrangement.of(held, frozenset(self._unfolded)))
        elif self.state is not None:
            self._sort(self.state)

    def set_filter(self, wanted: ImageFilter) -> None:
        self.filter = wanted
        self.refresh()

    def set_missing(self, image_ids: frozenset[int]) -> None:
        self._missing = image_ids

    def set_order(self, order: Order, *, is_awaited: bool = True) -> None:
        """Set the sort order; sort large collections in the background unless `is_awaited`."""
        self.order = order
        if is_awaited or self.state is None or self.is_held or not self._takes_long(self.state):
            self.refresh()
        else:
            self._arranging.begin(self._arrange(self.state))

    def refresh(self) -> None:
        """Sort again, and stop holding the order."""
        self.is_held = False
        self._counted_for = None
        if self.state is not None:
            self._sort(self.state)

    # -- folds

    @property
    def is_folding(self) -> bool:
        return self._is_folding

    def set_folding(self, is_wanted: bool) -> None:
        """Show a fold as one card, or each of its images."""
        if is_wanted != self._is_folding:
            self._is_folding = is_wanted
            self.refresh()

    @property
    def has_other_folds(self) -> bool:
        """Whether new folds are known that the held order does not show yet."""
        is_known = self._held is not None and self.state is not None and self._is_folding
        return (
            is_known
            and self._held is not None
            and self.state is not None
            and not self.state.folds.is_same(self._held.folds)
        )

    @property
    def image_count(self) -> int:
        """Number of images of all cards."""
        return len(self._cards.shown)

    def toggle_fold(self, row: int) -> int | None:
        """Toggle the fold of a card.

        Returns:
            Row of its first card; None for a card without a fold.
        """
        place = self._cards.place(row)
        fold = int(self._cards.folds[place])
        if fold == ALONE or self._cards.sizes[place] < 2:  # noqa: PLR2004 (alone)
            return None
        first = int(self._cards.shown[place - self._cards.turns[place]])
        self._unfolded ^= {fold}
        self.is_held = True
        assert self._held is not None, "it has this card"
        self._show(Arrangement.of(self._held, frozenset(self._unfolded)))
        rows = np.flatnonzero(self._positions == first)
        return int(rows[0])

    def images_under(self, image_ids: Sequence[int]) -> tuple[int, ...]:
        """These images and those folded under their cards, in the shown order."""
        return self._under(image_ids)[0]

    def images_meant(self, image_ids: Sequence[int]) -> tuple[tuple[int, ...], int]:
        """Images that a decision on cards affects, and how many folded ones keep another label."""
        return self._under(image_ids, keeps_labels=True)

    def _under(
        self, image_ids: Sequence[int], *, keeps_labels: bool = False
    ) -> tuple[tuple[int, ...], int]:
        state, found, kept = self.state, list[int](), 0
        if state is None or self._cards.starts is None:
            return tuple(image_ids), 0
        for image_id in image_ids:
            row = self.row_of(image_id)
            under = NO_CARDS.shown if row is None else self._cards.under(row)
            labels = state.label_class[under]
            is_meant = np.ones(len(under), dtype=bool)
            if keeps_labels and len(under):
                is_meant = (labels == NO_CLASS) | (labels == labels[0])
            found += [image_id] if row is None else state.image_ids[under[is_meant]].tolist()
            kept += int(np.count_nonzero(~is_meant))
        return tuple(dict.fromkeys(found)), kept

    def changed_predictions(self) -> int:
        """Number of images whose prediction changed since sorting.

        If the requested order was not known then, all unlabelled ones.
        """
        held = self._held
        if held is None:
            return 0
        if held.is_outdated(self.order):
            return int(np.count_nonzero(held.state.label_class[held.shown] == NO_CLASS))
        # Cached, as counting 100,000 images after each label takes a frame.
        if self._counted_for is not held.state.best_class:
            self._counted_for, self._changed = (
                held.state.best_class,
                held.changed_predictions(self.filter),
            )
        return self._changed

    def _show(self, found: Arrangement) -> None:
        held = found.held
        if self._held is None or held.folds is not self._held.folds:
            self._unfolded.clear()  # folds are renumbered
        if self._has_same_rows(held.state, found.cards.positions):
            self._cards = found.cards
            self._show_same_cards(held.state, held)
        else:
            self._reset(held.state, held, found.cards)

    def _reset(
        self, state: CollectionState | None, held: HeldOrder | None, cards: FoldedCards
    ) -> None:
        """Change state and rows in one reset; slots of `modelAboutToBeReset` see the old ones."""
        self.is_rearranging = True
        self.beginResetModel()
        self.state, self._held, self._cards, self._positions = state, held, cards, cards.positions
        self.endResetModel()
        self.is_rearranging = False

    def _show_same_cards(self, state: CollectionState, held: HeldOrder) -> None:
        self.state, self._held = state, held
        if len(self._positions):
            self.dataChanged.emit(self.index(0), self.index(len(self._positions) - 1))

    def _has_same_rows(self, state: CollectionState, positions: Positions) -> bool:
        if self.state is None or not np.array_equal(positions, self._positions):
            return False
        return has_same_images(self.state, state)

    def row_of(self, image_id: int) -> int | None:
        return self.last_row_of((image_id,))

    def last_row_of(self, image_ids: Sequence[int]) -> int | None:
        # A card that was just removed has no row.
        if self._held is None or not any(map(self._held.has, image_ids)):
            return None
        rows = self.shown.rows_of(image_ids, self._near)
        if len(rows):
            self._near = int(rows[-1])
        return int(rows[-1]) if len(rows) else None

    def id_at(self, row: int) -> int:
        return int(self.shown.at(slice(row, row + 1))[0])

    @property
    def shown(self) -> ShownImages:
        """The images of the current cards."""
        return (
            NO_IMAGES if self.state is None else ShownImages(self.state.image_ids, self._positions)
        )

    @property
    def image_ids(self) -> Integers:
        """Ids (rows,) of the images of all cards; computed on each call."""
        return self.shown.at(slice(None))

    def card(self, row: int) -> Card:
        assert self.state is not None
        stack, chip = self._stack(row)
        return replace(self._card_at(self.state, int(self._positions[row])), stack=stack, chip=chip)

    def card_of(self, image_id: int) -> Card | None:
        """The card of an image, even if it is not shown; None if it is not in the project."""
        try:
            return (
                None
                if self.state is None
                else self._card_at(self.state, self.state.position(image_id))
            )
        except KeyError:
            return None

    def _card_at(self, state: CollectionState, place: int) -> Card:
        image_id = int(state.image_ids[place])
        is_missing, is_replaced = image_id in self._missing, image_id in state.outdated
        mark, title, detail, score = self._words.of(state, place)
        if is_missing and mark in {Mark.FAILED, Mark.WAITING}:
            mark, title = Mark.MISSING, tr("Not found")
        elif is_missing:
            detail = tr("Not found")
        elif is_replaced:
            detail = tr("Photo replaced")
        similarity = (
            None
            if self.filter.images is None or detail
            else self.filter.images.similarity_of(image_id)
        )
        if similarity is not None:
            detail = tr("{1} similar", percent(max(0.0, similarity)))
        note, boxes, key = (
            state.notes.get(image_id),
            boxes_in(state, image_id),
            self._words.key_of(state, place),
        )
        noted = (
            (0, False, False) if note is None else (note.stars, note.is_flagged, bool(note.comment))
        )
        words = state.source_at(place), mark, title, detail, score, is_missing
        return Card(image_id, *words, *noted, is_replaced=is_replaced, boxes=boxes, label_key=key)

    def _stack(self, row: int) -> tuple[int, str]:
        """Number of images of a card, and the text of its badge."""
        place = self._cards.place(row)
        size = int(self._cards.sizes[place])
        if size == 1:
            return 0, ""
        if int(self._cards.folds[place]) in self._unfolded:
            turn = int(self._cards.turns[place]) + 1
            return 0, fill(tr("{1} of {2}"), number(turn), number(size))
        return size, tr("×{1}", number(size))  # noqa: RUF001 (times so many)

    def _tip(self, card: Card) -> str:
        failure = (
            self.state.failures.get(card.image_id, "")
            if self.state and card.mark is Mark.FAILED
            else ""
        )
        note = self.state.notes.get(card.image_id) if self.state and card.has_comment else None
        comment = shortened(note.comment, _LONGEST_COMMENT) if note is not None else ""
        return "\n".join(filter(None, (image_name(card.source), failure, comment)))

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self._positions)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == ID_ROLE:
            return self.id_at(index.row())
        card = self.card(index.row())
        if role == CARD_ROLE:
            return card
        words = " ".join(
            filter(None, (card.title, card.detail, card.score, stack_text(card), noted_text(card)))
        )
        texts = {
            Qt.ItemDataRole.DisplayRole: card.title,
            Qt.ItemDataRole.ToolTipRole: plain_tip(self._tip(card)),
            Qt.ItemDataRole.AccessibleTextRole: titled(image_name(card.source), words),
        }
        return texts.get(Qt.ItemDataRole(role))


def boxes_in(state: CollectionState, image_id: int) -> tuple[BoundingBox, ...]:
    """The boxes in the picture of an image."""
    if not state.items or is_within_picture(state.source_of(image_id).part):
        return ()
    parts = {each: file_part(part) for each, part in state.items_of_file(image_id).items()}
    picture = parts[image_id]
    return tuple(
        part.box for part in parts.values() if part.box is not None and part.picture == picture
    )
