"""The program's own classification of new images, to compare exported models with."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from engine.collection.classify import Classified
from engine.embedding.views import mean_of_views, unit_length, views_of_side
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS
from engine.interchange.predictions_file import PredictedRow, write_predictions_file
from engine.runtime.backbone import BackboneSession


def write_program_s_answers(
    classified: Classified,
    graph: CategoryGraph,
    session: BackboneSession,
    images: Sequence[str],
    out: Path,
) -> None:
    """Classify image files one by one with a fitted model and write them as CSV.

    Args:
        classified: the collection with the fitted model.
        graph: its classes.
        session: its backbone.
        images: their paths, as in the table.
        out: the file.
    """
    card, fitted = classified.model.card, classified.fitted
    embeddings = []
    for image in images:
        data = Path(image).read_bytes()
        views = views_of_side(
            data, card.input_side, card.resize_share, 5 if classified.uses_views else 1
        )
        embedded = session.embed(views)
        embeddings.append(
            mean_of_views(embedded) if classified.uses_views else unit_length(embedded)
        )
    scores = fitted.classify_new(np.concatenate(embeddings))
    is_unknown = fitted.distance(scores) > classified.unknown_distance
    rows = [
        PredictedRow(
            image,
            int(fitted.candidate_ids[scores.best[row]]),
            float(scores.best_score[row]),
            None
            if is_unknown[row] or scores.safe_class[row] == NO_CLASS
            else int(scores.safe_class[row]),
            0.0 if is_unknown[row] else float(scores.safe_score[row]),
            bool(is_unknown[row]),
        )
        for row, image in enumerate(images)
    ]
    write_predictions_file(
        out, graph, rows, setting=fitted.setting.value, model=classified.model.name
    )


def rows_of_predictions(path: Path) -> list[dict[str, str]]:
    """The rows of a table of predictions."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def words_of(row: dict[str, str]) -> dict[str, str]:
    """Values that are not numbers."""
    return {key: text for key, text in row.items() if key not in {"score", "safe_score"}}


def largest_gap(found: Path, expected: Path) -> float:
    """Largest difference of a score between two tables of the same images in the same order."""
    pairs = zip(rows_of_predictions(found), rows_of_predictions(expected), strict=True)
    return max(
        abs(float(one[score]) - float(other[score]))
        for one, other in pairs
        for score in ("score", "safe_score")
    )
