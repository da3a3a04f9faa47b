"""Fixed subsets of images and filters that screens show and count."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from app.texts import marked, tr
from engine.arrays import Flags, Floats, Integers
from engine.collection.state import Codes, CollectionState, shown_classes


class Subset(StrEnum):
    """The fixed rows above the classes."""

    ALL = "all"
    TO_REVIEW = "to_review"
    LABELLED = "labelled"
    UNKNOWN = "unknown"
    FAILED = "failed"


def subset_counts(state: CollectionState | None) -> dict[Subset, int]:
    return {subset: 0 if state is None else count(state, ImageFilter(subset)) for subset in Subset}


_TEXTS: dict[Subset, str] = {
    Subset.ALL: marked("All images"),
    Subset.TO_REVIEW: marked("To review"),
    Subset.LABELLED: marked("Labelled"),
    Subset.UNKNOWN: marked("Unknown", about="images"),
    Subset.FAILED: marked("Could not be read", about="images"),
}


def subset_text(subset: Subset) -> str:
    return tr(_TEXTS[subset])


@dataclass(frozen=True, eq=False)
class ImageSet:
    """A set of images to be shown on its own, such as a search result; compared by identity."""

    image_ids: Integers  # (k,) int64, unique
    title: str
    is_ordered: bool = False  # shown in this order by default
    order_name: str = ""  # name of its own order in the menu; "" for none
    # (k,) cosine similarities to the query images, shown on cards; None for none.
    similarities: Floats | None = None

    def holds(self, image_ids: Integers) -> Flags:
        """(n,) mask of the images that are in the set."""
        return np.isin(image_ids, self.image_ids)

    def similarity_of(self, image_id: int) -> float | None:
        """Cosine similarity of an image to the query images."""
        place = np.flatnonzero(self.image_ids == image_id)
        return (
            None
            if self.similarities is None or not len(place)
            else float(self.similarities[place[0]])
        )

    def ranks(self, image_ids: Integers) -> Integers:
        """(n,) positions of images in the set, which must contain them."""
        by_id = np.argsort(self.image_ids)
        return by_id[np.searchsorted(self.image_ids, image_ids, sorter=by_id)]


@dataclass(frozen=True)
class ImageFilter:
    """What to show: a subset of all images or of a set, optionally restricted to classes.

    Classes include their descendants; None for all classes.
    """

    subset: Subset = Subset.ALL
    class_ids: frozenset[int] | None = None
    images: ImageSet | None = None
    found: ImageSet | None = None  # result of a search


def shown_class(state: CollectionState) -> Codes:
    """(n,) the displayed class of each image: its label, else its most likely class.

    `NO_CLASS` where unknown.
    """
    return shown_classes(state.label_class, state.best_class, state.is_unknown)


def fitting(state: CollectionState, wanted: ImageFilter) -> Flags:
    """(n,) mask of the images that pass a filter; read-only."""
    subsets: dict[Subset, Callable[[], Flags]] = {
        Subset.ALL: lambda: np.ones(len(state.image_ids), dtype=bool),
        Subset.TO_REVIEW: lambda: state.is_to_review,
        Subset.LABELLED: lambda: state.is_labelled,
        Subset.UNKNOWN: lambda: state.is_shown_unknown,
        Subset.FAILED: lambda: state.has_failed,
    }
    fits = subsets[wanted.subset]() & ~state.is_hidden
    if wanted.images is not None:
        fits = fits & wanted.images.holds(state.image_ids)
    if wanted.found is not None:
        fits = fits & wanted.found.holds(state.image_ids)
    if wanted.class_ids is not None:
        fits = fits & np.isin(shown_class(state), np.fromiter(wanted.class_ids, dtype=np.int64))
    return fits


_COUNTS: dict[Subset, Callable[[CollectionState], int]] = {
    Subset.ALL: lambda state: len(state.image_ids),
    Subset.TO_REVIEW: lambda state: state.to_review_count,
    Subset.LABELLED: lambda state: state.labelled_count,
    Subset.UNKNOWN: lambda state: state.unknown_count,
    Subset.FAILED: lambda state: state.failed_count,
}


def count(state: CollectionState, wanted: ImageFilter) -> int:
    """Number of images that pass a filter; the same wherever the window shows it."""
    if wanted == ImageFilter(wanted.subset) and not state.hidden:
        return _COUNTS[wanted.subset](state)
    return int(np.count_nonzero(fitting(state, wanted)))
