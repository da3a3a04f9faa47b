"""Predictions of all images of a collection, also stored for its next opening."""

import logging
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.collection.image_list import ImageList
from engine.collection.state import NO_CLASS, Codes, CollectionState
from engine.everyday.blocks import Flags, Floats, Integers
from engine.everyday.classifier import FittedClassifier
from engine.everyday.scores import Scores
from engine.graph.category_graph import CategoryGraph
from engine.kept_files import KeptFiles


@dataclass(frozen=True)
class Predictions:
    """Predictions (n,) as in `CollectionState`, without classes removed since the fit."""

    best_class: Codes
    best_score: Floats
    safe_class: Codes
    safe_score: Floats
    is_unknown: Flags

    @staticmethod
    def none(count: int) -> "Predictions":
        classes, scores = (
            np.full(count, NO_CLASS, dtype=np.int32),
            np.zeros(count, dtype=np.float32),
        )
        return Predictions(classes, scores, classes, scores, np.zeros(count, dtype=bool))

    def copy(self) -> "Predictions":
        return Predictions(*(column.copy() for column in vars(self).values()))

    def put(self, places: Integers, part: "Predictions") -> None:
        """Write the predictions of images at k places."""
        for name, column in vars(self).items():
            column[places] = getattr(part, name)

    @staticmethod
    def of(
        fitted: FittedClassifier,
        scores: Scores,
        has_scores: Flags,
        graph: CategoryGraph,
    ) -> "Predictions":
        """Convert scores (n,), of which only those with `has_scores` (n,) are valid."""
        candidates = _those_in(graph, fitted.candidate_ids)
        if not has_scores.any() or len(candidates) == 0:
            return Predictions.none(len(has_scores))
        best = np.where(has_scores, candidates[np.where(has_scores, scores.best, 0)], NO_CLASS)
        has_best = best != NO_CLASS
        is_unknown = has_best & fitted.is_unknown(scores)
        safe = np.where(has_best & ~is_unknown, scores.safe_class, NO_CLASS)
        gone = np.setdiff1d(
            fitted.back_off.coarse_ids, _those_in(graph, fitted.back_off.coarse_ids)
        )
        if len(gone):
            safe[np.isin(safe, gone)] = NO_CLASS
        return Predictions(
            best,
            np.where(has_best, scores.best_score, 0).astype(np.float32),
            safe,
            np.where(safe != NO_CLASS, scores.safe_score, 0).astype(np.float32),
            is_unknown,
        )


def _those_in(graph: CategoryGraph, class_ids: Integers) -> Codes:
    """Class ids (c,), `NO_CLASS` for removed classes."""
    return np.array([i if i in graph else NO_CLASS for i in class_ids.tolist()], dtype=np.int32)


SUFFIX: Final = ".predictions"  # of files of predictions
MOST_BYTES: Final = 1 << 30  # of all collections; 2.5 million images take 100 MB
_DAMAGE: Final = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    TypeError,
    RuntimeError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)
_log = logging.getLogger(__name__)

Contents = NDArray[np.uint64]


@final
class StoredPredictions:
    """File of predictions of a large collection, shown until it is classified again.

    Classifying 2.5 million images takes ten seconds. May be deleted at any time.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._files = KeptFiles(folder, name, SUFFIX, MOST_BYTES)

    def read(self, images: ImageList, graph: CategoryGraph, project_id: str) -> Predictions | None:
        """Predictions (n,) of images; none for a changed content or class.

        A class must have the same id and name: an older copy of a project may reuse an id.

        Returns:
            None for a missing, damaged or foreign file.
        """
        path = self._files.newest()
        if path is None:
            return None
        try:
            with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            if str(arrays.pop("project_id")) != project_id:
                return None
            class_ids, names = arrays.pop("class_ids").tolist(), arrays.pop("class_names").tolist()
            kept = _of_arrays(arrays, images.ids, images.content_codes)
        except _DAMAGE as error:
            _log.info("kept predictions cannot be used: %s", error)
            return None
        return _within(graph, dict(zip(class_ids, names, strict=False)), kept)

    def write(
        self, state: CollectionState, contents: Contents, graph: CategoryGraph, project_id: str
    ) -> None:
        """Write the predictions of a state, whose images have these contents (n,).

        Atomic; errors of the disk are only logged.
        """
        columns = {name: getattr(state, name) for name in vars(Predictions.none(0))}
        class_ids = [
            each
            for each in np.unique([state.best_class, state.safe_class]).tolist()
            if each in graph
        ]
        columns |= {
            "image_ids": state.image_ids,
            "contents": contents,
            "project_id": np.array(project_id),
        }
        columns |= {
            "class_ids": np.array(class_ids),
            "class_names": np.array([graph.name(i) for i in class_ids]),
        }
        size_bytes = sum(column.nbytes for column in columns.values())
        self._files.write(size_bytes, lambda file: np.savez(file, allow_pickle=False, **columns))


def _of_arrays(
    arrays: dict[str, NDArray[np.generic]], image_ids: Integers, contents: Contents
) -> Predictions:
    known_ids, known_contents = (
        arrays.pop("image_ids").astype(np.int64),
        arrays.pop("contents").astype(np.uint64),
    )
    kinds = {name: array.dtype for name, array in vars(Predictions.none(0)).items()}
    columns = {name: arrays[name].astype(kind, casting="safe") for name, kind in kinds.items()}
    if (
        len({len(known_ids), len(known_contents), *map(len, columns.values())}) != 1
        or len(known_ids) == 0
    ):
        raise ValueError("its columns are of different lengths, or empty")
    place: Integers | slice = slice(None)
    if not np.array_equal(known_ids, image_ids):  # as they nearly always are
        place = np.minimum(np.searchsorted(known_ids, image_ids), len(known_ids) - 1)
    is_same = (known_ids[place] == image_ids) & (known_contents[place] == contents) & (contents > 0)
    nothing = Predictions.none(len(image_ids))
    return Predictions(
        *(
            np.where(is_same, columns[name][place], getattr(nothing, name)).astype(
                kinds[name], copy=False
            )
            for name in kinds
        )
    )


def _within(graph: CategoryGraph, names: Mapping[int, str], kept: Predictions) -> Predictions:
    gone_best, gone_safe = (
        _is_gone(graph, names, classes) for classes in (kept.best_class, kept.safe_class)
    )
    no_safe = gone_best | gone_safe | (kept.safe_class == NO_CLASS)
    return Predictions(
        np.where(gone_best, NO_CLASS, kept.best_class),
        np.where(gone_best, np.float32(0), kept.best_score),
        np.where(no_safe, NO_CLASS, kept.safe_class),
        np.where(no_safe, np.float32(0), kept.safe_score),
        kept.is_unknown & ~gone_best,
    )


def _is_gone(graph: CategoryGraph, names: Mapping[int, str], classes: Codes) -> Flags:
    """(n,) whether classes are not in the graph with their names."""
    known = [
        NO_CLASS,
        *(each for each in names if each in graph and graph.name(each) == names[each]),
    ]
    return ~np.isin(classes, known)
