"""The order of a project's images: as chosen for it, else the most useful one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Protocol, final

from PySide6.QtCore import QObject

from app.image_grid.held_order import Order
from app.settings import Settings

if TYPE_CHECKING:
    from app.session import ProjectInfo, Session

ENOUGH_LABELS = 5
"""Labels of a class. Chosen: with fewer, choosing informative images matters more than
uncertainty."""


def default_order(leaves: Collection[int], label_counts: Mapping[int, int]) -> Order:
    """Teach first while some class has too few labels, then least certain first."""
    has_enough = bool(leaves) and all(label_counts.get(leaf, 0) >= ENOUGH_LABELS for leaf in leaves)
    return Order.UNSURE_FIRST if has_enough else Order.TEACH_FIRST


class UseOrder(Protocol):
    """Sorts the cards."""

    def __call__(self, order: Order, *, is_chosen: bool) -> None: ...


@final
class ProjectOrder(QObject):
    """Restores a project's order when it is opened, unless cards are held; stores a chosen one."""

    def __init__(
        self,
        session: Session,
        settings: Settings,
        use: UseOrder,
        is_held: Callable[[], bool],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._settings = settings
        self._use = use
        self._is_held = is_held
        self._is_chosen = False
        session.opened.connect(self._on_opened)
        session.loaded.connect(self._on_loaded)
        use(Order.UNSURE_FIRST, is_chosen=False)
        if session.info is not None:
            self._on_opened(session.info)

    def choose(self, order: Order) -> None:
        """Set and store the order of the open project."""
        self._is_chosen = True
        if self._session.info is not None:
            self._settings.remember_order(self._session.info.project_id, order.value)
        self._use(order, is_chosen=True)

    def _on_opened(self, info: ProjectInfo) -> None:
        name = self._settings.order_of(info.project_id)
        self._is_chosen = name in set(Order)
        if self._is_chosen:
            self._use(Order(name), is_chosen=False)

    def _on_loaded(self) -> None:
        state = self._session.state
        if state is not None and not self._is_chosen and not self._is_held():
            self._use(
                default_order(self._session.graph.leaves(), state.shot_counts), is_chosen=False
            )
