"""A few-shot data set of colours, sufficient for every step of the experiments.

level 3   root0           root1
level 4   middle0 .. 3, two below each root; middle4, below root1, in the test part only
level 5   12 training classes, three below each of middle0 .. 3; 6 test classes, the last two
          below middle4
"""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from research.data_sets.stored import DATA_FILE, FORMAT, PIXELS_FILE, VERSION, FewShotData
from tests.support.few_shot_problems import SIDE, colours, images

ROOTS, MIDDLES, TRAINING, TEST = 2, 5, 12, 6
UNSEEN_MIDDLE = ROOTS + MIDDLES - 1
FIRST_LEAF = ROOTS + MIDDLES
OF_LEAF = 17
"""Images of a few-shot class: one more than a 1-shot task takes."""
OF_COARSE = 6

_PARENTS_OF_TEST = (0, 1, 2, 3, 4, 4)


def colour_data(
    name: str = "WS-Colours-Pure", variant: str = "pure", *, seed: int = 0
) -> FewShotData:
    """Make the data set in memory."""
    generator = np.random.default_rng(seed)
    of_leaves = colours(TRAINING + TEST, generator)
    edges = _edges()
    members = _leaves_below(edges)
    training = np.arange(FIRST_LEAF, FIRST_LEAF + TRAINING)
    test = np.arange(FIRST_LEAF + TRAINING, FIRST_LEAF + TRAINING + TEST)
    order = [
        *(p for p in range(FIRST_LEAF) if p != UNSEEN_MIDDLE),
        *training.tolist(),
        UNSEEN_MIDDLE,
        *test.tolist(),
    ]
    counts = [OF_LEAF if position >= FIRST_LEAF else OF_COARSE for position in order]
    leaves = [generator.choice(members[p], count) for p, count in zip(order, counts, strict=True)]
    class_positions = np.repeat(order, counts)
    levels = np.repeat([3, 4, 5], [ROOTS, MIDDLES, TRAINING + TEST])
    names = (
        *(f"root{number}" for number in range(ROOTS)),
        *(f"middle{number}" for number in range(MIDDLES)),
        *(f"kind{number}" for number in range(TRAINING + TEST)),
    )
    return FewShotData(
        name=name,
        variant=variant,
        side=SIDE,
        pixels=images(of_leaves[np.concatenate(leaves) - FIRST_LEAF], generator),
        class_positions=class_positions,
        is_test=np.isin(class_positions, [UNSEEN_MIDDLE, *test.tolist()]),
        edge_index=edges,
        levels=levels,
        class_names=names,
        class_keys=tuple(f"n{position:08d}" for position in range(len(names))),
        training_few_shot=training,
        test_few_shot=test,
    )


def write_data(data: FewShotData, folder: Path) -> Path:
    """Write a data set where `load` finds it, and return the folder."""
    folder.mkdir(parents=True)
    np.save(folder / PIXELS_FILE, data.pixels)
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "name": data.name,
        "variant": data.variant,
        "side": data.side,
        "class_positions": data.class_positions.tolist(),
        "is_test": data.is_test.tolist(),
        "edges": data.edge_index.T.tolist(),
        "levels": data.levels.tolist(),
        "class_names": data.class_names,
        "class_keys": data.class_keys,
        "training_few_shot": data.training_few_shot.tolist(),
        "test_few_shot": data.test_few_shot.tolist(),
        "unreadable": [],
        "recipe": {"seed": 0},
    }
    (folder / DATA_FILE).write_text(json.dumps(facts), encoding="utf-8")
    return folder


def _edges() -> NDArray[np.int64]:
    of_middles = [
        (number * ROOTS // (MIDDLES - 1), ROOTS + number) for number in range(MIDDLES - 1)
    ]
    of_training = [(ROOTS + number // 3, FIRST_LEAF + number) for number in range(TRAINING)]
    of_test = [
        (ROOTS + middle, FIRST_LEAF + TRAINING + number)
        for number, middle in enumerate(_PARENTS_OF_TEST)
    ]
    return np.array([*of_middles, (ROOTS - 1, UNSEEN_MIDDLE), *of_training, *of_test]).T


def _leaves_below(edges: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
    """Few-shot classes at or below each class."""
    found: dict[int, set[int]] = {}
    for position in reversed(range(FIRST_LEAF + TRAINING + TEST)):
        below = edges[1, edges[0] == position].tolist()
        found[position] = (
            {position}
            if position >= FIRST_LEAF
            else set().union(*(found[child] for child in below))
        )
    return {position: np.array(sorted(leaves)) for position, leaves in found.items()}
