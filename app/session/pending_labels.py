"""Labels that a person gave and the project does not hold yet: the screen shows them already."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from engine.collection.state import CollectionState


@dataclass(frozen=True, eq=False)
class PendingLabels:
    """One action: the code each image gets, a class id, `UNKNOWN` or `NO_CLASS`."""

    codes: Mapping[int, int]


@final
class LabelOverlay:
    """Actions that are on their way to the file, in the order in which they were done."""

    def __init__(self) -> None:
        self._waiting: list[PendingLabels] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, codes: Mapping[int, int]) -> PendingLabels:
        """Show these labels from now on."""
        labels = PendingLabels(codes)
        self._waiting.append(labels)
        return labels

    def drop(self, labels: PendingLabels) -> None:
        """Show them no more: the project holds them, or refused them."""
        self._waiting = [other for other in self._waiting if other is not labels]

    def clear(self) -> None:
        """Forget all: the project was left."""
        self._waiting.clear()

    def over(self, state: "CollectionState") -> "CollectionState":
        """The state as it will be when all is written; images that left the project are passed over."""
        if not self._waiting:
            return state
        codes = state.label_class.copy()
        for labels in self._waiting:
            for image_id, code in labels.codes.items():
                try:
                    codes[state.position(image_id)] = code
                except KeyError:
                    continue
        return replace(state, label_class=codes)
