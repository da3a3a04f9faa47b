"""A few hundred images counted as a large collection, with cached files and early answers."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np

from engine.collection import embedded_images, fitting
from engine.collection.embed import open_cache
from engine.collection.fitting import FitInput, run_fit
from engine.collection.live import LiveCollection
from engine.collection.models import find_model
from engine.collection.new_project import new_project
from engine.collection.state import NO_CLASS, CollectionState
from engine.config import CacheFolders
from engine.everyday.collection_stage import basis, live_basis
from engine.files import FoundFile
from engine.graph.category_graph import CategoryGraph
from engine.images.read_file import content_hash
from research.benchmarks.synthetic import synthetic_embeddings

IMAGES = 600
SPARE = 80  # contents embedded in advance for images added later
FAMILIES = 4
CLASSES = 12
SHOTS = 3
IN_VIEW = 24
_LOWERED = (
    (embedded_images, "FEWEST_CACHED", 10),
    (fitting, "FEWEST_IN_TURN", 10),
    (fitting, "SLICE_ROWS", 100),
    (basis, "MOST_ANCHORS", 100),
    (live_basis, "MOST_ANCHORS", 100),
    (live_basis, "MANY_ANCHORS", 4),
)


def take_for_large() -> None:
    """Let this process, a child, count a few hundred images as large."""
    for module, name, value in _LOWERED:
        setattr(module, name, value)


def write_large_project(
    path: Path, caches: CacheFolders, prefix: str = "Class", shift: int = 0
) -> None:
    """Write an embedded project of numbered images.

    Args:
        prefix: of the names of its classes.
        shift: of the labels: the same images and ids under other names.
    """
    path.parent.mkdir(exist_ok=True)
    model = find_model()
    drawn = synthetic_embeddings(
        IMAGES + SPARE, model.card.embedding_width, classes=CLASSES, families=FAMILIES
    )
    hashes = [content_of_number(number) for number in range(IMAGES + SPARE)]
    with open_cache(model, caches) as cache:
        cache.put_many(hashes, drawn.embeddings)
    with new_project(path) as project:
        project.classes.edit(lambda graph: _add_classes(graph, prefix))
        leaves = project.classes.graph.leaves()
        project.images.add(
            [FoundFile(path.with_name(f"{number}.jpg"), 1, 1) for number in range(IMAGES)]
        )
        ids = np.array(project.images.table().ids)
        project.images.record_scan(zip(ids.tolist(), hashes, [None] * IMAGES, strict=False))
        for place in range(CLASSES):
            shots = ids[np.flatnonzero(drawn.classes[:IMAGES] == place)[:SHOTS]]
            project.labels.set(shots.tolist(), leaves[(place + shift) % CLASSES], who="ada")


def content_of_number(number: int) -> bytes:
    return content_hash(number.to_bytes(8, "little"))


def _add_classes(graph: CategoryGraph, prefix: str) -> None:
    for family in range(FAMILIES):
        family_id = graph.add_class(f"{prefix} family {family}")
        for leaf in range(CLASSES // FAMILIES):
            graph.add_class(f"{prefix} {family}.{leaf}", (family_id,))


def fit_as_window(
    live: LiveCollection, chance: Random, label: Callable[[], object] = lambda: None
) -> None:
    """Fit with early answers for visible images, and labels set in between."""
    view = chance.sample(live.state.image_ids.tolist(), min(IN_VIEW, len(live.state.image_ids)))

    def next_input() -> FitInput | None:
        if chance.random() < 0.6:
            return None
        label()
        return live.fit_input(view)

    wanted = live.fit_input(view)
    live.adopt(run_fit(wanted, on_first=live.adopt_first, next_input=next_input))
    wanted.keep()


def shown_of(state: CollectionState, graph: CategoryGraph) -> Iterator[str]:
    """A text for each image with a prediction: immutable id, names of image and class."""
    for place in np.flatnonzero(state.best_class != NO_CLASS).tolist():
        names = [
            "-" if code == NO_CLASS else graph.name(code) if code in graph else f"gone {code}"
            for code in (int(state.best_class[place]), int(state.safe_class[place]))
        ]
        scores = f"{state.best_score[place]:.4f} {state.safe_score[place]:.4f}"
        yield (
            f"{state.image_ids[place]} {state.paths[place]} {names} {scores} "
            f"{state.is_unknown[place]}"
        )
