"""Time from dropping three photos into a large project until they are predicted."""

import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from engine.collection.importing.import_images import import_images
from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS
from engine.config import CacheFolders
from engine.embedding.messages import EmbedBatch, EmbedResult
from engine.errors import ProtoleafError
from engine.events import OnProgress, ignore_progress
from engine.new_file import write_file
from engine.new_folder import scratch_folder
from engine.requests import images_to_embed
from engine.worker.client import Done, Ending, Worker
from research.benchmarks.synthetic import synthetic_project
from research.reference import NUMPY, JudgedFigure, NumpyPass, judged, shown, within_budget
from research.sample_painter.collection import draw_collection

PHOTOS = 3
ROUNDS = 5
LIMIT_OVER_FIT = 1.7  # a drop needs one fit
LIMIT_OVER_PASS = 10


@dataclass(frozen=True)
class DropFigures:
    """Seconds from the drop until the photos are predicted, by the path that the window takes.

    Attributes:
        images: of the project.
        rows: the first drop, which starts the process that embeds; later drops, relative to fitting
            and classifying everything after one more label, and to a numpy pass; memory of that
            process while idle.
    """

    images: int
    rows: tuple[JudgedFigure, ...]


def measure_drop(
    images: int = 100_000, *, rounds: int = ROUNDS, on_progress: OnProgress = ignore_progress
) -> DropFigures:
    """Drop photos repeatedly; after each drop label an image, then time a numpy pass."""
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        (folder / "large").mkdir()
        path = synthetic_project(folder / "large", caches, images)
        photos, numpy_pass = _photos(folder, PHOTOS * (rounds + 1)), NumpyPass(images)
        worker = Worker(stays=True)
        try:
            with closing(LiveCollection.open(path, caches)) as live:
                live.load()
                cold_s = _dropped_s(live, caches, worker, photos[:PHOTOS])
                timed = [
                    (
                        _dropped_s(live, caches, worker, photos[PHOTOS * (turn + 1) :][:PHOTOS]),
                        _labelled_s(live),
                        numpy_pass.time_s(),
                    )
                    for turn in within_budget(rounds, on_progress)
                ]
                memory_bytes = worker.memory_bytes()
        finally:
            worker.stop(1.0)
    warm, fits, passes = zip(*timed, strict=True)
    return DropFigures(
        images,
        (
            shown("the process starts", [cold_s]),
            judged(
                "it is there already", warm, fits, LIMIT_OVER_FIT, against="fitting and classifying"
            ),
            judged("the same", warm, passes, LIMIT_OVER_PASS, against=NUMPY),
            shown("memory of the process", [memory_bytes / 2**20], "MiB"),
        ),
    )


def _photos(folder: Path, wanted: int) -> list[Path]:
    """Drawn photos, each with different content."""
    drawn = sorted(draw_collection(folder / "pictures", images_per_class=4).folder.rglob("*.jpg"))
    (folder / "dropped").mkdir()
    photos = [folder / "dropped" / f"{number}.jpg" for number in range(wanted)]
    for number, photo in enumerate(photos):
        picture = drawn[number % len(drawn)].read_bytes()
        # Appended bytes change the content, not the picture.
        write_file(photo, picture + number.to_bytes(4, "little"))
    return photos


def _dropped_s(
    live: LiveCollection, caches: CacheFolders, worker: Worker, photos: Sequence[Path]
) -> float:
    """Process a drop on the grid; return the seconds."""
    started_s = time.perf_counter()
    change = import_images(live.project, photos).change
    live.apply(change)
    request = images_to_embed(live, caches, "cpu")
    assert request is not None, "photos were added"
    results: list[EmbedResult] = []
    endings: list[Ending] = []
    is_over = threading.Event()

    def take(event: object) -> None:
        if isinstance(event, EmbedBatch):
            results.extend(event.results)

    def end(ending: Ending) -> None:
        endings.append(ending)
        is_over.set()

    worker.send(request, take, end)
    is_over.wait()
    if not isinstance(endings[0], Done):
        raise ProtoleafError("the photos were not embedded", found=str(endings[0]))
    live.project.images.record_scan(results)
    state = live.take_embedded([result.image_id for result in results])
    passed_s = time.perf_counter() - started_s
    best = [state.best_class[state.position(image_id)] for image_id in change.images_added]
    if len(best) != len(photos) or NO_CLASS in best:
        raise ProtoleafError(
            "the photos were not predicted", expected=f"{len(photos)} predictions", found=str(best)
        )
    return passed_s


def _labelled_s(live: LiveCollection) -> float:
    """Label one more image; return the seconds of fitting and classifying all."""
    state = live.state
    place = int((state.label_class == NO_CLASS).nonzero()[0][0])
    change = live.project.labels.set([int(state.image_ids[place])], int(state.best_class[place]))
    started_s = time.perf_counter()
    live.apply(change)
    return time.perf_counter() - started_s
