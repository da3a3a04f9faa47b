"""How long predictions take to follow an edit of a large project, and to say which images it changed."""

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS, changed_images
from engine.config import CacheFolders
from engine.new_folder import scratch_folder
from engine.project import Change, Project
from engine.project.records import ClassPolicy
from research.benchmarks.synthetic import synthetic_project

Act = Callable[[Project], Change]

ROUNDS: Final = 3
"""How often each edit is made and taken back. Chosen: medians hold still, and it takes half a minute."""
STRICT_BAR: Final = 0.99
"""A bar that many images miss."""


@dataclass(frozen=True)
class EditFigures:
    """One kind of edit; medians over all that was timed of it, undo included.

    Attributes:
        name: of the edit.
        predictions_s: from the action until all predictions know it, its way to disk included.
        cpu_s: what all cores together worked for that, whatever else they had to do meanwhile.
        compare_s: finding the images that it changed.
        changed: how many those were.
    """

    name: str
    predictions_s: float
    cpu_s: float
    compare_s: float
    changed: int


@dataclass(frozen=True)
class EditsFigures:
    """All kinds, and what they have to keep."""

    images: int
    edits: tuple[EditFigures, ...]
    limit_s: float = 1.0

    @property
    def are_kept(self) -> bool:
        """Whether every edit is predicted, and its images found, within the limit."""
        return all(edit.predictions_s + edit.compare_s <= self.limit_s for edit in self.edits)


def measure_edits(images: int = 100_000, *, rounds: int = ROUNDS, only: Sequence[str] = ()) -> EditsFigures:
    """Edit graph, bars and labels of a synthetic project, and undo it, again and again.

    Args:
        images: of the project.
        rounds: how often each edit is made and taken back.
        only: names of the edits to time; by default all.
    """
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        (folder / "large").mkdir()
        with closing(LiveCollection.open(synthetic_project(folder / "large", caches, images), caches)) as live:
            live.load()
            chosen = {name: action for name, action in _edits(live).items() if not only or name in only}
            found = tuple(_measured(live, name, action, rounds) for name, action in chosen.items())
            return EditsFigures(images, found)


def _edits(live: LiveCollection) -> dict[str, Act]:
    """One edit of each kind, on classes far from each other."""
    graph, state = live.project.classes.graph, live.state
    families = [graph.children(group)[0] for group in graph.roots()]
    first, second, third = (graph.children(family)[0] for family in families[:3])
    unlabelled = state.image_ids[state.label_class == NO_CLASS]
    image_id = int(unlabelled[np.argmin(state.best_score[state.label_class == NO_CLASS])])
    return {
        "label an image": lambda project: project.labels.set([image_id], first),
        "bar of a class": lambda project: project.policies.set(families[0], ClassPolicy(bar=STRICT_BAR)),
        "rename a class": lambda project: project.classes.rename(first, "Another name"),
        "new class": lambda project: project.classes.add("New class", [families[0]])[0],
        "second parent": lambda project: project.classes.link(families[1], [first]),
        "move a class": lambda project: project.classes.move([(second, families[1])], families[2]),
        "merge two classes": lambda project: project.classes.merge([first], second),
        "remove a class": lambda project: project.classes.remove([third]),
    }


def _measured(live: LiveCollection, name: str, action: Act, rounds: int) -> EditFigures:
    predictions_s: list[float] = []
    cpu_s: list[float] = []
    compare_s: list[float] = []
    changed: list[int] = []
    for _ in range(rounds):
        for act in (action, _undone):
            before, started_s, cpu_started_s = live.state, time.perf_counter(), time.process_time()
            after = live.apply(act(live.project))
            predictions_s.append(time.perf_counter() - started_s)
            cpu_s.append(time.process_time() - cpu_started_s)
            started_s = time.perf_counter()
            changed.append(changed_images(before, after).count)
            compare_s.append(time.perf_counter() - started_s)
    middle = statistics.median
    return EditFigures(name, middle(predictions_s), middle(cpu_s), middle(compare_s), round(middle(changed)))


def _undone(project: Project) -> Change:
    change = project.history.undo()
    assert change is not None, "an edit was made just before"
    return change
