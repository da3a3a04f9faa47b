"""Cost of bounding boxes beyond the network: photos with boxes compared with the photos alone."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.collection.models import BUNDLED_NAME, find_model
from engine.events import OnProgress, ignore_progress
from engine.file_parts import WHOLE, BoundingBox, FilePart
from engine.new_folder import scratch_folder
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import choose_providers
from research.benchmarks.photos import KINDS, draw_photos
from research.benchmarks.rates import decode_all, measure_inference_alone, measure_pipeline
from research.reference import JudgedFigure, judged, shown, within_budget

LIMIT = 1.15
SIDE = (0.1, 0.5)  # of a box, in shares of the photo's
ALONE = "the photos alone and the network"
_FEWEST_FOR_THE_NETWORK = 256


@dataclass(frozen=True)
class BoxFigures:
    """Results of rounds in which both were timed in turn.

    Attributes:
        photos: files.
        boxes: of each.
        device: where the network ran.
        rows: photos with boxes, relative to the photos alone plus the network's time for as many
            images as boxes.
    """

    photos: int
    boxes: int
    device: str
    rows: tuple[JudgedFigure, ...]


def measure_boxes(
    boxes: int,
    *,
    photos: str = "small",
    files: int = 480,
    backbone: str = BUNDLED_NAME,
    device: str = "auto",
    rounds: int = 5,
    on_progress: OnProgress = ignore_progress,
) -> BoxFigures:
    """Embed generated photos with `boxes` boxes each.

    Args:
        photos: one of `KINDS`.
        files: photos.
        backbone, device: as in `measure_embed`.
        rounds: at most.
    """
    model, kind = find_model(backbone), KINDS[photos]
    session = BackboneSession(model.backbone, model.card, choose_providers(device))
    with scratch_folder() as folder:
        paths = draw_photos(folder, replace(kind, copies=-(-files // kind.pictures)))[:files]
        taken = [_round_s(paths, boxes, session) for _ in within_budget(rounds, on_progress)]
    return BoxFigures(len(paths), boxes, session.device_name, tuple(rows_of(np.array(taken))))


def rows_of(taken: NDArray[np.float64]) -> Iterator[JudgedFigure]:
    """The figures of rounds.

    Args:
        taken: (rounds, 3, 2) seconds, and seconds of processors: photos alone, network, photos with
            boxes.
    """
    for clock, unit in enumerate(("s", "s of processors")):
        alone, network, together = taken[:, :, clock].T
        yield judged(
            "photos with boxes", together, alone + network, LIMIT, against=ALONE, unit=unit
        )
        yield shown("  the photos alone", alone, unit)
        yield shown("  the network, for the boxes", network, unit)


def _round_s(
    paths: Sequence[Path], boxes: int, session: BackboneSession
) -> list[tuple[float, float]]:
    some = decode_all(paths[:_FEWEST_FOR_THE_NETWORK], session.card, workers=session.parallel_runs)
    photos = [(path, WHOLE) for path in paths]
    items = [
        (path, part)
        for number, path in enumerate(paths)
        for part in (WHOLE, *drawn_boxes(boxes, number))
    ]
    alone = _timed_s(lambda: measure_pipeline(photos, session))
    network = _timed_s(lambda: measure_inference_alone(some, session))
    share = len(paths) * boxes / len(some)
    return [
        alone,
        (network[0] * share, network[1] * share),
        _timed_s(lambda: measure_pipeline(items, session)),
    ]


def _timed_s(work: Callable[[], object]) -> tuple[float, float]:
    """Wall-clock and processor seconds of a call; the latter do not depend on other load."""
    started_s, started_busy_s = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started_s, time.process_time() - started_busy_s


def drawn_boxes(count: int, seed: int) -> list[str]:
    """Distinct boxes in a photo, as parts of its file; the same each time."""
    generator = np.random.default_rng(seed)
    sizes = generator.uniform(*SIDE, (count, 2))
    corners = generator.uniform(0, 1 - sizes)
    return [
        FilePart(box=BoundingBox.of(*corner, *size)).text
        for corner, size in zip(corners, sizes, strict=True)
    ]
