"""From what `classifier.onnx` gives to classes: the same for one image and for a whole data set."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.bundle.classes_file import ExportedClasses
from engine.everyday.classifier import COARSE, DISTANCE, PROBABILITIES
from engine.graph.codes import NO_CLASS


@dataclass(frozen=True)
class BatchAnswers:
    """Answers for n images."""

    class_ids: NDArray[np.int64]  # (n,) the most probable class to choose among
    scores: NDArray[np.float32]  # (n,) its probability
    safe_ids: NDArray[
        np.int64
    ]  # (n,) `NO_CLASS` where none is sure enough, or the image is unknown
    safe_scores: NDArray[np.float32]  # (n,) 0 where there is none
    is_unknown: NDArray[
        np.bool_
    ]  # (n,) farther from every prototype than images of known classes are


def answers_of(contents: ExportedClasses, found: Mapping[str, NDArray[np.float32]]) -> BatchAnswers:
    """Read the outputs of `classifier.onnx`, by name, for a batch of images."""
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
