"""How a training tells of itself: points of the curve, and progress that carries the latest of them as its note."""

from collections.abc import Callable
from dataclasses import replace
from typing import final

from engine.events import OnProgress, Progress
from engine.training.curve import TrainingPoint

OnPoint = Callable[[TrainingPoint], None]


def ignore_point(_point: TrainingPoint) -> None:
    """Be the listener of callers that draw no curve."""


@final
class Teller:
    """Keeps the curve, hands each point on, and writes the latest into the progress.

    Attributes:
        points: so far.
    """

    def __init__(self, on_progress: OnProgress, on_point: OnPoint) -> None:
        self.points: list[TrainingPoint] = []
        self._on_progress = on_progress
        self._on_point = on_point

    def point(self, point: TrainingPoint) -> None:
        """Take a point down."""
        self.points.append(point)
        self._on_point(point)

    def progress(self, progress: Progress) -> None:
        """Tell how far it is, with the latest loss and accuracy."""
        self._on_progress(replace(progress, note=_note(self.points[-1]) if self.points else progress.note))


def _note(point: TrainingPoint) -> str:
    loss = point.validation_loss if point.loss is None else point.loss
    parts = [] if loss is None else [f"loss {loss:.3f}"]
    if point.accuracy is not None:
        parts.append(f"accuracy {100 * point.accuracy:.1f} %")
    return ", ".join(parts)
