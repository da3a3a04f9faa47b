"""Time from an edit of a large project until predictions follow and changed images are found."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from statistics import median

import numpy as np

from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS, changed_images
from engine.config import CacheFolders
from engine.events import OnProgress, ignore_progress
from engine.new_folder import scratch_folder
from engine.project import Change, Project
from engine.project.records import ClassPolicy
from research.benchmarks.synthetic import synthetic_project
from research.reference import NUMPY, JudgedFigure, NumpyPass, judged, within_budget

Act = Callable[[Project], Change]

ROUNDS = 2
"""Rounds in which each edit is made and undone. Chosen: it takes half a minute."""
LIMIT = 8
WITHOUT_FIT = {"rename a class": 1}
"""Edits that predictions do not depend on, and their limits."""
STRICT_BAR = 0.99
"""A threshold that many images miss."""


@dataclass(frozen=True)
class EditsFigures:
    """Measured figures, undo included.

    Attributes:
        images: of the project.
        rows: of each kind of edit, from the action until it is written, all predictions are updated
            and the images that it changed are found.
        changed: median number of these images, by kind.
    """

    images: int
    rows: tuple[JudgedFigure, ...]
    changed: Mapping[str, int]


def measure_edits(
    images: int = 100_000,
    *,
    rounds: int = ROUNDS,
    only: Sequence[str] = (),
    on_progress: OnProgress = ignore_progress,
) -> EditsFigures:
    """Edit graph, thresholds and labels of a synthetic project, and undo each edit, repeatedly.

    Args:
        images: of the project.
        rounds: how often each edit is made and undone.
        only: names of the edits to time; by default all.
        on_progress: called with the rounds.
    """
    predictions_s, changed = defaultdict[str, list[float]](list), defaultdict[str, list[int]](list)
    passes_s, numpy_pass = defaultdict[str, list[float]](list), NumpyPass(images)
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        (folder / "large").mkdir()
        with closing(
            LiveCollection.open(synthetic_project(folder / "large", caches, images), caches)
        ) as live:
            live.load()
            chosen = {
                name: action for name, action in _edits(live).items() if not only or name in only
            }
            for _ in within_budget(rounds, on_progress):
                for name, action in chosen.items():
                    for act in (action, _undone):
                        before, started_s = live.state, time.perf_counter()
                        changes = changed_images(before, live.apply(act(live.project)))
                        predictions_s[name].append(time.perf_counter() - started_s)
                        changed[name].append(changes.count)
                        passes_s[name].append(numpy_pass.time_s())
    rows = (
        judged(name, seconds, passes_s[name], WITHOUT_FIT.get(name, LIMIT), against=NUMPY)
        for name, seconds in predictions_s.items()
    )
    return EditsFigures(
        images, tuple(rows), {name: round(median(each)) for name, each in changed.items()}
    )


def _edits(live: LiveCollection) -> dict[str, Act]:
    """One edit of each kind, on classes far from each other."""
    graph, state = live.project.classes.graph, live.state
    families = [graph.children(group)[0] for group in graph.roots()]
    first, second, third = (graph.children(family)[0] for family in families[:3])
    unlabelled = state.image_ids[state.label_class == NO_CLASS]
    image_id = int(unlabelled[np.argmin(state.best_score[state.label_class == NO_CLASS])])
    return {
        "label an image": lambda project: project.labels.set([image_id], first),
        "bar of a class": lambda project: project.policies.set(
            families[0], ClassPolicy(bar=STRICT_BAR)
        ),
        "rename a class": lambda project: project.classes.rename(first, "Another name"),
        "new class": lambda project: project.classes.add("New class", [families[0]])[0],
        "second parent": lambda project: project.classes.link(families[1], [first]),
        "move a class": lambda project: project.classes.move([(second, families[1])], families[2]),
        "merge two classes": lambda project: project.classes.merge([first], second),
        "remove a class": lambda project: project.classes.remove([third]),
    }


def _undone(project: Project) -> Change:
    change = project.history.undo()
    assert change is not None, "an edit was made just before"
    return change
