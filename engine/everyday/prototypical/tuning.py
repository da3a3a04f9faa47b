"""Choose lambda (Eq. 6) and the temperature (Eq. 2) by leave-one-shot-out on the project's labels.

lambda grows with the shots of a class as n / (n + shrinkage): the best weight of a mean of n shots
whose spread is `shrinkage` times the spread of sibling classes around their parent. The paper's
constants (0 for 1 shot, 0.5 for 5) are for a network trained with them; here siblings at lambda 0
would be equal.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np

from engine.arrays import Doubles, Flags, Floats, Integers
from engine.everyday.blocks import at_columns, in_blocks
from engine.everyday.classifier import Setting
from engine.everyday.prototypical.leave_one_out import (
    HeldOutDistances,
    held_out_distances,
    with_fresh_neighbours,
)
from engine.everyday.prototypical.prototypes import NEIGHBOURS, PrototypeTable
from engine.everyday.scores import HeldOutShots, distance_limit
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph

SHRINKAGES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
"""Candidates of s in lambda = n / (n + s) (decision 6). Chosen: up to parents worth four shots."""
TEMPERATURE_STEPS = np.geomspace(0.1, 10.0, 25)
"""Candidates, in temperatures of the backbone's card. Chosen: 0.1 to 10, in steps of 21%."""
PRIOR_SHOTS = 10.0  # the prior of the backbone's card counts as much as this many shots
PRIOR_SPREAD = 0.7
"""Standard deviation of the logarithm of shrinkage and temperature around the card's values."""
MOST_SHOTS = 600  # more held-out shots than this are sampled: the choice no longer changes


@dataclass(frozen=True)
class Tuning:
    """The outcome."""

    shrinkage: float  # 0 means lambda 1 everywhere: propagation did not pay on this check
    temperature: float  # divides squared distances (Eq. 2).
    # Leave-one-shot-out accuracy at the level of each shot's label; NaN without held-out shots
    accuracy: float
    accuracy_alone: float  # the same for prototypes alone (lambda 1)
    # Median squared distance of a held-out shot to the nearest prototype of its own label
    own_distance: float
    unknown_distance: float  # squared distance beyond which an image is called unknown
    shots_checked: int  # how many shots were held out


def lambda_for(shot_counts: Integers, shrinkage: float) -> Floats:
    """Weight of the initial prototype (Eq. 6) by number of shots; same shape, in [0, 1]."""
    counts = shot_counts.astype(np.float32)
    return np.divide(counts, counts + shrinkage, out=np.zeros_like(counts), where=counts > 0)


@dataclass(frozen=True)
class HeldOutCheck:
    """Held-out shots and the candidates that agree with each one's label."""

    distances: HeldOutDistances  # squared distances without the shot
    is_right: Flags  # (n, c) bool, candidates that are the shot's class, below it or above it
    # (n,) bool, whether the shot's class is a candidate or below one, not above candidates
    can_tell_leaf: Flags
    class_ids: Integers  # (n,) int64, the shot's class
    image_ids: Integers  # (n,) int64, the shots

    def rows(self, chosen: Integers) -> "HeldOutCheck":
        return HeldOutCheck(
            self.distances.rows(chosen),
            self.is_right[chosen],
            self.can_tell_leaf[chosen],
            self.class_ids[chosen],
            self.image_ids[chosen],
        )


@dataclass(frozen=True)
class _Start:
    """The prior: values that few shots keep."""

    shrinkage: float
    temperature: float


def tune(
    check: HeldOutCheck,
    *,
    shrinkage: float,
    temperature: float,
    may_propagate: bool,
    fixed: float | None = None,
) -> Tuning:
    """Choose shrinkage and temperature; never a shrinkage that does worse than lambda 1.

    The temperature is judged by all held-out shots, coarse labels too. The shrinkage is judged by
    shots with a leaf label: a coarse one fits best when all leaves below it are equal.

    Args:
        shrinkage, temperature: the prior, which few shots keep.
        may_propagate: False for prototypes alone.
        fixed: a shrinkage to use whatever the check finds; 0 for lambda 1.
    """
    start = _Start(shrinkage, temperature)
    given = fixed if may_propagate else 0.0
    if check.is_right.size == 0:
        shrinkage = shrinkage if given is None else given
        return Tuning(shrinkage, temperature, np.nan, np.nan, temperature, np.inf, shots_checked=0)
    alone, *options = _options(check, [0.0, *(SHRINKAGES if given is None else (given,))], start)
    if given is not None:
        return _report(check, options[0], alone)
    fair = [option for option in options if option.hits >= alone.hits]
    chosen = max([alone, *fair], key=lambda option: option.evidence)
    return _report(check, chosen, alone)


@dataclass(frozen=True)
class _Option:
    shrinkage: float
    temperature: float
    evidence: float
    hits: int  # right among the shots with a leaf label


