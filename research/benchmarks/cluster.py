"""Embedding and classification on a cluster, compared with the desktop on the same cores.

A cluster of this computer alone shows the overhead of Ray; on more nodes shards are independent.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
import psutil

from engine.backbones.model_files import ModelFiles
from engine.bundle.export import export_model
from engine.bundle.opened import open_bundle
from engine.collection.models import find_model
from engine.config import CacheFolders
from engine.dataset.opened import DataSet
from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedRequest
from engine.embedding.pipeline import embed_files
from engine.events import Progress
from engine.images.find_images import find_images
from engine.new_folder import scratch_folder
from engine.project import Project
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import CPU_CHOICE
from engine.worker.limits import peak_memory_bytes
from protoleaf_cluster.classify import classify_data_set
from protoleaf_cluster.embed import embed_sources
from protoleaf_cluster.ray_cluster import LOCAL
from protoleaf_cluster.run import Places
from research.benchmarks.photos import KINDS, draw_photos
from research.benchmarks.synthetic import synthetic_project
from research.benchmarks.synthetic_data_set import write_synthetic

LIMIT = 0.9  # of the desktop's rate
LIMIT_GROWTH = 1.1  # of a worker's memory, for ten times the rows
_SHARD_IMAGES = 100  # small ones, so that the time until the first is short
_FEWEST_SHARDS = 12
_PROJECT_IMAGES = 2_000  # of the project whose model classifies
_LOOK_S = 0.1
_MEBIBYTE = 1024**2


@dataclass(frozen=True)
class ClassifiedRows:
    """Classifying a data set of some size.

    Attributes:
        rows: of it.
        rows_per_s: on all cores, without starting the cluster.
        worker_mib: most resident memory of a worker.
        driver_mib: the same of the process of the command, its memory before included.
    """

    rows: int
    rows_per_s: float
    worker_mib: float
    driver_mib: float


@dataclass(frozen=True)
class ClusterFigures:
    """Measured figures.

    Attributes:
        images: that were embedded in each round.
        desktop, cluster: images a second on all cores, medians over rounds; of the cluster after
            its first shard.
        ratio: median of the rounds' ratios.
        differing: images whose embedding differs from the desktop's in any bit.
        fewer, many: classifying a tenth of the rows, and all.
    """

    images: int
    desktop: float
    cluster: float
    ratio: float
    differing: int
    fewer: ClassifiedRows
    many: ClassifiedRows
    limit: float = LIMIT
    limit_growth: float = LIMIT_GROWTH

    @property
    def growth(self) -> float:
        """Memory of a worker for ten times the rows, over that for the fewer."""
        return self.many.worker_mib / self.fewer.worker_mib

    @property
    def are_kept(self) -> bool:
        """Whether every limit is met, and all embeddings are equal."""
        return self.ratio >= self.limit and not self.differing and self.growth <= self.limit_growth


def measure_cluster(
    paths: Sequence[Path] = (),
    *,
    images: int = 1_440,
    rows: int = 1_000_000,
    rounds: int = 3,
    backbone: str = "fast",
    address: str = LOCAL,
) -> ClusterFigures:
    """Embed files both ways in turn, and classify synthetic data sets.

    Args:
        paths: files and folders; drawn photos of 500 pixels when empty.
        images: how many photos are drawn.
        rows: of the larger data set that is classified.
        rounds: rounds of timing; other load on the computer disturbs single rounds.
        backbone: name or file.
        address: of the cluster that embeds; a local one classifies, whose workers' memory can be
            seen from here.
    """
    model = find_model(backbone)
    with scratch_folder() as folder:
        sources = list(paths) or [_drawn(folder / "photos", images)]
        measured = [
            _round(sources, model, folder / f"round {number}", Places(address))
            for number in range(rounds)
        ]
        exported = _exported(folder / "project")
        fewer, many = (
            _classified(exported, count, folder / f"rows {count}")
            for count in (max(1, rows // 10), rows)
        )
    return ClusterFigures(
        images=measured[0].images,
        desktop=median(each.desktop for each in measured),
        cluster=median(each.cluster for each in measured),
        ratio=median(each.cluster / each.desktop for each in measured),
        differing=max(each.differing for each in measured),
        fewer=fewer,
        many=many,
    )


@dataclass(frozen=True)
class _Round:
    images: int
    desktop: float
    cluster: float
    differing: int


def _drawn(folder: Path, images: int) -> Path:
    kind = KINDS["small"]
    draw_photos(folder, replace(kind, copies=max(1, -(-images // kind.pictures))))
    return folder


def _round(sources: Sequence[Path], model: ModelFiles, folder: Path, places: Places) -> _Round:
    files = [file.path for file in find_images(sources).files]
    requests = [EmbedRequest(place, path) for place, path in enumerate(files)]
    session = BackboneSession(model.backbone, model.card, CPU_CHOICE)
    with EmbeddingCache(
        folder / "cache", model.embedding_identity, model.card.embedding_width
    ) as cache:
        desktop = embed_files(requests, session, cache).images_per_s
        reports: list[tuple[float, int]] = []

        def on_progress(progress: Progress) -> None:
            if progress.done:
                reports.append((time.perf_counter(), progress.done))

        shard_images = max(1, min(_SHARD_IMAGES, len(files) // _FEWEST_SHARDS))
        embed_sources(
            [str(path) for path in sources],
            folder / "set",
            model,
            shard_images=shard_images,
            places=places,
            on_progress=on_progress,
        )
        (first_s, first), (last_s, last) = reports[0], reports[-1]
        differing = sum(_differing(DataSet.open(folder / "set"), cache))
    return _Round(len(files), desktop, (last - first) / (last_s - first_s), differing)


def _differing(data_set: DataSet, cache: EmbeddingCache) -> Iterator[int]:
    """Number of embeddings of each part that differ from the desktop's."""
    for number in range(data_set.manifest.shard_count):
        for rows in data_set.each_rows(number):
            expected, found = cache.get_many([key or b"" for key in rows.content_hashes])
            is_same = (expected.view(np.uint16) == rows.embeddings.view(np.uint16)).all(axis=1)
            yield int((~is_same | (found != rows.has_embedding)).sum())


