"""What a training tells: its curve on the way, and how long it takes before it begins. Plain data, without torch."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingPoint:
    """How training did at one iteration."""

    iteration: int  # finished iterations
    loss: float | None = None  # mean training loss since the point before; None at the start
    validation_loss: float | None = None  # mean loss on held-out queries; None where it is not measured
    accuracy: float | None = None  # share of held-out queries that were right, 0..1; None where it is not measured

    @property
    def measured_loss(self) -> float:
        """The validation loss of a training that measures it at every point."""
        assert self.validation_loss is not None, "this training measures it"
        return self.validation_loss


OnPoint = Callable[[TrainingPoint], None]


def ignore_point(_point: TrainingPoint) -> None:
    """Be the listener of callers that draw no curve."""


@dataclass(frozen=True)
class TrainingDuration:
    """How long training a backbone takes."""

    iteration_s: float  # each iteration
    others_s: float  # all else: reading images, looking how it goes, saving, and measuring the result

    def seconds(self, iterations: int) -> float:
        return self.others_s + iterations * self.iteration_s
