"""Temporary content of the central pane: a set of images, or a feature's page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.session.subsets import Subset

if TYPE_CHECKING:
    from app.image_grid.view import ImageGrid
    from app.session.subsets import ImageSet


@dataclass(frozen=True)
class GridPlace:
    """Scroll position and current image of the grid."""

    subset: Subset
    image_id: int | None
    scrolled: int

    @staticmethod
    def of(grid: ImageGrid, subset: Subset) -> GridPlace:
        return GridPlace(subset, grid.current_id, grid.verticalScrollBar().value())

    def go_to(self, grid: ImageGrid) -> None:
        if self.image_id is not None:
            grid.select_image(self.image_id)
        grid.doItemsLayout()  # list views defer their layout, and could not scroll that far before
        grid.verticalScrollBar().setValue(self.scrolled)


class Describes(Enum):
    """What the inspector describes while a page is in front."""

    NOTHING = auto()  # it is hidden to make room for the page
    LARGE_IMAGE = auto()  # an image that the page shows large
    IMAGE = auto()  # an image selected on the page


ShownPage = tuple[QWidget, str, Describes]
"""A page, its title, and what the inspector describes."""


@final
class SetVisit:
    """The displayed set of images, and the position to go back to."""

    def __init__(self, grid: ImageGrid) -> None:
        self._grid = grid
        self._left: GridPlace | None = None
        self.images: ImageSet | None = None
        self.page: ShownPage | None = None  # where the set was opened from a page

    def begin(self, images: ImageSet, subset: Subset, page: ShownPage | None = None) -> None:
        """Show a set; the position to go back to stays that of the first one."""
        if self.images is None:
            self._left = GridPlace.of(self._grid, subset)
        self.images, self.page = images, page or self.page

    def end(self) -> GridPlace | None:
        """Stop showing the set, and return the position to go back to."""
        left, self._left, self.images, self.page = self._left, None, None, None
        return left


@final
class PageVisit(QObject):
    """The displayed page of a feature.

    Attributes:
        rests_grid: whether the cards ignore changes meanwhile.
        describes: what the inspector describes.
    """

    left = Signal(QWidget)

    def __init__(self, content: QStackedWidget) -> None:
        super().__init__(content)
        self._content = content
        self.page: QWidget | None = None
        self.title = ""
        self.rests_grid = False
        self.describes = Describes.IMAGE

    def begin(
        self, page: QWidget, title: str, *, describes: Describes, rests_grid: bool = False
    ) -> None:
        if self.page is not page:
            self.end()
        if self._content.indexOf(page) < 0:
            self._content.addWidget(page)
        self.page, self.title, self.rests_grid, self.describes = page, title, rests_grid, describes

    def end(self) -> None:
        page, self.page, self.rests_grid = self.page, None, False
        if page is not None:
            self.left.emit(page)
