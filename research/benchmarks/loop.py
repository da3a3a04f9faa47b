"""The loop of a large data set: label a project of it in the window, classify on a cluster."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.bundle.export import export_model
from engine.bundle.opened import open_bundle
from engine.collection.importing.data_set import project_of_data_set
from engine.collection.models import find_model
from engine.config import CacheFolders
from engine.dataset.shard_files import each_batch
from engine.new_folder import scratch_folder
from engine.project import Project
from protoleaf_cluster.classify import classify_data_set
from protoleaf_cluster.predictions import prediction_shards, read_predictions_manifest
from research.benchmarks.labelling import LabellingFigures, label_in_window
from research.benchmarks.synthetic import add_synthetic_graph
from research.benchmarks.synthetic_data_set import write_clustered
from research.reference import NumpyPass

LIMIT_SAME = 0.999
"""Share of equal predictions: sums in another order may break ties differently."""


@dataclass(frozen=True)
class Step:
    """A step of the loop and how long it took."""

    name: str
    seconds: float


@dataclass(frozen=True)
class LoopFigures:
    """Measured figures.

    Attributes:
        rows: of the data set.
        steps: in order.
        labelling: by keys in the window.
        compared: images whose predictions are compared, labelled ones left out.
        same: of these, with the same prediction by window and cluster.
    """

    rows: int
    steps: tuple[Step, ...]
    labelling: LabellingFigures
    compared: int
    same: int
    limit_same: float = LIMIT_SAME

    @property
    def are_kept(self) -> bool:
        """Whether each key is one label on disk, as it was shown, and predictions agree."""
        return self.labelling.are_labels_kept and 0 < self.limit_same * self.compared <= self.same


@final
class _Clock:
    def __init__(self) -> None:
        self.steps: list[Step] = []

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        started_s = time.monotonic()
        yield
        self.steps.append(Step(name, time.monotonic() - started_s))


def measure_loop(rows: int = 1_000_000, *, keys: int = 50, per_s: float = 2) -> LoopFigures:
    """Run the loop once; needs a display or Qt's offscreen platform, and Ray.

    Args:
        rows: of the data set, whose embeddings are synthetic, around the centres of 200 classes;
            one image of each class is labelled before the window opens, as by an import of labels.
        keys: pressed in the window, each of which labels one image.
        per_s: keys a second.
    """
    clock = _Clock()
    with scratch_folder() as folder:
        caches, path, out = (
            CacheFolders(folder / "cache"),
            folder / "loop.protoleaf",
            folder / "predictions",
        )
        with clock.step("write the data set"):
            data_set, classes = write_clustered(folder / "set", rows, find_model())
        with clock.step("make a project of it"):
            project_of_data_set(path, data_set.folder, caches)
        with clock.step("classes, and a label of each"):
            _label_one_of_each(path, classes)
        run = label_in_window(path, caches, NumpyPass(rows), keys=keys, per_s=per_s, unpaced=0)
        clock.steps += [
            Step("open the window, all predictions", run.loaded_s),
            Step(f"{keys} labels by keys", run.labelling_s),
            Step("predictions after the last", run.predictions_s),
        ]
        with clock.step("export the model"), Project.open(path, for_writing=False) as project:
            export_model(project, caches, folder / "model")
        with clock.step("classify on the cluster"):
            classify_data_set(data_set, open_bundle(folder / "model"), out)
        compared, same = _compare(path, run.predicted, out)
    return LoopFigures(rows, tuple(clock.steps), run.figures, compared, same)


def _label_one_of_each(path: Path, classes: NDArray[np.int64]) -> None:
    """Add 200 classes, and label the first image of each; `classes` (n,) are those of the rows."""
    with Project.open(path) as project:
        leaves, image_ids = add_synthetic_graph(project), project.images.table().ids
        for place, row in zip(
            *(each.tolist() for each in np.unique(classes, return_index=True)), strict=True
        ):
            project.labels.set([image_ids[row]], leaves[place])


def _compare(path: Path, predicted: Mapping[int, int], out: Path) -> tuple[int, int]:
    """Number of unlabelled images that the window predicted, and of those on which both agree."""
    with Project.open(path, for_writing=False) as project:
        image_ids = sorted(predicted.keys() - set(project.labels.table().image_ids))
        hashes = project.images.table(image_ids).content_hashes
    ours = {
        content_hash: predicted[image_id]
        for image_id, content_hash in zip(image_ids, hashes, strict=True)
    }
    manifest = read_predictions_manifest(out)
    shards, same = prediction_shards(out, manifest), 0
    for number in range(manifest.shard_count):
        for batch in each_batch(shards, number, ["content_hash", "class_id"]):
            rows = zip(*(batch.column(place).to_pylist() for place in range(2)), strict=True)
            same += sum(ours.get(content_hash) == class_id for content_hash, class_id in rows)
    return len(ours), same
