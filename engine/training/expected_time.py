"""How long a training takes, as it is told before it begins. Plain data, without torch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingDuration:
    """How long training a backbone takes.

    Attributes:
        iteration_s: each iteration.
        others_s: all else: reading images, looking how it goes, saving, and measuring the result.
    """

    iteration_s: float
    others_s: float

    def seconds(self, iterations: int) -> float:
        """Of a training of so many iterations."""
        return self.others_s + iterations * self.iteration_s
