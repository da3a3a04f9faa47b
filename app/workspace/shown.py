"""The images in the grid: a subset of the collection, a class or a set, filtered by a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, final

from app.drops import classes_text
from app.session.subsets import ImageFilter, ImageSet, Subset, count, subset_text
from app.texts import tr
from app.workspace.visits import SetVisit

if TYPE_CHECKING:
    from app.image_grid.view import ImageGrid
    from app.session import Session
    from app.workspace.searching import Searching


@final
class Shown:
    """The current choice of subset, class, set and search, combined to a filter.

    Attributes:
        class_id: the class, or None for the whole collection.
        subset: of the class, the set, or all images.
        visit: the displayed set of images, if any.
    """

    def __init__(self, session: Session, grid: ImageGrid, searching: Searching) -> None:
        self._session = session
        self._searching = searching
        self._further: tuple[int, ...] = ()  # further selected classes
        self.class_id: int | None = None
        self.subset = Subset.ALL
        self.visit = SetVisit(grid)

    @property
    def images(self) -> ImageSet | None:
        """The displayed set, if any."""
        return self.visit.images

    def choose(
        self, subset: Subset, class_id: int | None = None, further: Sequence[int] = ()
    ) -> None:
        """Choose a subset of all images, or of a class and the further classes selected with it."""
        self.subset, self.class_id = subset, class_id
        self._further = tuple(each for each in further if each != class_id)

    def choose_further(self, chosen: Sequence[int]) -> bool:
        """Set the further selected classes; False where nothing changes."""
        further = tuple(each for each in chosen if each != self.class_id)
        if self.class_id not in chosen or further == self._further:
            return False
        self._further = further
        return True

    def choose_own_order(self, *, is_wanted: bool) -> bool:
        """Show the set in its own order, or in another one; False where nothing changes."""
        images = self.visit.images
        if images is None or images.is_ordered == is_wanted:
            return False
        self.visit.images = replace(images, is_ordered=is_wanted)
        return True

    @property
    def has_lost_class(self) -> bool:
        """Whether the class was removed."""
        return self.class_id is not None and self.class_id not in self._session.graph

    @property
    def has_class(self) -> bool:
        return self.images is None and self.class_id is not None and not self.has_lost_class

    @property
    def class_name(self) -> str:
        """Name of the class, or the number of selected ones; "" without one."""
        if not self.has_class or self.class_id is None:
            return ""
        return (
            classes_text(1 + len(self._further)) if self._further else self.name_of(self.class_id)
        )

    @property
    def title(self) -> str:
        return (
            self.images.title
            if self.images is not None
            else self.class_name or subset_text(self.subset)
        )

    def filter(self, subset: Subset | None = None) -> ImageFilter:
        class_ids = None if self.images is not None else self._class_ids()
        return ImageFilter(
            self.subset if subset is None else subset, class_ids, self.images, self._searching.hits
        )

    def count(self, subset: Subset | None = None) -> int:
        state = self._session.state
        return 0 if state is None else count(state, self.filter(subset))

    @property
    def to_review(self) -> int | None:
        """Number of images to review; None where the subset already implies it."""
        return self.count(Subset.TO_REVIEW) if self.subset is Subset.ALL else None

    def name_of(self, class_id: int) -> str:
        graph = self._session.graph
        return graph.shown_name(class_id) if class_id in graph else tr("(removed)")

    def _class_ids(self) -> frozenset[int] | None:
        graph = self._session.graph
        if self.class_id is None or self.class_id not in graph:
            return None
        chosen = [each for each in (self.class_id, *self._further) if each in graph]
        return frozenset(chosen).union(*map(graph.descendants, chosen))
