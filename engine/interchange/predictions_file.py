"""Writer of the CSV file of predictions: UTF-8, safe in spreadsheets, readable as table of labels.

File names of invalid Unicode are written as their bytes (`surrogateescape`). "unknown" means that
an image shows none of the classes, and so does `is_unknown`. A class of that name has a path in the
column `path`, and in `safe_class` as an absolute path: "/Bird/unknown".

A score is a probability given that the image shows one of the classes. If `safe_class` is unknown,
class and score are of the most likely class regardless, and `safe_score` is 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.full_disk import writing
from engine.graph.category_graph import CategoryGraph
from engine.graph.names import SEPARATOR
from engine.interchange.table_writer import write_table
from engine.interchange.text_file import words
from engine.new_file import output_file, text_into

COLUMNS = words("image class path score safe_class safe_score setting model is_unknown")
LABELLED_BY = "labelled_by"
"""Additional column for labelled images: the annotator, empty for a prediction."""

UNKNOWN_NAME = "unknown"


@dataclass(frozen=True)
class PredictedRow:
    """A model's prediction for an image."""

    image: str  # its path
    class_id: int  # the most likely leaf
    score: float  # its probability
    safe_class_id: int | None  # None if not even a coarse class is certain enough
    safe_score: float  # its probability
    is_unknown: bool  # too far from every class


@dataclass(frozen=True)
class LabelledRow:
    """A label; `class_id` is None for none of the classes."""

    image: str
    class_id: int | None
    who: str


def write_predictions_file(
    out: Path,
    graph: CategoryGraph,
    rows: Iterable[PredictedRow | LabelledRow],
    *,
    setting: str,
    model: str,
    with_people: bool = False,
    is_plain: bool = False,
) -> None:
    """Write the rows as CSV, atomically.

    Args:
        out: the file.
        graph: the classes.
        rows: in order.
        setting, model: of the predictions; written into their rows.
        with_people: whether to add a column for the annotator.
        is_plain: whether to write names that a spreadsheet would run as formulas unchanged.

    Raises:
        StorageError: the file cannot be written.
    """
    header = (*COLUMNS, LABELLED_BY) if with_people else COLUMNS
    cells = _Cells(graph, setting, model)
    with (
        writing(out, "the predictions cannot be written", "choose another place"),
        output_file(out) as file,
        text_into(file, errors="surrogateescape") as text,
    ):
        write_table(text, header, (cells.of(row)[: len(header)] for row in rows), is_plain=is_plain)


class _Cells:
    """Makes the cells of rows; caches the names and paths of classes."""

    def __init__(self, graph: CategoryGraph, setting: str, model: str) -> None:
        self._made_by = setting, model
        self._names = cache(lambda class_id: (graph.name(class_id), graph.path_text(class_id)))

    def of(self, row: PredictedRow | LabelledRow) -> Sequence[str]:
        if isinstance(row, LabelledRow):
            if row.class_id is None:
                return row.image, UNKNOWN_NAME, "", "", UNKNOWN_NAME, "", "", "", "true", row.who
            # Labels are certain, so they are the safe class, too.
            safe = self._unmistakable(row.class_id)
            return row.image, *self._names(row.class_id), "", safe, "", "", "", "false", row.who
        safe = "" if row.safe_class_id is None else self._unmistakable(row.safe_class_id)
        safe = UNKNOWN_NAME if row.is_unknown else safe
        score, safe_score = f"{row.score:.6f}", f"{row.safe_score:.6f}"
        is_unknown = "true" if row.is_unknown else "false"
        return (
            row.image,
            *self._names(row.class_id),
            score,
            safe,
            safe_score,
            *self._made_by,
            is_unknown,
            "",
        )

    def _unmistakable(self, class_id: int) -> str:
        """The name, or the absolute path if the name is ambiguous."""
        name, path = self._names(class_id)
        return SEPARATOR + path if name == UNKNOWN_NAME else name
