"""How a training tells of itself: points of the curve, and progress that carries the latest of them as its note."""

from dataclasses import replace
from enum import StrEnum
from typing import final

from engine.events import OnProgress, Progress
from engine.training.curve import OnPoint, TrainingPoint


class TrainingStage(StrEnum):
    """What a training does where it counts nothing, as the note of a progress without a unit."""

    PREPARING = "preparing the network"
    EMBEDDING = "embedding the images"
    SAVING = "saving the backbone"
    MEASURING = "measuring it on held-out images"


@final
class Teller:
    """Keeps the curve, hands each point on, and writes the latest into the progress.

    Attributes:
        points: so far.
        ending_s: seconds from the last iteration to the end, which the progress counts in.
    """

    def __init__(self, on_progress: OnProgress, on_point: OnPoint) -> None:
        self.points: list[TrainingPoint] = []
        self.ending_s = 0.0
        self._on_progress = on_progress
        self._on_point = on_point

    def point(self, point: TrainingPoint) -> None:
        """Take a point down."""
        self.points.append(point)
        self._on_point(point)

    def progress(self, progress: Progress) -> None:
        """Tell how far it is, with the latest loss and accuracy."""
        left_s = progress.seconds_left
        left_s = None if left_s is None else left_s + self.ending_s
        note = _note(self.points[-1]) if self.points else progress.note
        self._on_progress(replace(progress, note=note, seconds_left=left_s))

    def stage(self, stage: TrainingStage) -> None:
        """Tell what happens now, as nothing is counted meanwhile."""
        self._on_progress(Progress(0, 0, unit="", note=stage))

    def reading(self, progress: Progress) -> None:
        """Tell how many images are read: how long the training takes nobody knows from that."""
        self._on_progress(replace(progress, seconds_left=None))


def _note(point: TrainingPoint) -> str:
    loss = point.validation_loss if point.loss is None else point.loss
    parts = [] if loss is None else [f"loss {loss:.3f}"]
    if point.accuracy is not None:
        parts.append(f"accuracy {100 * point.accuracy:.1f}%")
    return ", ".join(parts)
