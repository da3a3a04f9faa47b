"""Evaluation of predictions by ground truth: leaf, levels and calibration."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from engine.arrays import Flags, Integers
from engine.collection.classify import Classified
from engine.collection.folding.partitions import ALONE
from engine.collection.state import NO_CLASS
from engine.errors import InputError
from engine.evaluation.judged import RIGHT, Judge
from engine.evaluation.truth_file import image_keys, spellings
from engine.everyday.blocks import BLOCK_ROWS
from engine.everyday.scores import calibration_error
from engine.graph.category_graph import CategoryGraph
from engine.interchange.table_writer import storable
from engine.project import Project
from engine.texts import enumerated

MOST_SHOWN = 3


@dataclass(frozen=True)
class Evaluation:
    """Figures over n unlabelled images with ground truth and a prediction."""

    setting: str  # "ppn+", "ppn" or "prototypes"
    images: int  # n
    top1: float  # accuracy of the best leaf
    top5: float  # share whose class is among the five best leaves
    levels: tuple[float, ...]  # accuracy by summed score at each level, 0 is the coarsest
    calibration_error: float  # expected calibration error of the best leaf's score (15 bins)
    coverage: float  # share with a safe class
    safe_accuracy: float  # accuracy of safe classes; NaN without any
    safe_at_leaf: float  # share whose safe class is a leaf
    unknown: float  # share predicted as unknown
    shrinkage: float  # chosen value; 0 means lambda 1
    not_found: int  # rows of the truth file without an embedded image
    has_collection: bool = (
        False  # the model also learned from unlabelled and coarse-labelled images
    )
    twins: int = 0  # images that are a near-duplicate, or of the burst, of a labelled image
    top1_without_twins: float = math.nan  # `top1` of the others; NaN without any


def evaluate(project: Project, classified: Classified, truth: Mapping[str, int]) -> Evaluation:
    """Evaluate the predictions of unlabelled images.

    The ground truth names images by their path in the project, any suffix of it, or an absolute
    path.

    Raises:
        InputError: see `match_truth`.
    """
    rows, answers, not_found = match_truth(project.path.parent, classified, truth)
    return _figures(project.classes.graph, classified, rows, answers, not_found)


def match_truth(
    project_folder: Path, classified: Classified, truth: Mapping[str, int]
) -> tuple[Integers, Integers, int]:
    """Rows of the predictions with ground truth, their classes, and the number of unmatched names.

    Labelled images are left out.

    Raises:
        InputError: a name fits several images, two names of one image have different classes, or
            no image has a prediction.
    """
    folder = storable(project_folder.as_posix())
    keys = image_keys(truth)
    meant_by: defaultdict[str, list[str]] = defaultdict(list)  # names by each of their spellings
    for name in truth:
        for spelled in dict.fromkeys(spellings(name)):
            meant_by[spelled].append(name)
    depth = max((name.count("/") for name in keys), default=0) + 1
    claims: dict[str, list[int]] = {}
    also: list[tuple[str, str]] = []  # two names of one image, the better match first
    for row, path in enumerate(classified.paths):
        found = [spelled for spelled in _names(storable(path), folder, depth) if spelled in keys]
        if found:
            name = keys[found[0]]
            claims.setdefault(name, []).append(row)
            also += [(name, other) for spelled in found for other in meant_by[spelled]]
    _refuse_contradictions(truth, [pair for pair in also if pair[1] not in claims])
    rows, answers = [], []
    for name, claimed in claims.items():
        meant = _only_unlabelled(classified, name, claimed, folder)
        if meant is not None:
            rows.append(meant)
            answers.append(truth[name])
    if not rows:
        raise InputError(
            "no image of the truth file has a prediction",
            expected="paths as in the project, or ends of them",
            found="{labels} rows, none matching an embedded image without a person's label",
            labels=len(truth),
        )
    return (
        np.array(rows, dtype=np.int64),
        np.array(answers, dtype=np.int64),
        len(truth.keys() - claims.keys()),
    )


def _refuse_contradictions(
    truth: Mapping[str, int], names_of_one: Sequence[tuple[str, str]]
) -> None:
    for name, other in names_of_one:
        if truth[name] != truth[other]:
            raise InputError(
                "the truth file names two classes for one image",
                expected="one class for each image",
                found="“{name}” and “{other}”",
                remedy="delete the line that is wrong, or write more of the path",
                name=name,
                other=other,
            )


def _only_unlabelled(
    classified: Classified, name: str, claimed: Sequence[int], folder: str
) -> int | None:
    """The unlabelled image of a name, or None; whole paths and exact spellings win."""
    paths = classified.paths
    at = {
        spelled: row
        for row in claimed
        for path in [storable(paths[row])]
        for spelled in (path, f"{folder}/{path}")
    }
    whole = [at[spelled] for spelled in spellings(name) if spelled in at][:1]
    free = [row for row in whole or claimed if classified.labels[row] == NO_CLASS]
    if len(free) > 1:
        raise InputError(
            "“{name}” in the truth file fits {free} images",
            found=enumerated(paths[row] for row in free[:MOST_SHOWN]),
            remedy="write more of the path",
            name=name,
            free=len(free),
        )
    return free[0] if free else None


def _names(path: str, folder: str, depth: int) -> list[str]:
    """Names of an image: its path, its absolute path, and every suffix, longest first."""
    parts = PurePosixPath(path).parts
    ends = ["/".join(parts[start:]) for start in range(max(0, len(parts) - depth), len(parts))]
    return [path, f"{folder}/{path}", *ends]


def _figures(
    graph: CategoryGraph,
    classified: Classified,
    rows: Integers,
    answers: Integers,
    not_found: int,
) -> Evaluation:
    fitted, scores = classified.fitted, classified.scores
    parts = [rows[start : start + BLOCK_ROWS] for start in range(0, len(rows), BLOCK_ROWS)]
    chances = np.concatenate([classified.probabilities(part) for part in parts])
    candidate_ids = fitted.candidate_ids
    known, is_twin = answers != NO_CLASS, _is_twin(classified, rows)
    is_right = candidate_ids[scores.best[rows]] == answers
    is_unknown = fitted.is_unknown(scores)[rows]
    safe = np.where(is_unknown, NO_CLASS, scores.safe_class[rows])
    has_safe = safe != NO_CLASS
    judge = Judge(graph, fitted)
    safe_right = judge.verdicts(safe, answers) == RIGHT
    levels = judge.levels(chances[known], answers[known]) == RIGHT
    return Evaluation(
        setting=fitted.setting.value,
        images=len(rows),
        top1=_share(is_right[known]),
        top5=_share(judge.in_top(chances, answers)[known] == RIGHT),
        levels=tuple(map(_share, levels.T)),
        calibration_error=calibration_error(scores.best_score[rows][known], is_right[known]),
        coverage=_share(has_safe),
        safe_accuracy=_share(safe_right[has_safe]),
        safe_at_leaf=_share(np.isin(safe, candidate_ids)),
        unknown=_share(is_unknown),
        shrinkage=fitted.figures.shrinkage,
        not_found=not_found,
        has_collection=fitted.figures.uses_collection,
        twins=int(np.count_nonzero(is_twin)),
        top1_without_twins=_share(is_right[known & ~is_twin]),
    )


def _is_twin(classified: Classified, rows: Integers) -> Flags:
    """(k,) whether a near-duplicate of the image was in the training data (leakage)."""
    folds = classified.folds.held_together(classified.image_ids[rows])
    learned = classified.folds.held_together(classified.fitted.shots.image_ids)
    return (folds != ALONE) & np.isin(folds, learned)


def _share(flags: Flags) -> float:
    return float(flags.mean()) if len(flags) else math.nan
