"""The CSV file of predictions: always UTF-8, safe to open in a spreadsheet, and read back by `evaluate --truth`.

A file name that is no valid Unicode stands there as the bytes it has, which is what the error handler `surrogateescape`
reads back. The word "unknown" means that an image shows none of the classes. A class of that name has a path in the
column `path`, where the outcome has none, and stands in `safe_class` as a path from the top: "/Bird/unknown".

A score is a probability given that the image shows one of the classes. Where `safe_class` is the outcome unknown, class
and score say only which class it would be if it were one of them, and `safe_score` is 0.
"""

import csv
import heapq
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Final

from engine.collection.classify import Classified, predictions
from engine.errors import InputError
from engine.full_disk import writing
from engine.graph.category_graph import CategoryGraph
from engine.graph.names import SEPARATOR
from engine.interchange.spreadsheet_cells import guarded, storable
from engine.new_file import output_file, text_into
from engine.project import Prediction, Project

COLUMNS: Final = ("image", "class", "path", "score", "safe_class", "safe_score", "setting", "model")
LABELLED_BY: Final = "labelled_by"
"""Further column where labelled images are written too: the person who said so, empty for a prediction."""

UNKNOWN_NAME: Final = "unknown"

_Row = tuple[int, Sequence[str]]
"""Image id, and the row's cells."""


@dataclass(frozen=True)
class WrittenRows:
    """How many rows of each kind are in the file."""

    predictions: int
    labels: int = 0


def write_predictions(
    project: Project, classified: Classified, out: Path, *, include_labelled: bool = False, is_plain: bool = False
) -> WrittenRows:
    """Write the predictions as CSV, whole or not at all, and keep them in the project where it may be written to.

    Args:
        project: may be open for reading only.
        classified: the predictions.
        out: the file.
        include_labelled: write labelled images as well: their class is the person's, who is in a column of their own,
            and what only a model has (score, setting, model) stays empty.
        is_plain: write names as they are, also those that a spreadsheet would run as formulas.

    Raises:
        InputError: the file is the project itself or one of its images.
        StorageError: the file cannot be written.
    """
    _check_target(project, out)
    found = list(predictions(classified))
    if project.is_writable:
        project.store_predictions(
            (prediction for _, prediction in found),
            version_id=project.model.version_id,
            setting=classified.fitted.setting.value,
        )
    names = _ClassNames(project.graph)
    labelled = list(_label_rows(project, names)) if include_labelled else []
    rows = heapq.merge(_prediction_rows(classified, found, names), labelled, key=itemgetter(0))
    header = (*COLUMNS, LABELLED_BY) if include_labelled else COLUMNS
    cell = storable if is_plain else lambda text: guarded(storable(text))
    _write_whole(out, chain([header], (tuple(map(cell, cells[: len(header)])) for _, cells in rows)))
    return WrittenRows(len(found), len(labelled))


def _check_target(project: Project, out: Path) -> None:
    """Refuse to put the table in the place of what it is about."""
    is_project = False
    with suppress(OSError):  # writing it will say what is wrong
        is_project = out.samefile(project.path)
    if is_project or project.find_image(out) is not None:
        raise InputError(
            "the predictions would overwrite " + ("the project" if is_project else "an image of the project"),
            found=str(out),
            remedy="choose another file",
        )


class _ClassNames:
    """Names and paths of classes as the table writes them; each is made once."""

    def __init__(self, graph: CategoryGraph) -> None:
        self._graph = graph
        self._known: dict[int, tuple[str, str]] = {}

    def name_and_path(self, class_id: int) -> tuple[str, str]:
        """What stands in the columns `class` and `path`."""
        if class_id not in self._known:
            self._known[class_id] = self._graph.name(class_id), self._graph.path_text(class_id)
        return self._known[class_id]

    def unmistakable(self, class_id: int) -> str:
        """The name; from the top down where the name alone would say something else."""
        name, path = self.name_and_path(class_id)
        return SEPARATOR + path if name == UNKNOWN_NAME else name


def _prediction_rows(
    classified: Classified, found: Sequence[tuple[str, Prediction]], names: _ClassNames
) -> Iterator[_Row]:
    setting, model = classified.fitted.setting.value, classified.model.name
    is_unknown = dict(zip(classified.image_ids.tolist(), classified.fitted.is_unknown(classified.scores), strict=True))
    for path, prediction in found:
        safe = "" if prediction.safe_class_id is None else names.unmistakable(prediction.safe_class_id)
        safe = UNKNOWN_NAME if is_unknown[prediction.image_id] else safe
        name, class_path = names.name_and_path(prediction.class_id)
        score, safe_score = f"{prediction.score:.6f}", f"{prediction.safe_score:.6f}"
        yield prediction.image_id, (path, name, class_path, score, safe, safe_score, setting, model, "")


def _label_rows(project: Project, names: _ClassNames) -> Iterator[_Row]:
    """What people said. It is sure, so it is the safe class as well."""
    labels = project.labels()
    for image_id, path in project.each_image_path():
        if (label := labels.get(image_id)) is None:
            continue
        if label.class_id is None:
            said, safe = (UNKNOWN_NAME, ""), UNKNOWN_NAME
        else:
            said, safe = names.name_and_path(label.class_id), names.unmistakable(label.class_id)
        yield image_id, (path, *said, "", safe, "", "", "", label.who)


def _write_whole(out: Path, rows: Iterator[Sequence[object]]) -> None:
    with (
        writing(out, "the predictions cannot be written", "choose another place"),
        output_file(out) as file,
        text_into(file, errors="surrogateescape") as text,
    ):
        csv.writer(text).writerows(rows)
