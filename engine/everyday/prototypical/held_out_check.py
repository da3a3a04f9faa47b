"""Labelled images held out one at a time: how far each is from every candidate then, and which are right for it."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from engine.everyday.classifier import Setting
from engine.everyday.prototypical.leave_one_out import held_out_distances, with_fresh_neighbours
from engine.everyday.prototypical.prototypes import NEIGHBOURS, PrototypeTable
from engine.everyday.prototypical.tuning import HeldOutCheck
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph

Positions = NDArray[np.int64]


def right_places(graph: CategoryGraph, labels: Iterable[int], candidate_ids: Positions) -> dict[int, Positions]:
    """Places of the candidates that agree with each label: the class itself, those below it, and those above it.

    Candidates above a label occur where a level of the graph is chosen among.

    Args:
        labels: class ids.
        candidate_ids: (c,) class ids.
    """
    place_of = {int(class_id): place for place, class_id in enumerate(candidate_ids.tolist())}
    right = {}
    for label in set(labels):
        line = graph.descendants(label) | graph.ancestors(label) | {label}
        right[label] = np.array(sorted(place_of[class_id] for class_id in line & place_of.keys()), dtype=np.int64)
    return right


def checked_places(table: PrototypeTable, candidates: Positions) -> Positions:
    """Places of the candidates that have images, which are those that held-out shots are measured against."""
    return np.flatnonzero(table.has_initial[candidates])


def holdable_shots(graph: CategoryGraph, shots: Shots, table: PrototypeTable, candidates: Positions) -> Positions:
    """Positions (h,) of the shots that leave a right candidate with an image when they are held out.

    The only shot of a class is left out of the check: without it nobody could name that class, and which other class
    it goes to says little about lambda or the temperature.

    Args:
        candidates: (c,) positions in the table of the classes to choose among.
    """
    checked = candidates[checked_places(table, candidates)]
    right = right_places(graph, shots.class_ids.tolist(), table.class_ids[checked])
    members = table.membership
    sizes = np.bincount(members.class_positions, minlength=len(table.class_ids))
    order = np.argsort(members.image_positions, kind="stable")
    images, classes = members.image_positions[order], members.class_positions[order]
    labels, first, label_of = np.unique(shots.class_ids, return_index=True, return_inverse=True)
    leaves_one = np.zeros(len(labels), dtype=bool)
    for place, (label, shot) in enumerate(zip(labels.tolist(), first.tolist(), strict=True)):
        low, high = np.searchsorted(images, [shot, shot + 1])
        others = sizes[checked[right[label]]] - np.isin(checked[right[label]], classes[low:high])
        leaves_one[place] = bool((others > 0).any())
    return np.flatnonzero(leaves_one[label_of]).astype(np.int64)


def held_out_check(
    graph: CategoryGraph,
    shots: Shots,
    table: PrototypeTable,
    candidates: Positions,
    held: Positions,
    *,
    setting: Setting,
) -> HeldOutCheck:
    """Hold shots out one at a time and lay out which candidates would be right for each.

    Args:
        candidates: (c,) positions in the table of the classes to choose among.
        held: (h,) positions of the shots to hold out, as of `holdable_shots`.
        setting: where the table's parents come from.
    """
    with_shots = candidates[checked_places(table, candidates)]
    candidate_ids = table.class_ids[with_shots]
    labels = shots.class_ids[held]
    distances = held_out_distances(shots, table, with_shots, held)
    if setting is Setting.PPN:
        distances = with_fresh_neighbours(
            distances,
            shots.at(held),
            table.initial,
            class_positions=np.searchsorted(table.class_ids, labels),
            places=_places_of(labels, candidate_ids),
            count=NEIGHBOURS,
        )
    right = right_places(graph, labels.tolist(), candidate_ids)
    is_right = np.zeros((len(held), len(with_shots)), dtype=bool)
    for row, label in enumerate(labels.tolist()):
        is_right[row, right[label]] = True
    return HeldOutCheck(distances, is_right, _can_tell(graph, labels, candidate_ids), labels, shots.image_ids[held])


def _places_of(labels: Positions, candidate_ids: Positions) -> Positions:
    """(h,) places of the labels among the candidates; -1 for a label that is none."""
    place_of: Mapping[int, int] = {int(each): place for place, each in enumerate(candidate_ids.tolist())}
    return np.array([place_of.get(label, -1) for label in labels.tolist()], dtype=np.int64)


def _can_tell(graph: CategoryGraph, labels: Positions, candidate_ids: Positions) -> NDArray[np.bool_]:
    """(h,) bool: the shot's class is a candidate or below one, so one candidate is right, not several."""
    among = set(candidate_ids.tolist())
    distinct = set(labels.tolist())
    below = {label: not among.isdisjoint(graph.ancestors(label) | {label}) for label in distinct}
    return np.array([below[label] for label in labels.tolist()], dtype=bool)