def _options(check: HeldOutCheck, shrinkages: Sequence[float], start: _Start) -> list[_Option]:
    """Judge each shrinkage, several at a time."""
    found: dict[int, _Option] = {}

    def judge(part: slice) -> None:
        for place in range(part.start, part.stop):
            found[place] = _option(check, shrinkages[place], start)

    in_blocks(len(shrinkages), judge, block_rows=1)
    return [found[place] for place in range(len(shrinkages))]


def sampled(shots: Integers) -> Integers:
    """At most `MOST_SHOTS` of the shots (n,), always the same ones."""
    if len(shots) <= MOST_SHOTS:
        return shots
    return shots[np.random.default_rng(0).choice(len(shots), MOST_SHOTS, replace=False)]


def squared_at(check: HeldOutCheck, shrinkage: float) -> Floats:
    """Squared distances (n, c) of the held-out shots at this shrinkage."""
    return check.distances.at(lambda_for(check.distances.shots_left, shrinkage))


@final
class _Likelihood:
    """Log probability of each shot's label, summed over the candidates below it, by temperature."""

    def __init__(self, check: HeldOutCheck, squared: Floats) -> None:
        self._is_right = check.is_right.astype(np.float64)
        self._further = squared.astype(np.float64)
        self._further -= self._further.min(axis=1, keepdims=True)

    def at(self, temperature: float) -> Doubles:
        """(n,) at this temperature."""
        powers = self._further / -temperature
        np.exp(powers, out=powers)
        right = np.einsum("nc,nc->n", powers, self._is_right)
        return np.log(np.maximum(right, 1e-12) / powers.sum(axis=1))


def _option(check: HeldOutCheck, shrinkage: float, start: _Start) -> _Option:
    squared = squared_at(check, shrinkage)
    likelihood = _Likelihood(check, squared)
    temperature = _best_temperature(likelihood, start)
    evidence = likelihood.at(temperature)[check.can_tell_leaf].sum()
    return _Option(
        shrinkage,
        temperature,
        float(evidence) + _log_prior(shrinkage, start),
        _hits(check, squared),
    )


