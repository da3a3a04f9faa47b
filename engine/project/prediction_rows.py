"""Predictions' rows: a layer of their own that no label is ever made of and that never touches one."""

from collections.abc import Iterable

from engine.project.connection import Connection
from engine.project.records import Prediction


def replace_predictions(connection: Connection, rows: Iterable[Prediction], *, version_id: int, setting: str) -> None:
    """Store the predictions of one setting and model version in place of its earlier ones.

    Args:
        connection: the file.
        rows: at most one for each image.
        version_id: the model version that made them.
        setting: "ppn+", "ppn" or "prototypes".
    """
    values = [
        (
            setting,
            version_id,
            int(row.image_id),
            int(row.class_id),
            _probability(row.score),
            None if row.safe_class_id is None else int(row.safe_class_id),
            _probability(row.safe_score),
        )
        for row in rows
    ]
    with connection.transaction():
        connection.write("DELETE FROM prediction WHERE setting = ? AND version_id = ?", (setting, version_id))
        connection.write_many("INSERT INTO prediction VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def predictions(connection: Connection, *, version_id: int, setting: str) -> list[Prediction]:
    """Read the predictions of one setting and model version, for images and classes that are still there.

    A safe class that is gone reads as none.
    """
    rows = connection.rows(
        "SELECT image_id, prediction.class_id, score, safe.class_id, iif(safe.class_id IS NULL, 0.0, safe_score)"
        " FROM prediction JOIN image USING (image_id) JOIN class ON class.class_id = prediction.class_id"
        " LEFT JOIN class AS safe ON safe.class_id = safe_class_id"
        " WHERE setting = ? AND version_id = ? ORDER BY image_id",
        (setting, version_id),
    )
    return [Prediction(*row) for row in rows]


def _probability(score: float) -> float:
    """The score without what rounding adds beyond 0 and 1."""
    return min(max(float(score), 0.0), 1.0)
