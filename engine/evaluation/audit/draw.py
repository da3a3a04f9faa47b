"""Random draw of unlabelled images for an audit, with their predictions (decision 105)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.collection.live import LiveCollection
from engine.collection.state import CollectionState, ImageStatus, predicted_class
from engine.config import CacheFolders
from engine.errors import InputError
from engine.graph.codes import NO_CLASS
from engine.project import AuditItem, Change, Project

SIZES = (20, 50, 100, 200)  # of audits
USUAL_SIZE = 50
FEWEST_OF_STRATUM = 3  # of a stratified audit. Chosen: half of 50 images for eight strata
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class DrawnAudit:
    """Drawn images, to be added to the project."""

    items: Sequence[AuditItem]
    size: int  # initial size of the audit; it can grow to all items
    population: int
    is_stratified: bool

    def add_to(self, project: Project) -> Change:
        return project.audits.add(
            self.items, self.size, population=self.population, is_stratified=self.is_stratified
        )


def population_of(state: CollectionState) -> Rows:
    """Rows of the population: unlabelled images with a prediction."""
    is_ready = state.status == int(ImageStatus.READY)
    return np.flatnonzero(state.is_to_review & is_ready & (state.best_class != NO_CLASS))


def draw_audit(
    state: CollectionState,
    size: int = USUAL_SIZE,
    *,
    is_stratified: bool = False,
    random: np.random.Generator,
) -> DrawnAudit:
    """Draw images for the largest audit, of which `size` are used at first.

    Args:
        is_stratified: draw some images of each large safe class, instead of a simple random sample.

    Raises:
        InputError: no image can be drawn.
    """
    rows = population_of(state)
    if not len(rows):
        raise InputError(
            "there is nothing to check",
            expected="images without a label that have a prediction",
            remedy="label an image of some class first, or add images",
        )
    strata = _strata(state, rows, size) if is_stratified else [rows]
    most = min(len(rows), max(size, *SIZES))
    allocated = list(allocation([len(each) for each in strata], most))
    chosen = [
        random.choice(each, allocated.count(place), replace=False)
        for place, each in enumerate(strata)
    ]
    drawn = {place: iter(each.tolist()) for place, each in enumerate(chosen)}
    items = [
        _item(
            state, next(drawn[stratum]), place, stratum=stratum, stratum_size=len(strata[stratum])
        )
        for place, stratum in enumerate(_shuffled(allocated, size, random))
    ]
    return DrawnAudit(items, min(size, most), len(rows), is_stratified)


def draw_for(
    project: Project, caches: CacheFolders, size: int, *, is_stratified: bool = False
) -> Change:
    """Classify a project with its own settings, without a window, and draw an audit.

    Raises:
        InputError: no image can be drawn.
    """
    live = LiveCollection(project, caches)
    try:
        state = live.load()
    finally:
        live.embedded.close()
    return draw_audit(
        state, size, is_stratified=is_stratified, random=np.random.default_rng()
    ).add_to(project)


def next_size(size: int) -> int:
    """The next larger size; the same for the largest."""
    return next((each for each in SIZES if each > size), size)


def _strata(state: CollectionState, rows: Rows, size: int) -> list[Rows]:
    """Rows by safe class, largest first; small classes are one stratum."""
    claims = np.where(state.is_unknown[rows], predicted_class(state, rows), state.safe_class[rows])
    found = [rows[claims == claim] for claim in np.unique(claims).tolist()]
    found.sort(key=len, reverse=True)
    most = max(1, size // (2 * FEWEST_OF_STRATUM))
    if len(found) > most:
        found[most - 1 :] = [np.concatenate(found[most - 1 :])]
    return found


def allocation(sizes: Sequence[int], count: int) -> Iterator[int]:
    """The stratum of each image: a minimum of each, then in proportion to the sizes.

    Source: Webster's method (Sainte-Laguë) of proportional allocation.
    """
    taken = [0] * len(sizes)
    for _ in range(count):
        open_strata = [place for place, size in enumerate(sizes) if taken[place] < size]
        scarce = [place for place in open_strata if taken[place] < FEWEST_OF_STRATUM]
        chosen = max(scarce or open_strata, key=lambda place: sizes[place] / (2 * taken[place] + 1))
        taken[chosen] += 1
        yield chosen


def _shuffled(allocated: Sequence[int], size: int, random: np.random.Generator) -> list[int]:
    """The strata in random order, separately for each size that an audit grows to."""
    ends = [0, *sorted({size, *(each for each in SIZES if each > size)})]
    return [
        stratum
        for start, end in pairwise(ends)
        for stratum in random.permutation(allocated[start:end]).tolist()
    ]


def _item(
    state: CollectionState, row: int, place: int, *, stratum: int, stratum_size: int
) -> AuditItem:
    is_unknown, safe = bool(state.is_unknown[row]), int(state.safe_class[row])
    return AuditItem(
        int(state.image_ids[row]),
        place,
        None if is_unknown else int(state.best_class[row]),
        min(1.0, float(state.best_score[row])),
        None if safe == NO_CLASS else safe,
        min(1.0, float(state.safe_score[row])),
        stratum,
        stratum_size,
    )
