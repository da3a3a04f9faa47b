"""Detectors of discs, opened, and what they find."""

from pathlib import Path
from typing import Any, Final

from engine.detection.detections import THRESHOLD, Detection
from engine.detection.detector import ObjectDetector
from engine.detection.examining import examine
from engine.detection.messages import DetectorFacts, ExamineDetector
from engine.runtime.providers import CPU_CHOICE, ProviderChoice
from engine.worker.limits import Limits
from tests.support.detector_networks import Disc, write_detector

LIMITS: Final = Limits(60, 2**30, 2**30)


def examined_detector(path: Path, **wanted: Any) -> DetectorFacts:
    """Facts of a sound file, found in this process."""
    return examine(ExamineDetector(path, LIMITS, **wanted))


def opened_detector(
    path: Path, *, threshold: float = THRESHOLD, choice: ProviderChoice = CPU_CHOICE, **network: Any
) -> ObjectDetector:
    """A detector of discs, written and opened; further arguments are those of `write_detector`."""
    write_detector(path, **network)
    return ObjectDetector(path, examined_detector(path), choice, threshold=threshold)


def farthest_edge(found: Detection, disc: Disc, size: tuple[int, int]) -> float:
    """By how many pixels of the picture the worst edge of a box is off a disc."""
    column, row, radius, _ = disc
    left, top, width, height = found.box.in_pixels(size)
    edges = left - (column - radius), top - (row - radius)
    others = left + width - (column + radius), top + height - (row + radius)
    return max(map(abs, (*edges, *others)))
