"""Detectors of discs and their results."""

from pathlib import Path
from typing import Any

from engine.detection.detections import THRESHOLD, Detection
from engine.detection.detector import ObjectDetector
from engine.detection.examining import examine
from engine.detection.messages import DetectorFacts, ExamineDetector
from engine.runtime.providers import CPU_CHOICE, ProviderChoice
from engine.worker.limits import Limits
from tests.support.detector_networks import Disc, write_detector

LIMITS = Limits(60, 2**30, 2**30)


def examined_detector(path: Path, **wanted: Any) -> DetectorFacts:
    """Examine a valid file in this process."""
    return examine(ExamineDetector(path, LIMITS, **wanted))


def opened_detector(
    path: Path, *, threshold: float = THRESHOLD, choice: ProviderChoice = CPU_CHOICE, **network: Any
) -> ObjectDetector:
    """Write and open a detector; further arguments are those of `write_detector`."""
    write_detector(path, **network)
    return ObjectDetector(path, examined_detector(path), choice, threshold=threshold)


def farthest_edge(found: Detection, disc: Disc, size: tuple[int, int]) -> float:
    """Largest distance of a box's edge to its disc, in pixels of the picture."""
    column, row, radius, _ = disc
    left, top, width, height = found.box.in_pixels(size)
    edges = left - (column - radius), top - (row - radius)
    others = left + width - (column + radius), top + height - (row + radius)
    return max(map(abs, (*edges, *others)))
