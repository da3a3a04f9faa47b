"""The grid's cards as a Qt model: positions in the newest state, kept in place by image id."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.image_grid.logic import Order, positions
from app.session.subsets import ImageFilter
from app.wording import percent
from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState, ImageStatus

AnyIndex = QModelIndex | QPersistentModelIndex
CARD_ROLE = Qt.ItemDataRole.UserRole + 1
ID_ROLE = Qt.ItemDataRole.UserRole + 2


class Mark(Enum):
    """What kind of word stands on a card."""

    LABELLED = auto()
    SURE = auto()
    COARSE = auto()
    GUESS = auto()
    UNKNOWN = auto()
    SAID_UNKNOWN = auto()
    WAITING = auto()
    FAILED = auto()
    MISSING = auto()
    NOTHING = auto()


@dataclass(frozen=True)
class Card:
    """Everything a card shows.

    Attributes:
        image_id: the image.
        path: its file.
        mark: what kind of word `title` is.
        title: the label or prediction.
        detail: second line, quieter.
        score: right of the title; "" for none.
        is_missing: the file is not where it was.
    """

    image_id: int
    path: Path
    mark: Mark
    title: str
    detail: str
    score: str
    is_missing: bool = False


@final
class ImageGridModel(QAbstractListModel):
    """Images of a `CollectionState` that pass a filter, in order.

    Args:
        name_of: name of a class by its id.
        parent: owner.
    """

    def __init__(self, name_of: Callable[[int], str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name_of = name_of
        self.state: CollectionState | None = None
        self.filter = ImageFilter()
        self.order = Order.UNSURE_FIRST
        self._missing: frozenset[int] = frozenset()
        self._positions: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    @property
    def image_ids(self) -> NDArray[np.int64]:
        """(rows,) ids in the order shown."""
        return np.zeros(0, dtype=np.int64) if self.state is None else self.state.image_ids[self._positions]

    def set_state(self, state: CollectionState | None) -> None:
        """Show a newer state. Cards keep their order while the same ones are shown, so that nothing jumps."""
        wanted = self._wanted(state)
        kept = None if state is None else _kept(state.image_ids, self.image_ids, wanted)
        self._replace(wanted if kept is None else kept, state)

    def set_filter(self, wanted: ImageFilter) -> None:
        """Show other images."""
        self.filter = wanted
        self.refresh()

    def set_missing(self, image_ids: frozenset[int]) -> None:
        """Mark the images that are not where they were; cards stay where they are."""
        self._missing = image_ids

    def set_order(self, order: Order) -> None:
        """Show them in another order."""
        self.order = order
        self.refresh()

    def refresh(self) -> None:
        """Sort anew what may have moved."""
        self._replace(self._wanted(self.state), self.state)

    def _wanted(self, state: CollectionState | None) -> NDArray[np.int64]:
        return np.zeros(0, dtype=np.int64) if state is None else positions(state, self.filter, self.order)

    def _replace(self, wanted: NDArray[np.int64], state: CollectionState | None) -> None:
        """Change state and rows at once: who is told that a reset begins still sees the old ones."""
        self.beginResetModel()
        self.state, self._positions = state, wanted
        self.endResetModel()

    def row_of(self, image_id: int) -> int | None:
        """Row of an image; None when it is not shown."""
        rows = np.flatnonzero(self.image_ids == image_id)
        return int(rows[0]) if len(rows) else None

    def last_row_of(self, image_ids: Sequence[int]) -> int | None:
        """Last row that shows one of these images; None when none is shown."""
        rows = np.flatnonzero(np.isin(self.image_ids, np.array(image_ids, dtype=np.int64)))
        return int(rows[-1]) if len(rows) else None

    def id_at(self, row: int) -> int:
        """Image in a row."""
        assert self.state is not None
        return int(self.state.image_ids[self._positions[row]])

    def card(self, row: int) -> Card:
        """What the card in a row shows."""
        state = self.state
        assert state is not None
        place = int(self._positions[row])
        image_id = int(state.image_ids[place])
        is_missing = image_id in self._missing
        mark, title, detail, score = self._words(state, place)
        if is_missing and mark in {Mark.FAILED, Mark.WAITING}:
            mark, title = Mark.MISSING, self.tr("Not found")
        elif is_missing:
            detail = self.tr("Not found")
        path = state.folder / state.paths[place]
        return Card(image_id, path, mark, title, detail, score, is_missing)

    def _words(self, state: CollectionState, place: int) -> tuple[Mark, str, str, str]:
        label = int(state.label_class[place])
        if label == UNKNOWN:
            return Mark.SAID_UNKNOWN, self.tr("None of the classes"), "", ""
        if label != NO_CLASS:
            return Mark.LABELLED, self._class_title(label), "", ""
        return self._machine_words(state, place)

    def _machine_words(self, state: CollectionState, place: int) -> tuple[Mark, str, str, str]:
        if state.status[place] == ImageStatus.FAILED:
            return Mark.FAILED, self.tr("Cannot be read"), "", ""
        if state.status[place] == ImageStatus.WAITING:
            return Mark.WAITING, self.tr("Waiting"), "", ""
        return self._prediction(state, place)

    def _prediction(self, state: CollectionState, place: int) -> tuple[Mark, str, str, str]:
        best, safe = int(state.best_class[place]), int(state.safe_class[place])
        if best == NO_CLASS:
            return Mark.NOTHING, self.tr("No prediction yet"), "", ""
        score = percent(float(state.best_score[place]))
        guess = self.tr("%1?").replace("%1", self._class_title(best))
        if state.is_unknown[place]:
            return Mark.UNKNOWN, self.tr("Unknown"), guess, ""
        if safe == best:
            return Mark.SURE, self._class_title(best), "", score
        if safe != NO_CLASS:
            return Mark.COARSE, self._class_title(safe), f"{guess} {score}", percent(float(state.safe_score[place]))
        return Mark.GUESS, guess, self.tr("not sure"), score

    def _class_title(self, class_id: int) -> str:
        """A class's name; in quotes where the program says the same of an image that shows none of the classes."""
        name = self._name_of(class_id)
        own_words = {self.tr("Unknown").casefold(), self.tr("None of the classes").casefold()}
        return self.tr("“%1”").replace("%1", name) if name.casefold() in own_words else name

    # -- Qt

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        """Count the cards."""
        return 0 if parent.isValid() else len(self._positions)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Read a card."""
        if not index.isValid():
            return None
        if role == ID_ROLE:
            return self.id_at(index.row())
        card = self.card(index.row())
        if role == CARD_ROLE:
            return card
        texts = {
            Qt.ItemDataRole.DisplayRole: card.title,
            Qt.ItemDataRole.ToolTipRole: card.path.name,
            Qt.ItemDataRole.AccessibleTextRole: f"{card.path.name}: {card.title} {card.detail} {card.score}".strip(),
        }
        return texts.get(Qt.ItemDataRole(role))


def _kept(ids: NDArray[np.int64], before: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The old order less the cards that left, when no card came; None when cards must be laid out anew.

    Args:
        ids: (n,) all images, ascending.
        before: (rows,) ids that were shown.
        wanted: (new rows,) positions in `ids` to show.
    """
    if len(before) == 0 or len(wanted) == 0:
        return None
    places = np.minimum(np.searchsorted(ids, before), len(ids) - 1)
    still = places[ids[places] == before]
    fits = np.zeros(len(ids), dtype=bool)
    fits[wanted] = True
    still = still[fits[still]]
    return still if len(still) == len(wanted) else None
