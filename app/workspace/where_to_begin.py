"""Says once where to begin, in a collection that nobody has labelled anything of."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

import numpy as np

from app.image_grid.logic import Order
from app.image_grid.model import ImageGridModel
from app.status.notice import Notice
from app.texts import translate
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus

if TYPE_CHECKING:
    from app.session import Session

FEWEST_IMAGES: Final = 30
"""So many can be looked through without help."""


def nobody_labelled(state: CollectionState) -> bool:
    """Whether there are many images, all of them read, and no label."""
    if len(state.image_ids) < FEWEST_IMAGES or state.is_list_only:
        return False
    return bool((state.label_class == NO_CLASS).all() and not np.any(state.status == ImageStatus.WAITING))


@final
class WhereToBegin:
    """Offers the order "Teach first", once for each time that a project is opened.

    Args:
        session: of the open project.
        model: of the cards; it knows the order in use.
        choose_order: chooses another.

    Attributes:
        notice: what asks; hidden until it is needed.
    """

    def __init__(self, session: "Session", model: ImageGridModel, choose_order: Callable[[Order], None]) -> None:
        self.notice = Notice()
        self._session = session
        self._model = model
        self._choose_order = choose_order
        self._has_asked = False

    def follow(self, state: CollectionState | None) -> None:
        """Ask where that helps, and go as soon as there is a label."""
        info = self._session.info
        if state is None or info is None:
            self._has_asked = False
            self.notice.hide()
        elif not nobody_labelled(state) or self._model.order is Order.TEACH_FIRST:
            self.notice.hide()
        elif not self._has_asked and info.is_writable and len(self._session.graph):
            self._has_asked = True
            text = translate(
                "workspace", "Nothing is labelled yet. “Teach first” puts the images on top whose labels help most."
            )
            self.notice.ask(
                text, [(translate("workspace", "Teach first"), lambda: self._choose_order(Order.TEACH_FIRST))]
            )
