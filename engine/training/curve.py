"""A training's curve: what is known of it after some iterations. Plain data, without torch."""

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
