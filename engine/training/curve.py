"""A training's curve: what is known of it after some iterations. Plain data, without torch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingPoint:
    """How training did at one iteration.

    Attributes:
        iteration: finished iterations.
        loss: mean training loss since the point before; None at the start.
        validation_loss: mean loss on held-out queries; None where it is not measured.
        accuracy: share of held-out queries that were right, 0..1; None where it is not measured.
    """

    iteration: int
    loss: float | None = None
    validation_loss: float | None = None
    accuracy: float | None = None

    @property
    def measured_loss(self) -> float:
        """The validation loss of a training that measures it at every point."""
        assert self.validation_loss is not None, "this training measures it"
        return self.validation_loss
