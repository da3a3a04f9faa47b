"""Beyond the paper: every ancestor counts as a parent, so that one step reaches the whole branch above a class."""

from dataclasses import replace

import numpy as np

from engine.training.training_set import TrainingSet


def edges_from_ancestors(training_set: TrainingSet) -> TrainingSet:
    """The same training set with an edge from each ancestor to each class below it."""
    pairs = [
        (above, position)
        for position in range(training_set.class_count)
        for above in sorted(training_set.ancestors[position])
    ]
    return replace(training_set, edge_index=np.array(pairs, dtype=np.int64).reshape(-1, 2).T)
