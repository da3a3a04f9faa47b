"""The large image in the centre, which follows the current card of the grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtWidgets import QStackedWidget

from app.image_view.view import ImageView

if TYPE_CHECKING:
    from app.image_grid.view import ImageGrid
    from app.session import Session


@final
class OneImage:
    """Shows the current image of the grid alone."""

    def __init__(self, session: Session, grid: ImageGrid, content: QStackedWidget) -> None:
        self._session = session
        self._grid = grid
        self._content = content
        self.view = ImageView()
        self.image_id: int | None = None  # the displayed image, or the last one

    @property
    def is_open(self) -> bool:
        return self._content.currentWidget() is self.view

    def open(self, image_id: int) -> None:
        self._grid.select_image(image_id)
        self._content.setCurrentWidget(self.view)
        self.follow()
        self.view.setFocus()

    def leave(self) -> None:
        if self.is_open:
            self._content.setCurrentWidget(self._grid)
            self._grid.setFocus()

    def follow(self) -> None:
        """Show the grid's current image, or its first one."""
        rows = self._grid.model().rowCount()
        if self._grid.current_id is None and rows:
            self._grid.select_row(0)
        image_id = self._grid.current_id
        if image_id is not None and self._session.state is not None:
            self.image_id = image_id
            source, row = self._session.state.source_of(image_id), self._grid.currentIndex().row()
            self.view.show_image(source, place=row + 1, count=rows)
