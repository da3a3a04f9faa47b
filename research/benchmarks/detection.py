"""Overhead of running a detector over files, beyond the network alone and reading alone."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.detection.detector import open_detector
from engine.detection.find_things import find_things
from engine.detection.messages import SearchedFile
from engine.detection.picture_input import fed
from engine.images.decode import ImageDecoder
from engine.images.find_images import find_images
from engine.images.read_file import read_file
from engine.runtime.sessions import open_session, run_session, usable_cores

ROUNDS = 3
"""Rounds of each part, in turn; the best counts, as other programs use the machine, too."""
LIMIT = 1.05
"""Processor seconds of a run, relative to network and reading together. Chosen."""


@dataclass(frozen=True)
class DetectionPart:
    """Wall-clock and processor seconds for all images."""

    name: str
    seconds: float
    cpu_s: float


@dataclass(frozen=True)
class DetectionFigures:
    """The network alone, reading alone, and a run of both."""

    images: int
    parts: tuple[DetectionPart, ...]

    @property
    def beyond_network(self) -> float:
        """Processor seconds of the run, relative to the network alone."""
        network, _, run = self.parts
        return run.cpu_s / network.cpu_s

    @property
    def beyond_both(self) -> float:
        """Processor seconds of the run, relative to network and reading."""
        network, reading, run = self.parts
        return run.cpu_s / (network.cpu_s + reading.cpu_s)


def measure_detection(model: Path, folder: Path, most: int) -> DetectionFigures:
    """Measure on at most `most` images of a folder, on the CPU.

    Raises:
        ModelError: the file is no detector.
        StorageError: the folder does not exist.
    """
    paths = [file.path for file in find_images([folder]).files[:most]]
    files = [SearchedFile(number, path) for number, path in enumerate(paths)]
    detector = open_detector(model, device="cpu")
    facts = detector.facts
    threads = usable_cores() // detector.runs_at_once
    session = open_session(model, threads=threads)
    pictures = [detector.letterboxed(ImageDecoder(read_file(path))).pixels[None] for path in paths]

    def network(place: int) -> None:
        run_session(session, fed(facts.takes, pictures[place]), list(facts.form.outputs))

    def reading(place: int) -> None:
        detector.letterboxed(ImageDecoder(read_file(paths[place])))

    def everything() -> None:
        find_things(files, detector, lambda _found: None, total=len(files))

    works: dict[str, Callable[[], None]] = {
        "network": lambda: _side_by_side(network, len(files), detector.runs_at_once),
        "reading": lambda: _side_by_side(reading, len(files), detector.runs_at_once),
        "run": everything,
    }
    rounds = [[_timed(name, work) for name, work in works.items()] for _ in range(ROUNDS)]
    best = tuple(min(each, key=lambda part: part.cpu_s) for each in zip(*rounds, strict=True))
    return DetectionFigures(len(files), best)


def _side_by_side(work: Callable[[int], None], count: int, threads: int) -> None:
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, np.arange(count).tolist()))


def _timed(name: str, work: Callable[[], None]) -> DetectionPart:
    started_s, started_cpu_s = time.perf_counter(), time.process_time()
    work()
    return DetectionPart(name, time.perf_counter() - started_s, time.process_time() - started_cpu_s)


def lines_of(figures: DetectionFigures) -> Sequence[str]:
    """Lines for a terminal."""
    return [
        f"{part.name:10}{figures.images / part.seconds:8.1f} images/s"
        f"{1000 * part.cpu_s / figures.images:10.1f} cpu ms an image"
        for part in figures.parts
    ]
