"""How often two backbones are right about the person's own labels, each held out in turn: figures with an interval."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.collection.classify import classify
from engine.config import CacheFolders
from engine.errors import InputError, ModelError
from engine.everyday.scores import gain_interval
from engine.project import ModelVersion, Project


@dataclass(frozen=True)
class ShotComparison:
    """Leave-one-shot-out accuracy with two backbones."""

    before: float | None  # share of right answers with the backbone in use, 0..1; None where nothing can be held out
    after: float | None  # the same with the other one
    shots: int  # shots that were held out, one by one; the same for both where both have figures and counts of changes
    gained: int | None = None  # shots that only the other backbone gets right; None where the two saw different shots
    lost: int | None = None  # shots that only the backbone in use gets right; None where the two saw different shots

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where `after - before` lies in 19 of 20 cases, as a share; None where the shots are not the same."""
        if self.gained is None or self.lost is None or not self.shots:
            return None
        return gain_interval(self.shots, self.gained, self.lost)

    @property
    def may_be_chance(self) -> bool:
        """Whether there is a difference, and so few shots give one like it in more than 1 of 20 cases."""
        interval = self.interval
        return interval is not None and self.gained != self.lost and interval[0] <= 0 <= interval[1]

    @property
    def is_better(self) -> bool:
        """Whether the other backbone is right more often, beyond chance."""
        return self._differs and (self.after or 0.0) > (self.before or 0.0)

    @property
    def is_worse(self) -> bool:
        """Whether the other backbone is right less often, beyond chance."""
        return self._differs and (self.after or 0.0) < (self.before or 0.0)

    @property
    def _differs(self) -> bool:
        return self.interval is not None and not self.may_be_chance


def compare_on_shots(
    project: Project, caches: CacheFolders, before: ModelVersion, after: ModelVersion
) -> ShotComparison:
    """Compare two backbones by what is in their embedding caches; the second need not be in the project yet."""
    first, second = _held_out(project, caches, before), _held_out(project, caches, after)
    shots = next((len(each.is_right) for each in (second, first) if each is not None), 0)
    compared = ShotComparison(_accuracy(first), _accuracy(second), shots)
    if first is None or second is None or not np.array_equal(first.image_ids, second.image_ids):
        return compared
    return replace(
        compared,
        gained=int((second.is_right & ~first.is_right).sum()),
        lost=int((first.is_right & ~second.is_right).sum()),
    )


@dataclass(frozen=True)
class _HeldOut:
    """Which shots were there, and which of those whose leaf can be told are right when held out: (m,) bool."""

    image_ids: NDArray[np.int64]
    is_right: NDArray[np.bool_]


def _held_out(project: Project, caches: CacheFolders, version: ModelVersion) -> _HeldOut | None:
    """None while the version has no embedded label, or when its files are gone."""
    try:
        classified = classify(project, caches, version=version, with_views=False)
    except (InputError, ModelError):
        return None
    return _HeldOut(classified.fitted.shots.image_ids, classified.fitted.hold_out_each(project.classes.graph))


def _accuracy(found: _HeldOut | None) -> float | None:
    return None if found is None or not len(found.is_right) else float(found.is_right.mean())
