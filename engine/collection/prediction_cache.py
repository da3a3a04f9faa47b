"""Predictions of a large collection when it was closed, shown until they are computed again.

Classifying 2.5 million images takes ten seconds, during which the window would show none. The file
may be deleted at any time.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Flags, Integers
from engine.collection.image_list import ImageList
from engine.collection.predictions import Predictions
from engine.collection.state import NO_CLASS, Codes, CollectionState
from engine.graph.category_graph import CategoryGraph
from engine.mapped_cache import MappedCache

SUFFIX = ".predictions"
LIMIT_BYTES = 1 << 30  # of all collections; that of 2.5 million images takes 100 MB
_log = logging.getLogger(__name__)

Ids = NDArray[np.int64]
Contents = NDArray[np.uint64]


@final
class PredictionCache:
    """The predictions of one project and backbone."""

    def __init__(self, folder: Path, name: str) -> None:
        self._cache = MappedCache(folder, name, SUFFIX, LIMIT_BYTES)

    def read(self, images: ImageList, graph: CategoryGraph, project_id: str) -> Predictions | None:
        """Predictions (n,) of these images, without those of changed images and deleted classes.

        A class counts as deleted where its name differs: an older copy of a project that was put
        back gives its next class an id that is already used here.

        Returns:
            None where there is no file, or a damaged one, or one of another project.
        """
        found = self._cache.read()
        if found is None:
            return None
        arrays = dict(found.arrays)
        try:
            if str(arrays.pop("project_id")[0]) != project_id:
                return None
            class_ids, names = arrays.pop("class_ids").tolist(), arrays.pop("class_names").tolist()
            cached = _of_arrays(arrays, images.ids, images.content_codes)
        except (KeyError, ValueError, TypeError) as error:
            _log.info("cached predictions cannot be used: %s", error)
            return None
        return _within(graph, dict(zip(class_ids, names, strict=True)), cached)

    def write(
        self, state: CollectionState, contents: Contents, graph: CategoryGraph, project_id: str
    ) -> None:
        """Write the predictions of a state, whose images have these contents (n,).

        An error of the disk is only logged.
        """
        classes = np.unique([state.best_class, state.safe_class]).tolist()
        class_ids = [each for each in classes if each in graph]
        predictions = {name: getattr(state, name) for name in vars(Predictions.none(0))}
        self._cache.write(
            {
                **predictions,
                "image_ids": state.image_ids,
                "contents": contents,
                "project_id": np.array([project_id]),
                "class_ids": np.array(class_ids, dtype=np.int64),
                "class_names": np.array([graph.name(each) for each in class_ids], dtype=np.str_),
            }
        )


def _of_arrays(arrays: dict[str, NDArray[Any]], image_ids: Ids, contents: Contents) -> Predictions:
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


def _within(graph: CategoryGraph, names: Mapping[int, str], cached: Predictions) -> Predictions:
    gone_best, gone_safe = (
        _is_gone(graph, names, classes) for classes in (cached.best_class, cached.safe_class)
    )
    no_safe = gone_best | gone_safe | (cached.safe_class == NO_CLASS)
    return Predictions(
        np.where(gone_best, NO_CLASS, cached.best_class),
        np.where(gone_best, np.float32(0), cached.best_score),
        np.where(no_safe, NO_CLASS, cached.safe_class),
        np.where(no_safe, np.float32(0), cached.safe_score),
        cached.is_unknown & ~gone_best,
    )


def _is_gone(graph: CategoryGraph, names: Mapping[int, str], classes: Codes) -> Flags:
    """Which classes (n,) are not in the graph under the names that they had."""
    known = [
        NO_CLASS,
        *(each for each in names if each in graph and graph.name(each) == names[each]),
    ]
    return ~np.isin(classes, known)
