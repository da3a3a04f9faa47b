"""Images that keys act on: the cards of the grid, or the images of a page that replaces it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, final

if TYPE_CHECKING:
    from app.image_grid.model import ImageGridModel
    from app.image_grid.view import ImageGrid


class PageOfImages(Protocol):
    """A page with images of its own."""

    @property
    def current_id(self) -> int | None:
        """The current image."""

    def go_on_from(self, image_ids: Sequence[int]) -> None:
        """Go to the next image after some were decided."""

    def go_to_next(self) -> None: ...

    def look_at(self, image_id: int) -> bool:
        """Make an image current; False where the page does not have it."""


@final
class ActiveImages:
    """The images in hand."""

    def __init__(self, grid: ImageGrid, model: ImageGridModel) -> None:
        self._grid, self._model = grid, model
        self._page: PageOfImages | None = None
        self._decided: tuple[int, ...] = ()
        grid.current_image_changed.connect(self._on_moved)
        grid.images_selected.connect(self._on_moved)

    def take(self, page: PageOfImages | None) -> None:
        """Let keys act on the images of a page; None for the cards of the grid."""
        self._page = page
        self._decided = ()
        if page is None:
            self._grid.publish_current()

    @property
    def is_page(self) -> bool:
        return self._page is not None

    @property
    def current_id(self) -> int | None:
        """The current image."""
        return self._grid.current_id if self._page is None else self._page.current_id

    @property
    def chosen_ids(self) -> tuple[int, ...]:
        """The selected images, else the current one; on a page always the current one."""
        selected = self._grid.selected_ids if self._page is None else ()
        current = self.current_id
        return selected or (() if current is None else (current,))

    @property
    def meant_ids(self) -> tuple[int, ...]:
        """The images that a note applies to: those decided last, else the chosen ones.

        Decided images count until another image is selected.
        """
        return self._decided or self.chosen_ids

    @property
    def decided_ids(self) -> tuple[int, ...]:
        """The cards that were decided last; none after another one was selected."""
        return self._decided

    def _on_moved(self, _chosen: object) -> None:
        self._decided = ()

    def look_at(self, image_id: int) -> None:
        """Make an image current where it is shown."""
        if self._page is None or not self._page.look_at(image_id):
            self._grid.select_image(image_id)

    def go_on_from(self, image_ids: Sequence[int]) -> None:
        """Select the card after these.

        Where labelled images leave the filter, the next card already has their row.
        """
        row = self._model.last_row_of(image_ids)
        if self._page is not None:
            self._page.go_on_from(image_ids)
            return
        if row is not None:
            self._grid.select_row(row + 1)
        self._decided = tuple(image_ids)

    def go_to_next(self) -> None:
        self._decided = ()
        if self._page is not None:
            self._page.go_to_next()
        else:
            self._grid.select_row(self._grid.currentIndex().row() + 1)
