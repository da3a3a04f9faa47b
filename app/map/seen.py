"""Protocol of the canvas for the painters of a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QPointF
from PySide6.QtGui import QFont

if TYPE_CHECKING:
    from app.graph_view.viewport import Camera
    from app.map.points import Box
    from app.map.scene import MapScene
    from engine.arrays import Flags, Integers


class MapView(Protocol):
    """A view of the plane; implemented by `MapCanvas`."""

    scene: MapScene
    camera: Camera
    chosen: Flags
    current: int | None
    hovered: int | None
    covered: tuple[Box, ...]
    shows_prototypes: bool

    @property
    def view_size(self) -> tuple[float, float]: ...

    @property
    def fitting_scale(self) -> float: ...

    @property
    def seen(self) -> Box: ...

    @property
    def radius(self) -> float: ...

    @property
    def is_moving(self) -> bool: ...

    @property
    def chosen_count(self) -> int: ...

    def rows_in_view(self) -> Integers: ...

    def point_of(self, x: float, y: float, /) -> QPointF: ...

    def devicePixelRatioF(self) -> float: ...

    def font(self) -> QFont: ...

    def update(self) -> None: ...

    def isVisible(self) -> bool: ...

    def width(self) -> int: ...

    def height(self) -> int: ...
