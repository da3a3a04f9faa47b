"""How long a training takes, as it is told before it begins. Plain data, without torch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingDuration:
    """How long training a backbone takes."""

    iteration_s: float  # each iteration
    others_s: float  # all else: reading images, looking how it goes, saving, and measuring the result

    def seconds(self, iterations: int) -> float:
        """Of a training of so many iterations."""
        return self.others_s + iterations * self.iteration_s
