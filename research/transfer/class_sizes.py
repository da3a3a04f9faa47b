"""Class sizes and shots per class: imbalanced collections, and ways of labelling them."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from engine.errors import UsageError

AS_IS = "as-is"
EQUAL = "equal"
ZIPF = "zipf"
ONE_LARGE = "one-large"
PROPORTIONAL = "proportional"
COMMON_FIRST = "common-first"

SIZES: Mapping[str, str] = {
    AS_IS: "",
    EQUAL: "classes of equal size",
    ZIPF: "class sizes by Zipf's law",
    ONE_LARGE: "one large class",
}
"""Forms of a collection, with their part of a table's title."""

SHOT_SIZES: Mapping[str, str] = {
    EQUAL: "",
    PROPORTIONAL: "shots in proportion to class sizes",
    COMMON_FIRST: "shots in order of appearance",
}
"""Distributions of shots among classes, with their part of a table's title."""

SMALL_QUANTILE = 0.1
"""Quantile of class sizes that equal classes get. With fewer than 11 classes it is the minimum."""
LARGE_QUANTILES: Mapping[str, float] = {ZIPF: 0.5, ONE_LARGE: 0.75}
"""Quantile of class sizes above which the largest class of a collection is drawn."""

Counts = NDArray[np.int64]


def check_forms(sizes: str, shot_sizes: str = EQUAL) -> None:
    """Check that both names are known.

    Raises:
        UsageError: one is not.
    """
    for option, found, known in (
        ("--sizes", sizes, SIZES),
        ("--shot-sizes", shot_sizes, SHOT_SIZES),
    ):
        if found not in known:
            raise UsageError(
                f"{option} does not accept this", expected=", ".join(known), found=found
            )


def ranked(form: str, counts: Counts, generator: np.random.Generator) -> Counts:
    """Positions (k,) of the classes with images in random order, the largest class first.

    Args:
        form: of the collection.
        counts: (c,) images of each class.
        generator: draws.
    """
    order = generator.permutation(np.flatnonzero(counts))
    if form not in LARGE_QUANTILES or not len(order):
        return order
    is_large = counts[order] >= np.quantile(counts[order], LARGE_QUANTILES[form])
    first = int(np.argmax(is_large))
    return np.concatenate([order[[first]], np.delete(order, first)])


def resampled_sizes(form: str, counts: Counts, order: Counts) -> Counts:
    """Sizes (c,) of the resampled classes; at least 1 for a class in `order` with images.

    Args:
        form: of the collection.
        counts: (c,) available images of each class.
        order: (k,) positions of the classes with images, the largest class first.
    """
    if form == AS_IS or not counts[order].any():
        return counts
    available = counts[order]
    largest = available[0]
    if form == EQUAL:
        wanted = np.full(
            len(order), np.quantile(available[available > 0], SMALL_QUANTILE, method="lower")
        )
    elif form == ZIPF:
        wanted = np.maximum(np.rint(largest / np.arange(1, len(order) + 1)), 1)
    else:
        others = apportioned(int(largest) // 2, np.ones(len(order) - 1), available[1:])
        wanted = np.concatenate([[largest], others])
    sizes = np.zeros_like(counts)
    sizes[order] = np.minimum(wanted.astype(np.int64), available)
    return sizes


def apportioned(total: int, shares: NDArray[np.float64], most: Counts) -> Counts:
    """Apportion a total (c,) in proportion to shares, at least 1, by Sainte-Laguë's method.

    Monotonic in the total.

    Args:
        total: of all classes; exceeded where each class gets 1, not reached where images run out.
        shares: (c,) of the classes, at least 0.
        most: (c,) available in each class.
    """
    given = np.minimum(most, 1)
    for _ in range(min(total, int(most.sum())) - int(given.sum())):
        given[np.where(given < most, shares / (2 * given + 1), -1).argmax()] += 1
    return given


def drawn_in_order(
    total: int, shares: NDArray[np.float64], most: Counts, generator: np.random.Generator
) -> Counts:
    """Counts (c,) when labelling a random order of images, then 1 of each missing class.

    Args:
        total: labelled in random order.
        shares: (c,) of the classes, at least 0.
        most: (c,) available in each class, at least 1.
        generator: of the order; monotonic in the total.
    """
    given = np.zeros_like(most)
    for place in generator.random(total):
        ends = np.cumsum(np.where(given < most, shares, 0))
        if ends[-1] > 0:
            given[np.searchsorted(ends, place * ends[-1], side="right")] += 1
    return np.maximum(given, 1)


def shot_counts(
    form: str, shots: int, shares: NDArray[np.float64], most: Counts, generator: np.random.Generator
) -> Counts:
    """Shots (c,) of each class.

    Args:
        form: distribution of shots.
        shots: of each class on average.
        shares: (c,) images of each class in the collection.
        most: (c,) available shots of each class, at least 1.
        generator: draws.
    """
    total = shots * len(most)
    if form == PROPORTIONAL:
        return apportioned(total, shares, most)
    if form == COMMON_FIRST:
        return drawn_in_order(total, shares, most, generator)
    return np.minimum(most, shots)
