"""Detectors between processes: what is found out about a file, and what it finds in images."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from engine.detection.category_names import number_name
from engine.detection.detections import Detection
from engine.detection.output_forms import OutputForm, Size
from engine.file_parts import WHOLE
from engine.worker.limits import Limits
from engine.worker.protocol import Request

MOST_LISTED = 10_000
"""Failures of a summary; an unplugged disk of a million images must not fill the memory."""

Colour = tuple[float, float, float]


@dataclass(frozen=True)
class DetectorInput:
    """The input that takes pictures; a number in it is (value / 255 · value_scale - mean) / std.

    Attributes:
        kind: such as "tensor(float)".
        layout: "nchw", "nhwc", or "chw" for one picture without an axis of batches.
        size: width and height; the largest where any will do.
        stride: sides are multiples of it; 0 where the size is fixed.
        takes_batches: whether several pictures can be given at once.
        others: names of further inputs, which hold sizes.
        mask: width and height of the picture mask input; (0, 0) where they are the picture's.
    """

    name: str
    kind: str
    layout: str
    size: Size
    stride: int = 0
    takes_batches: bool = False
    others: tuple[str, ...] = ()
    mask: Size = (0, 0)
    value_scale: float = 1.0
    mean: Colour = (0.0, 0.0, 0.0)
    std: Colour = (1.0, 1.0, 1.0)
    channel_order: str = "rgb"


@dataclass(frozen=True)
class DetectorFacts:
    """What was found out about a file that is a detector."""

    file_name: str
    size_bytes: int  # with its external data
    takes: DetectorInput
    form: OutputForm
    names: tuple[str, ...] = ()  # of categories, by number; () where they are not known

    def category(self, number: int) -> str:
        """Name of a category."""
        return self.names[number] if 0 <= number < len(self.names) else number_name(number)


@dataclass(frozen=True)
class ExamineDetector(Request[DetectorFacts]):
    """Examine a file that may be a detector, in a process held to limits."""

    path: Path
    limits: Limits
    names: tuple[str, ...] = ()  # of its categories, instead of those in the file
    # Longest side of pictures, in pixels; 0 for the one that the file names, or usual
    side: int = 0
    value_scale: float = 0.0  # largest number of a pixel, such as 255; 0 for the usual


class SearchedFile(NamedTuple):
    """A picture: its id, the absolute path of its file, and the page or moment of it."""

    image_id: int
    path: Path
    part: str = WHOLE


class FoundThings(NamedTuple):
    """What was found in a file."""

    file: SearchedFile
    detections: tuple[Detection, ...] = ()  # the best first
    content_hash: bytes | None = None  # of the file; None where it was not read
    failure: str = ""  # why it could not be searched, in one line
    # The file may be fine: its disk or share is not reachable
    is_unreachable: bool = False


@dataclass(frozen=True)
class DetectionSummary:
    """Counts of a run."""

    searched: int  # files
    with_things: int  # of them, files in which something was found
    boxes: int
    failed: tuple[tuple[SearchedFile, str], ...]  # the first `MOST_LISTED`, each with its reason
    failure_count: int
    seconds: float
    images_per_s: float
    device_name: str  # where the detector ran, at the end
    notice: str = ""  # for the person, such as that the GPU failed and the CPU took over
    reason: str = ""  # why a GPU was not used
