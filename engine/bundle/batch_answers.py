"""Predictions from the outputs of `classifier.onnx`, for an image or a data set."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.bundle.classes_file import ExportedClasses
from engine.everyday.classifier import COARSE, DISTANCE, PROBABILITIES
from engine.graph.codes import NO_CLASS


@dataclass(frozen=True)
class BatchAnswers:
    """Predictions for n images."""

    class_ids: Integers  # (n,) the most probable candidate
    scores: Floats  # (n,) its probability
    safe_ids: Integers  # (n,) `NO_CLASS` without a safe class, or if unknown
    safe_scores: Floats  # (n,) 0 without a safe class
    is_unknown: Flags  # (n,) out-of-distribution


def answers_of(contents: ExportedClasses, found: Mapping[str, Floats]) -> BatchAnswers:
    """Predictions from the outputs of `classifier.onnx`, by name, for a batch."""
    rules, probabilities = contents.back_off, found[PROBABILITIES]
    best, scores = probabilities.argmax(axis=1), probabilities.max(axis=1)
    coarse = found.get(COARSE, np.zeros((len(best), 0), dtype=np.float32))
    safe, safe_scores = rules.decide(best, scores, coarse)
    is_unknown = found[DISTANCE] > contents.unknown_distance
    is_safe = (safe != NO_CLASS) & ~is_unknown
    return BatchAnswers(
        rules.candidate_ids[best],
        scores,
        np.where(is_safe, safe, NO_CLASS),
        np.where(is_safe, safe_scores, np.float32(0)),
        is_unknown,
    )
