"""How far a model's probabilities hold, by answers: its odds of being wrong as a multiple of what it says.

Of a class in review by group (decision 83), or of all sure predictions in an audit (decision 105).
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from engine.everyday.blocks import Floats
from engine.graph.codes import NO_CLASS

PRIOR_ERRORS: Final = (
    1.0  # what a model's own probabilities weigh against answers about a class, in errors
)
FADING_ODDS: Final = (
    0.99  # power of a class's error odds with each further answer: the model changes meanwhile
)


def error_odds_of(odds: Mapping[int, float], class_id: int) -> float:
    """Error odds of a class; those of all classes together where there was no answer about it."""
    return odds.get(class_id, odds.get(NO_CLASS, 1.0))


def corrected_odds(odds: float, expected: float, found: float) -> float:
    """Odds of errors as a multiple of the model's, after one more answer (the mean of a gamma distribution).

    Args:
        odds: before the answer.
        expected: errors by these odds.
        found: true errors.
    """
    return odds * (PRIOR_ERRORS + found) / (PRIOR_ERRORS + expected)


def with_error_odds(probability: Floats, odds: Floats | float) -> Floats:
    """Probabilities (n,) float32 of being right, whose odds of being wrong are so many times as large: (n,) or one."""
    right = np.clip(probability, 0, 1)
    return (right / np.maximum(right + odds * (1 - right), np.float32(1e-9))).astype(np.float32)
