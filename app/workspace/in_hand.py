"""What the keys of images act on: the cards of the grid, or the images of a page that stands in their place."""

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
        """The image that is worked on."""

    def go_on_from(self, image_ids: Sequence[int]) -> None:
        """Some were decided: go on to the next one."""

    def go_to_next(self) -> None: ...

    def look_at(self, image_id: int) -> bool:
        """Make an image current; False where the page does not have it."""


@final
class InHand:
    """The images in hand."""

    def __init__(self, grid: ImageGrid, model: ImageGridModel) -> None:
        self._grid, self._model = grid, model
        self._page: PageOfImages | None = None
        self._decided: tuple[int, ...] = ()
        grid.current_image_changed.connect(self._on_moved)
        grid.images_selected.connect(self._on_moved)

    def take(self, page: PageOfImages | None) -> None:
        """Let the keys of images act on those of a page; None for the cards of the grid again."""
        self._page = page
        self._decided = ()
        if page is None:
            self._grid.tell_current()

    @property
    def is_page(self) -> bool:
        return self._page is not None

    @property
    def current_id(self) -> int | None:
        """The image that is worked on."""
        return self._grid.current_id if self._page is None else self._page.current_id

    @property
    def chosen_ids(self) -> tuple[int, ...]:
        """The selected images, else the current one; of a page the current one."""
        selected = self._grid.selected_ids if self._page is None else ()
        current = self.current_id
        return selected or (() if current is None else (current,))

    @property
    def meant_ids(self) -> tuple[int, ...]:
        """The images that a note is about: those decided just now, until the person moves; else the chosen ones."""
        return self._decided or self.chosen_ids

    @property
    def decided_ids(self) -> tuple[int, ...]:
        """The cards that were decided just now; none once the person moved."""
        return self._decided

    def _on_moved(self, _chosen: object) -> None:
        self._decided = ()

    def look_at(self, image_id: int) -> None:
        """Make an image current where it is shown."""
        if self._page is None or not self._page.look_at(image_id):
            self._grid.select_image(image_id)

    def go_on_from(self, image_ids: Sequence[int]) -> None:
        """Select the card after these; where labelled images leave the filter, it has taken their place already."""
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
