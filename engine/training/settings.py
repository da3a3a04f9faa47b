"""Settings of end-to-end training, and range checks of settings."""

from dataclasses import dataclass
from typing import Literal

from engine.errors import InputError, UsageError

Precision = Literal["auto", "float32", "bfloat16"]
Augmentation = Literal["shifted crop", "resized crop", "none"]
PAPER_ITERATIONS = 150_000  # Paper, section 4: mini-batches of a training


@dataclass(frozen=True)
class TrainingSettings:
    """Optimiser, schedule and arithmetic; the defaults are the paper's."""

    iterations: int = PAPER_ITERATIONS  # mini-batches, one step of the optimiser each
    # Side of the trained images in pixels; 84 in the paper, 112 in the authors' code
    side: int = 84
    learning_rate: float = 1e-3  # of Adam at the start
    momentum: float = 0.9  # Adam's first decay rate
    weight_decay: float = 1e-4  # of Adam; 1e-5 in the authors' code
    rate_factor: float = 0.7  # factor of the learning rate at each decay
    # Share of the iterations before the first decay; 1/15 is the paper's 10,000 of 150,000
    first_decay_share: float = 10_000 / PAPER_ITERATIONS
    # Share of the iterations between two decays; 1/10 is the paper's 15,000 of 150,000
    decay_interval_share: float = 15_000 / PAPER_ITERATIONS
    # "shifted crop" (a random window and a flip), "resized crop" (a random window of 20 to 100% of
    # the area, as in the authors' code, and a flip), or "none" (the middle)
    augmentation: Augmentation = "shifted crop"
    # Of the backbone; "auto" takes bfloat16 where the processor has instructions for it
    precision: Precision = "auto"
    device: str = "auto"  # "auto", "cpu" or "cuda"
    compiles: bool = False  # whether the backbone goes through `torch.compile`
    checkpoint_interval: int = 500  # iterations between two checkpoints
    point_interval: int = 100  # iterations between two points of the curve
    seed: int = 0  # of the initial weights and of everything drawn

    def __post_init__(self) -> None:
        for name in ("iterations", "side", "checkpoint_interval", "point_interval"):
            if getattr(self, name) < 1:
                raise InputError(
                    "{name} is too small",
                    expected="at least 1",
                    found=str(getattr(self, name)),
                    name=name,
                )

    def learning_rate_at(self, iteration: int) -> float:
        """Learning rate of the step that follows `iteration` finished ones."""
        first = self.first_decay_share * self.iterations
        if iteration < first:
            return self.learning_rate
        decays = 1 + int(
            (iteration - first) / max(self.decay_interval_share * self.iterations, 1.0)
        )
        return float(self.learning_rate * self.rate_factor**decays)


def at_least(settings: object, **limits: int) -> None:
    """Refuse values below their limits; None is passed over.

    Raises:
        UsageError: a value is too small.
    """
    for name, least in limits.items():
        value = getattr(settings, name)
        if value is not None and value < least:
            raise UsageError(
                "the setting {name} is too small",
                expected="at least {least}",
                found=str(value),
                name=name,
                least=least,
            )


def between(settings: object, **ranges: tuple[float, float]) -> None:
    """Refuse values outside their ranges; None is passed over.

    Raises:
        UsageError: a value is outside.
    """
    for name, (low, high) in ranges.items():
        value = getattr(settings, name)
        if value is not None and not low <= value <= high:
            raise UsageError(
                "the setting {name} is out of range",
                expected="{low:g} to {high:g}",
                found=str(value),
                name=name,
                low=low,
                high=high,
            )
