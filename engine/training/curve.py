"""Progress of a training: curve, estimated duration, and the checkpoint's iteration. No torch."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.files import open_regular

CHECKPOINT_NAME = "checkpoint.safetensors"
_LENGTH_BYTES = 8  # at the start of a safetensors file: how long its head is
_LONGEST_HEAD = 10_000_000  # Bytes; a head of ours has some thousands


@dataclass(frozen=True)
class TrainingPoint:
    """Losses and accuracy at one iteration."""

    iteration: int  # finished iterations
    loss: float | None = None  # mean training loss since the point before; None at the start
    # Mean loss on held-out queries; None where it is not measured
    validation_loss: float | None = None
    # Share of held-out queries that were right, 0..1; None where it is not measured
    accuracy: float | None = None

    @property
    def measured_loss(self) -> float:
        """The validation loss of a training that measures it at every point."""
        assert self.validation_loss is not None, "this training measures it"
        return self.validation_loss


OnPoint = Callable[[TrainingPoint], None]


def ignore_point(_point: TrainingPoint) -> None:
    """The listener of callers that draw no curve."""


@dataclass(frozen=True)
class TrainingDuration:
    """How long training a backbone takes."""

    iteration_s: float  # each iteration
    # All else: reading images, looking how it goes, saving, and measuring the result
    others_s: float

    def seconds(self, iterations: int) -> float:
        return self.others_s + iterations * self.iteration_s


def kept_iteration(path: Path) -> int:
    """Finished iterations of a checkpoint.

    Raises:
        OSError: there is none, or it cannot be read.
        ValueError: it is not ours.
    """
    with open_regular(path) as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        if length > _LONGEST_HEAD:
            raise ValueError(f"a head of {length} bytes")
        head: dict[str, Any] = json.loads(file.read(length))
    try:
        return int(head["__metadata__"]["iteration"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"no iteration: {error}") from error
