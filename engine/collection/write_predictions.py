"""Write a project's predictions into a file, and keep them in the project."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from engine.collection.classify import Classified, predictions
from engine.collection.outputs.own_outputs import PREDICTIONS
from engine.collection.outputs.targets import check_file
from engine.interchange.predictions_file import LabelledRow, PredictedRow, write_predictions_file
from engine.project import Prediction, Project

_Row = tuple[int, PredictedRow | LabelledRow]
"""Image id and row."""


@dataclass(frozen=True)
class WrittenRows:
    """How many rows of each kind are in the file."""

    predictions: int
    labels: int = 0


def write_predictions(
    project: Project,
    classified: Classified,
    out: Path,
    *,
    include_labelled: bool = False,
    is_plain: bool = False,
    is_overwriting: bool = False,
) -> WrittenRows:
    """Write the predictions as CSV, whole or not at all, and keep them in the project where it may be written to.

    Args:
        project: may be open for reading only.
        include_labelled: write labelled images as well: their class is the person's, who is in a column of their own,
            and what only a model has (score, setting, model) stays empty.
        is_plain: write names as they are, also those that a spreadsheet would run as formulas.
        is_overwriting: replace a file that is no earlier output of predictions, too.

    Raises:
        TakenError: such a file is there, and nobody asked to replace it.
        InputError: the file is the project itself or one of its images.
        StorageError: the file cannot be written.
    """
    check_file(out, PREDICTIONS, project=project, is_overwriting=is_overwriting)
    found, setting = list(predictions(classified)), classified.fitted.setting.value
    if project.is_writable:
        version_id = project.models.current.version_id
        project.models.store_predictions((one for _, one in found), version_id=version_id, setting=setting)
    labelled = list(_labelled(project)) if include_labelled else []
    rows = heapq.merge(_predicted(classified, found), labelled, key=itemgetter(0))
    write_predictions_file(
        out, project.classes.graph, (row for _, row in rows), setting=setting, model=classified.model.name,
        with_people=include_labelled, is_plain=is_plain,
    )  # fmt: skip
    return WrittenRows(len(found), len(labelled))


def _predicted(classified: Classified, found: Sequence[tuple[str, Prediction]]) -> Iterator[_Row]:
    is_unknown = dict(zip(classified.image_ids.tolist(), classified.fitted.is_unknown(classified.scores), strict=True))
    for path, one in found:
        yield (
            one.image_id,
            PredictedRow(
                path, one.class_id, one.score, one.safe_class_id, one.safe_score, bool(is_unknown[one.image_id])
            ),
        )


def _labelled(project: Project) -> Iterator[_Row]:
    labels = project.labels.by_image()
    for image_id, path in project.images.each_path():
        if (label := labels.get(image_id)) is not None:
            yield image_id, LabelledRow(path, label.class_id, label.who)
