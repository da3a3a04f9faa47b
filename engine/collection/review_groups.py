"""Review by group: make the queue of groups of an open collection.

A queue is made from a snapshot on any thread (decision 44), and changes nothing in the project.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.events import CancelToken
from engine.everyday.blocks import stopped_by
from engine.everyday.classifier import FittedClassifier, ImageLinks, ScoredClass
from engine.everyday.look_alikes import SCREEN, SURE, LookAlikes, Opinions
from engine.everyday.scores import Scores, error_odds_of, with_error_odds
from engine.everyday.shots import EmbeddedSnapshot
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS

# least mean probability of a proposed leaf; below it, a safe coarse class is proposed
PROPOSED = 0.5
TOPS = 9  # classes with a digit in a group
# least mean probability of the last one of a group with a safe class (`experiment review`)
LEAST_SURE_TOP = 0.005
AHEAD = 60  # groups whose classes are computed at once
# images whose candidates are restricted at a time: 80 MB for 10,000 classes
NARROWED_TOGETHER = 2_048


@dataclass(frozen=True)
class ReviewMemory:
    """Answers of this session beyond the labels; images and classes by id.

    Attributes:
        dismissed: classes that are not proposed again for an image.
        branches: coarse class that an image got in this session, to be refined next.
        passed: how often an image's group was skipped.
        error_odds: by proposed class, odds of errors as a multiple of those by scores; the entry of
            `NO_CLASS` is for classes without answers.
    """

    dismissed: Mapping[int, frozenset[int]] = field(default_factory=dict)
    branches: Mapping[int, int] = field(default_factory=dict)
    passed: Mapping[int, int] = field(default_factory=dict)
    error_odds: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class GroupInput:
    """Snapshot to make a queue from."""

    links: ImageLinks
    images: EmbeddedSnapshot
    fitted: FittedClassifier | None  # None, or without candidates, before the first label
    scores: Scores  # of each row of the links, and of newer rows
    graph: CategoryGraph  # a copy
    memory: ReviewMemory = field(default_factory=ReviewMemory)

    @property
    def has_model(self) -> bool:
        return self.fitted is not None and len(self.fitted.candidate_ids) > 0


@dataclass(frozen=True)
class ReviewGroup:
    """Images that one answer decides.

    Attributes:
        image_ids: outliers first.
        odd: number of outliers.
        class_id: proposed leaf or coarse class, or `NO_CLASS`.
        errors: for each image the probability that this is wrong; empty without a proposal.
        coarse_id: coarser class that they can be accepted as, or `NO_CLASS`.
        coarse_errors: for each image the probability that this is wrong.
        tops: the most probable leaves, at most `TOPS`, with their mean probability.
        settles: expected number of unlabelled images that an answer decides, these included.
        branch: the coarse class that all of them have already, or `NO_CLASS`.
        is_sure: whether they are grouped by class, not only by appearance.
        is_held_back: whether the group is small because its class has few labels.
    """

    image_ids: tuple[int, ...]
    odd: int
    class_id: int
    errors: tuple[float, ...]
    coarse_id: int
    coarse_errors: tuple[float, ...]
    tops: tuple[ScoredClass, ...]
    settles: int
    branch: int
    is_sure: bool
    is_held_back: bool

    @property
    def expected_errors(self) -> float:
        return sum(self.errors)


@dataclass(frozen=True)
class ReviewQueue:
    """Groups, best first.

    Attributes:
        groups: the first ones, with classes.
        later: the others, without classes yet, see `next_groups`.
        open_images: number of images in all groups.
        made_from: the input.
    """

    groups: tuple[ReviewGroup, ...]
    later: tuple[LookAlikes, ...]
    open_images: int
    made_from: GroupInput

    @property
    def count(self) -> int:
        """Number of all groups."""
        return len(self.groups) + len(self.later)


def make_queue(
    given: GroupInput, cancel: CancelToken | None = None, *, most: int = SCREEN, ahead: int = AHEAD
) -> ReviewQueue:
    """Group all undecided images; on any thread.

    Args:
        given: the input.
        cancel: stops it.
        most: images of a group.
        ahead: groups to compute classes of.

    Raises:
        Cancelled: `cancel` was set.
    """
    with stopped_by(cancel):
        count = len(given.links.image_ids)
        labels, is_listed = _labels_by_row(given.images, count)
        branch = _branches(given, labels)
        rows = np.flatnonzero(is_listed & ((labels == NO_CLASS) | (branch != NO_CLASS)))
        passed = _by_row(given.links, given.memory.passed, 0)
        opinions = replace(Opinions.none(count), branch=branch, passed=passed)
        if given.has_model:
            opinions = _opinions(given, opinions, labels)
        groups = given.links.groups(opinions, rows, most=most)
        return _in_full(ReviewQueue((), groups, len(rows), given), ahead)


def next_groups(
    queue: ReviewQueue, cancel: CancelToken | None = None, *, ahead: int = AHEAD
) -> ReviewQueue:
    """Compute the classes of more groups of a queue; on any thread.

    Raises:
        Cancelled: `cancel` was set.
    """
    with stopped_by(cancel):
        return _in_full(queue, ahead)


def _in_full(queue: ReviewQueue, ahead: int) -> ReviewQueue:
    more = tuple(_group_in_full(queue, each) for each in queue.later[:ahead])
    return replace(queue, groups=queue.groups + more, later=queue.later[ahead:])


# -- facts about images


def _labels_by_row(images: EmbeddedSnapshot, count: int) -> tuple[Integers, Flags]:
    """Label (n,) of each row, and whether it is listed and has an embedding."""
    labels, is_listed = np.full(count, NO_CLASS, dtype=np.int64), np.zeros(count, dtype=bool)
    is_known = (images.rows < count) & images.is_filled[images.rows]
    labels[images.rows[is_known]], is_listed[images.rows[is_known]] = images.labels[is_known], True
    return labels, is_listed


def _by_row(links: ImageLinks, values: Mapping[int, int], default: int) -> Integers:
    found = np.full(len(links.image_ids), default, dtype=np.int64)
    rows = links.rows_of(np.array(list(values), dtype=np.int64))
    known = rows >= 0
    found[rows[known]] = np.array(list(values.values()), dtype=np.int64)[known]
    return found


def _branches(given: GroupInput, labels: Integers) -> Integers:
    """Coarse label (n,) that an image got in this session and can be refined, or `NO_CLASS`."""
    branch = _by_row(given.links, given.memory.branches, NO_CLASS)
    is_there = (branch != NO_CLASS) & (branch == labels)
    for class_id in np.unique(branch[is_there]).tolist():
        if (
            class_id not in given.graph
            or not given.has_model
            or not _candidates_below(given, class_id).any()
        ):
            is_there &= branch != class_id
    return np.where(is_there, branch, NO_CLASS)


def _candidates_below(given: GroupInput, class_id: int) -> Flags:
    """(c,) bool: descendants of a class."""
    assert given.fitted is not None, "a model"
    return np.isin(given.fitted.candidate_ids, sorted(given.graph.descendants(class_id)))


def _opinions(given: GroupInput, blank: Opinions, labels: Integers) -> Opinions:
    fitted, count = given.fitted, len(given.links.image_ids)
    assert fitted is not None, "a model"
    scores = given.scores.at(np.arange(count))
    alive = np.array(
        [each if each in given.graph else NO_CLASS for each in fitted.candidate_ids.tolist()]
    )
    best, probability = alive[scores.best], scores.best_score
    is_limited = blank.branch != NO_CLASS
    for rows, is_allowed in _limits(given, np.flatnonzero(is_limited)):
        best[rows], probability[rows] = _narrowed(given, alive, rows, is_allowed)
    probability = _corrected(given, best, probability)
    probability = np.where(fitted.is_unknown(scores) & ~is_limited, 0, probability).astype(
        np.float32
    )
    classes, counts = np.unique(labels[labels >= 0], return_counts=True)
    shots = dict(zip(classes.tolist(), counts.tolist(), strict=True))
    return replace(blank, best=best.astype(np.int64), probability=probability, shots=shots)


def _corrected(given: GroupInput, class_ids: Integers | int, probability: Floats) -> Floats:
    """Probabilities (n,) of a class, or of classes (n,), corrected by the answers about them."""
    known, place = np.unique(np.broadcast_to(class_ids, probability.shape), return_inverse=True)
    odds = [error_odds_of(given.memory.error_odds, each) for each in known.tolist()]
    return with_error_odds(probability, np.array(odds, dtype=np.float32)[place.reshape(-1)])


def _limits(given: GroupInput, in_branch: Integers) -> list[tuple[Integers, Flags]]:
    """Rows with the candidates (c,) that may be proposed: in their branch, and not dismissed."""
    assert given.fitted is not None, "a model"
    branch = _by_row(given.links, given.memory.branches, NO_CLASS)
    wanted: dict[tuple[int, frozenset[int]], list[int]] = {}
    chosen = set(in_branch.tolist())
    dismissed = given.memory.dismissed
    ids = np.array(list(dismissed), dtype=np.int64)
    of_row = {
        int(row): dismissed[int(i)]
        for row, i in zip(given.links.rows_of(ids), ids, strict=True)
        if row >= 0
    }
    for row in sorted(chosen | of_row.keys()):
        key = int(branch[row]) if row in chosen else NO_CLASS, of_row.get(row, frozenset())
        wanted.setdefault(key, []).append(row)
    limits = []
    for (class_id, without), rows in wanted.items():
        is_allowed = ~np.isin(given.fitted.candidate_ids, sorted(_and_below(given.graph, without)))
        if class_id != NO_CLASS:
            is_allowed &= _candidates_below(given, class_id)
        limits.append((np.array(rows, dtype=np.int64), is_allowed))
    return limits


def _and_below(graph: CategoryGraph, class_ids: frozenset[int]) -> set[int]:
    return set(class_ids).union(*(graph.descendants(each) for each in class_ids if each in graph))


def _narrowed(
    given: GroupInput, alive: Integers, rows: Integers, is_allowed: Flags
) -> tuple[Integers, Floats]:
    """The best class (k,) among allowed candidates (c,), and its probability among them (k,)."""
    best, probability = (
        np.full(len(rows), NO_CLASS, dtype=np.int64),
        np.zeros(len(rows), dtype=np.float32),
    )
    is_allowed = is_allowed & (alive != NO_CLASS)
    for start in range(0, len(rows) if is_allowed.any() else 0, NARROWED_TOGETHER):
        part = slice(start, start + NARROWED_TOGETHER)
        chances = _chances(given, rows[part]) * is_allowed
        place = chances.argmax(axis=1)
        best[part] = alive[place]
        totals = np.maximum(chances.sum(axis=1), np.float32(1e-9))
        probability[part] = chances[np.arange(len(place)), place] / totals
    return best, probability


def _chances(given: GroupInput, rows: Integers) -> Floats:
    assert given.fitted is not None, "a model"
    return given.fitted.probabilities(given.images.embeddings[rows], rows)


# -- a group in full


def _group_in_full(queue: ReviewQueue, group: LookAlikes) -> ReviewGroup:
    given = queue.made_from
    ids = tuple(given.links.image_ids[group.rows].tolist())
    blank = ReviewGroup(
        ids,
        group.odd,
        NO_CLASS,
        (),
        NO_CLASS,
        (),
        (),
        group.settles,
        group.branch,
        is_sure=group.is_sure,
        is_held_back=group.is_held_back,
    )
    if not given.has_model:
        return blank
    return _with_classes(given, blank, group)


def _with_classes(given: GroupInput, blank: ReviewGroup, group: LookAlikes) -> ReviewGroup:
    """Propose classes by the probabilities of each image of a group."""
    fitted = given.fitted
    assert fitted is not None, "a model"
    chances = _allowed_chances(given, group)
    means = chances.mean(axis=0)
    least = LEAST_SURE_TOP if group.is_sure else 0.0
    order = [
        each for each in np.argsort(-means, kind="stable")[:TOPS].tolist() if means[each] >= least
    ]
    tops = tuple(ScoredClass(int(fitted.candidate_ids[each]), float(means[each])) for each in order)
    tops = tuple(top for top in tops if top.class_id in given.graph)
    leaf = group.class_id if group.class_id in given.graph else NO_CLASS
    leaf_chance = chances[:, fitted.candidate_ids == leaf].sum(axis=1)
    coarse, coarse_chance = _coarse(given, chances, leaf, group.branch)
    coarse_right = _corrected(given, coarse, coarse_chance)
    leaf_right = _corrected(given, leaf, leaf_chance)
    if leaf != NO_CLASS and (group.is_sure or float(leaf_right.mean()) >= PROPOSED):
        class_id, chance = leaf, leaf_chance
    elif coarse != NO_CLASS and float(coarse_right.mean()) >= SURE:
        class_id, chance = coarse, coarse_chance
    else:
        class_id, chance = NO_CLASS, np.ones(len(chances), dtype=np.float32)
    is_proposed = class_id != NO_CLASS
    return replace(
        blank,
        class_id=class_id,
        tops=tops,
        errors=tuple((1 - _corrected(given, class_id, chance)).tolist()) if is_proposed else (),
        coarse_id=coarse,
        coarse_errors=tuple((1 - coarse_right).tolist()) if coarse != NO_CLASS else (),
    )


def _allowed_chances(given: GroupInput, group: LookAlikes) -> Floats:
    """Probability (k, c) of each candidate in the branch, if any; 0 if dismissed."""
    chances = _chances(given, group.rows)
    in_branch = group.rows if group.branch != NO_CLASS else group.rows[:0]
    place = {row: each for each, row in enumerate(group.rows.tolist())}
    for rows, is_allowed in _limits_of(given, group, in_branch):
        at = np.array([place[row] for row in rows.tolist()])
        kept = chances[at] * is_allowed
        totals = kept.sum(axis=1, keepdims=True) if group.branch != NO_CLASS else np.float32(1)
        chances[at] = kept / np.maximum(totals, np.float32(1e-9))
    return chances


def _limits_of(
    given: GroupInput, group: LookAlikes, in_branch: Integers
) -> list[tuple[Integers, Flags]]:
    """`_limits` of the images of a group."""
    ids = given.links.image_ids[group.rows].tolist()
    dismissed = {i: given.memory.dismissed[i] for i in ids if i in given.memory.dismissed}
    own = replace(given.memory, dismissed=dismissed)
    return _limits(replace(given, memory=own), in_branch)


def _coarse(given: GroupInput, chances: Floats, leaf: int, branch: int) -> tuple[int, Floats]:
    """The deepest safe coarse class above the leaf and in the branch, or the most probable one."""
    fitted = given.fitted
    assert fitted is not None, "a model"
    none = NO_CLASS, np.zeros(len(chances), dtype=np.float32)
    above = (
        given.graph.ancestors(leaf)
        if leaf != NO_CLASS and leaf in given.graph
        else frozenset[int]()
    )
    if branch != NO_CLASS:
        above &= given.graph.descendants(branch) if branch in given.graph else frozenset()
    places = [
        place for place, each in enumerate(fitted.back_off.coarse_ids.tolist()) if each in above
    ]
    if not places:
        return none
    mass = chances @ fitted.back_off.roll_up[:, places]
    means = mass.mean(axis=0)
    sure = np.flatnonzero(means >= SURE)  # deepest first
    chosen = int(sure[0]) if len(sure) else int(means.argmax())
    return int(fitted.back_off.coarse_ids[places[chosen]]), mass[:, chosen].astype(np.float32)