def _exported(folder: Path) -> Path:
    """Export the model of a project of 200 classes."""
    folder.mkdir()
    caches = CacheFolders(folder / "cache")
    path = synthetic_project(folder, caches, _PROJECT_IMAGES)
    with Project.open(path, for_writing=False, is_backed_up=False) as project:
        return export_model(project, caches, folder / "model").folder


def _classified(model: Path, rows: int, folder: Path) -> ClassifiedRows:
    data_set = write_synthetic(folder, rows, find_model())
    with _watching() as watch:
        done = classify_data_set(data_set, open_bundle(model), folder / "predictions")
    driver = peak_memory_bytes() or 0
    return ClassifiedRows(
        rows, done.new_rows_per_s, watch.most_bytes / _MEBIBYTE, driver / _MEBIBYTE
    )


class _Watch:
    """Peak memory of the workers of a cluster of this process."""

    def __init__(self) -> None:
        self.most_bytes = 0
        self.is_over = threading.Event()

    def look(self) -> None:
        while not self.is_over.wait(_LOOK_S):
            for each in psutil.Process().children(recursive=True):
                self._look_at(each)

    def _look_at(self, process: psutil.Process) -> None:
        try:
            if process.name().startswith("ray::RayWorker"):
                self.most_bytes = max(self.most_bytes, process.memory_info().rss)
        except psutil.Error:
            pass  # it has ended


@contextmanager
def _watching() -> Iterator[_Watch]:
    watch = _Watch()
    thread = threading.Thread(target=watch.look, name="memory of workers")
    thread.start()
    try:
        yield watch
    finally:
        watch.is_over.set()
        thread.join()