def _best_temperature(likelihood: _Likelihood, start: _Start) -> float:
    """The best of `TEMPERATURE_STEPS`, by ternary search: likelihood and prior have one peak."""
    temperatures = start.temperature * TEMPERATURE_STEPS

    @cache
    def evidence(step: int) -> float:
        off = np.log(temperatures[step] / start.temperature) / PRIOR_SPREAD
        return float(likelihood.at(float(temperatures[step])).sum() - 0.25 * PRIOR_SHOTS * off**2)

    low, high = 0, len(temperatures) - 1
    while (third := (high - low) // 3) > 0:
        if evidence(low + third) < evidence(high - third):
            low += third
        else:
            high -= third
    return float(temperatures[max(range(low, high + 1), key=evidence)])


def _hits(check: HeldOutCheck, squared: Floats) -> int:
    if squared.shape[1] == 0:
        return 0
    right = at_columns(check.is_right, squared.argmin(axis=1))
    return int((right & check.can_tell_leaf).sum())


def _log_prior(shrinkage: float, start: _Start) -> float:
    """Log-normal prior worth `PRIOR_SHOTS` shots; no propagation is half the smallest shrinkage."""
    off = np.log(max(shrinkage, SHRINKAGES[0] / 2) / start.shrinkage) / PRIOR_SPREAD
    return float(-0.25 * PRIOR_SHOTS * off**2)


def _report(check: HeldOutCheck, chosen: _Option, alone: _Option) -> Tuning:
    squared = squared_at(check, chosen.shrinkage)
    count = int(check.can_tell_leaf.sum())
    own = np.where(check.is_right, squared, np.inf).min(axis=1)
    accuracy, accuracy_alone = (each.hits / count if count else np.nan for each in (chosen, alone))
    own_distance, limit = float(np.median(own)), distance_limit(squared.min(axis=1))
    return Tuning(
        chosen.shrinkage,
        chosen.temperature,
        accuracy,
        accuracy_alone,
        own_distance,
        limit,
        shots_checked=len(squared),
    )


def held_out_shots(
    check: HeldOutCheck, tuning: Tuning, places: Integers, width: int
) -> HeldOutShots:
    """Probabilities (Eq. 2) of held-out shots with the chosen shrinkage and temperature.

    Args:
        places: (k,) int64, places of the check's classes among the candidates.
        width: number of candidates; those without a shot of their own get 0.
    """
    rows = check.rows(np.flatnonzero(check.can_tell_leaf))
    probabilities = np.zeros((len(rows.class_ids), width), dtype=np.float32)
    if probabilities.size and len(places):
        squared = squared_at(rows, tuning.shrinkage)
        powers = np.exp(
            (squared.min(axis=1, keepdims=True) - squared) / np.float32(tuning.temperature)
        )
        probabilities[:, places] = powers / powers.sum(axis=1, keepdims=True)
    return HeldOutShots(rows.image_ids, rows.class_ids, probabilities)


def fit_temperature(
    prototypes: Floats, embeddings: Floats, targets: Integers, start: float
) -> float:
    """The temperature (Eq. 2) of the greatest likelihood for n > 0 new images.

    Candidates are `TEMPERATURE_STEPS` times `start`.

    Args:
        prototypes: (c, d) of the candidates.
        embeddings: (n, d).
        targets: (n,) the candidate of each.
    """
    squared = ((embeddings[:, None, :] - prototypes[None]) ** 2).sum(axis=2).astype(np.float64)

    def likelihood(temperature: float) -> float:
        logits = -squared / temperature
        top = logits.max(axis=1, keepdims=True)
        totals = np.log(np.exp(logits - top).sum(axis=1)) + top[:, 0]
        return float((logits[np.arange(len(targets)), targets] - totals).sum())

    return max((start * float(step) for step in TEMPERATURE_STEPS), key=likelihood)


def right_places(
    graph: CategoryGraph, labels: Iterable[int], candidate_ids: Integers
) -> dict[int, Integers]:
    """Places of the candidates that agree with each label: class, descendants, ancestors."""
    place_of = {int(class_id): place for place, class_id in enumerate(candidate_ids.tolist())}
    right = {}
    for label in set(labels):
        line = graph.descendants(label) | graph.ancestors(label) | {label}
        right[label] = np.array(
            sorted(place_of[class_id] for class_id in line & place_of.keys()), dtype=np.int64
        )
    return right


def checked_places(table: PrototypeTable, candidates: Integers) -> Integers:
    """Places of the candidates that have images, which held-out shots are measured against."""
    return np.flatnonzero(table.has_initial[candidates])


def holdable_shots(
    graph: CategoryGraph, shots: Shots, table: PrototypeTable, candidates: Integers
) -> Integers:
    """Positions (h,) of the shots that leave a right candidate with an image when held out.

    The class predicted for the only shot of another is not evidence for lambda or the temperature.
    Of twins, which are held out together, the first one counts: more of the same would only seem to
    be more evidence.
    """
    checked = candidates[checked_places(table, candidates)]
    right = right_places(graph, shots.class_ids.tolist(), table.class_ids[checked])
    members = table.membership
    sizes = np.bincount(members.class_positions, minlength=len(table.class_ids))
    order = np.argsort(members.image_positions, kind="stable")
    images, classes = members.image_positions[order], members.class_positions[order]
    firsts = shots.together.firsts
    kinds = np.stack([shots.class_ids[firsts], shots.together.sizes[firsts]], axis=1)
    labels, first, kind_of = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    leaves_one = np.zeros(len(labels), dtype=bool)
    for place, ((label, taken), shot) in enumerate(
        zip(labels.tolist(), firsts[first].tolist(), strict=True)
    ):
        low, high = np.searchsorted(images, [shot, shot + 1])
        others = sizes[checked[right[label]]] - taken * np.isin(
            checked[right[label]], classes[low:high]
        )
        leaves_one[place] = bool((others > 0).any())
    return firsts[leaves_one[kind_of.reshape(-1)]].astype(np.int64)


def held_out_check(
    graph: CategoryGraph,
    shots: Shots,
    table: PrototypeTable,
    candidates: Integers,
    held: Integers,
    *,
    setting: Setting,
) -> HeldOutCheck:
    """Hold out the shots at `held` (h,) singly; candidates (c,) are positions in the table."""
    with_shots = candidates[checked_places(table, candidates)]
    candidate_ids = table.class_ids[with_shots]
    labels = shots.class_ids[held]
    distances = held_out_distances(shots, table, with_shots, held)
    if setting is Setting.PPN:
        distances = with_fresh_neighbours(
            distances,
            shots,
            table.initial,
            held=held,
            class_positions=np.searchsorted(table.class_ids, labels),
            places=_places_of(labels, candidate_ids),
            count=NEIGHBOURS,
        )
    right = right_places(graph, labels.tolist(), candidate_ids)
    is_right = np.zeros((len(held), len(with_shots)), dtype=bool)
    for row, label in enumerate(labels.tolist()):
        is_right[row, right[label]] = True
    return HeldOutCheck(
        distances, is_right, _can_tell(graph, labels, candidate_ids), labels, shots.image_ids[held]
    )


def _places_of(labels: Integers, candidate_ids: Integers) -> Integers:
    """(h,) places of the labels among the candidates; -1 for other labels."""
    place_of: Mapping[int, int] = {
        int(each): place for place, each in enumerate(candidate_ids.tolist())
    }
    return np.array([place_of.get(label, -1) for label in labels.tolist()], dtype=np.int64)


def _can_tell(graph: CategoryGraph, labels: Integers, candidate_ids: Integers) -> Flags:
    """(h,) bool: the shot's class is a candidate or below one, so only one candidate is right."""
    among = set(candidate_ids.tolist())
    below = {
        label: not among.isdisjoint(graph.ancestors(label) | {label})
        for label in set(labels.tolist())
    }
    return np.array([below[label] for label in labels.tolist()], dtype=bool)
