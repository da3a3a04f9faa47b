"""When training the backbone is likely to help: one rule."""

from collections.abc import Sequence
from typing import Final

ENOUGH_SHOTS: Final = 2
"""Labelled images of a class from which on training the backbone helps. Measured: decision 47."""
ENOUGH_FOR_ACCURATE: Final = 5
"""The same where the bundled accurate backbone is in use as it ships. Measured: decision 47."""
MOST_CLASSES: Final = 0.5
"""Share of the labelled classes that must have so many."""
MORE_LABELS: Final = 1.5
"""How many times as many labels as the last training learned from make another one worth its time. Chosen."""


def is_likely_to_help(
    shots: Sequence[int], *, trained_on: int = 0, model_name: str = "", accuracy: float | None = None
) -> bool:
    """Whether training the backbone on these labels is likely to make predictions better.

    Args:
        shots: labelled images of each leaf class; classes without any count for nothing.
        trained_on: labelled images that the version in use was trained on, or that a training learned from in vain;
            0 where neither was.
        model_name: of the model in use. The bundled accurate backbone knows so much that few labels harm it.
        accuracy: of the model in use on labelled images held out, 0..1; None where nobody knows.
    """
    from engine.backbones.model_files import ACCURATE

    if accuracy is not None and accuracy >= 1:
        return False  # nothing is left to gain
    fewest = ENOUGH_FOR_ACCURATE if model_name == ACCURATE else ENOUGH_SHOTS
    labelled = [count for count in shots if count]
    able = sum(count >= fewest for count in labelled)
    enough = able >= 2 and able >= MOST_CLASSES * len(labelled)  # noqa: PLR2004 (there is something to tell apart)
    return enough and sum(labelled) >= MORE_LABELS * trained_on
