"""What the keys of images act on: the cards of the grid, or the images of a page that stands in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class ImagesInHand(Protocol):
    """A page with images of its own (`Workspace.take_in_hand`)."""

    @property
    def current_id(self) -> int | None:
        """The image that is worked on."""

    def go_on_from(self, image_ids: Sequence[int]) -> None:
        """Some were decided: go on to the next one."""

    def go_to_next(self) -> None: ...

    def look_at(self, image_id: int) -> bool:
        """Make an image current; False where the page does not have it."""
