"""Classes that a few more labels would help most."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.collection.state import NO_CLASS, CollectionState
from engine.graph.category_graph import CategoryGraph

MORE_SHOTS: Final = 3
"""Labels that are asked for."""
SHARE_HELPED: Final = 0.35
"""Of the undecided images of a class without shots, as measured on Grocery Store (decision 65)."""
FEWEST_HELPED: Final = 5
"""Less help than this is not worth a line."""
MOST_CLASSES: Final = 5
"""Those that gain most; the others may wait."""


@dataclass(frozen=True)
class UnderlabelledClass:
    """A class with few shots for the images it seems to have."""

    class_id: int  # the class
    shots: int  # images a person labelled with it
    # image ids whose likeliest class it is without being surely named so, the least sure first
    undecided: tuple[int, ...]
    helped: int  # how many of them `MORE_SHOTS` more shots would settle, about


def find_underlabelled(
    graph: CategoryGraph, state: CollectionState, *, fewest: int = FEWEST_HELPED
) -> tuple[UnderlabelledClass, ...]:
    """The classes to which a few more shots would help most images, most first."""
    is_open = (state.label_class == NO_CLASS) & (state.best_class != NO_CLASS)
    is_open &= (state.safe_class != state.best_class) | state.is_unknown
    found = []
    for class_id in np.unique(state.best_class[is_open]).tolist():
        if class_id not in graph:
            continue
        places = np.flatnonzero(is_open & (state.best_class == class_id))
        shots = state.shot_counts.get(class_id, 0)
        helped = round(helped_by_more(len(places), shots))
        if helped >= fewest:
            order = places[np.argsort(state.best_score[places], kind="stable")]
            found.append(UnderlabelledClass(class_id, shots, tuple(state.image_ids[order].tolist()), helped))
    return tuple(sorted(found, key=lambda one: (-one.helped, one.class_id))[:MOST_CLASSES])


def helped_by_more(undecided: int, shots: int) -> float:
    """How many of a class's undecided images get their right class for sure by `MORE_SHOTS` more shots, about.

    The error of a mean of n shots goes with 1 / n, so that so many more take away the share more / (n + more) of it.
    """
    return SHARE_HELPED * undecided * MORE_SHOTS / (shots + MORE_SHOTS)
