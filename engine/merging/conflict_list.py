"""CSV files of conflicts and of agreement."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from engine.collection.outputs import AGREEMENT, CONFLICTS, check_file
from engine.full_disk import writing
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.codes import NONE_OF_THEM, NOTHING_THERE
from engine.graph.names import SEPARATOR
from engine.interchange.labelled_images.table_rows import EMPTY_LABEL
from engine.interchange.predictions_file import UNKNOWN_NAME
from engine.interchange.table_writer import write_table
from engine.merging.agreement import AgreementTable, AnnotatorAgreement
from engine.merging.merge_plan import CommentConflict, Conflict, Side, Verdict
from engine.new_file import output_file, text_into
from engine.project import Project
from engine.project.records import Note
from engine.texts import marked

CONFLICT_COLUMNS = (
    "image",
    "ours",
    "our_annotator",
    "our_time",
    "theirs",
    "their_annotator",
    "their_time",
    "kind",
    "proposed",
)
_NAMES = {NONE_OF_THEM: UNKNOWN_NAME, NOTHING_THERE: EMPTY_LABEL}
COMMENT = "comment"  # kind of a conflict of comments
AGREEMENT_COLUMNS = (
    "compared",
    "ours",
    "theirs",
    "images",
    "equal",
    "observed",
    "kappa",
    "low",
    "high",
)


def write_conflicts(
    out: Path,
    conflicts: Iterable[Conflict],
    comments: Iterable[CommentConflict] = (),
    *,
    project: Project | None = None,
    is_overwriting: bool = False,
) -> None:
    """Write open conflicts as CSV, atomically.

    Classes are written as paths; "unknown" is none of the classes, "blank" an empty image.

    Raises:
        TakenError, InputError: see `check_file`.
        StorageError: the file cannot be written.
    """
    check_file(out, CONFLICTS, project=project, is_overwriting=is_overwriting)
    labels = (
        (
            each.path,
            *_side(each.ours),
            *_side(each.theirs),
            each.kind.value,
            _proposed(each.proposed),
        )
        for each in conflicts
    )
    notes = (
        (each.path, *_note(each.ours), *_note(each.theirs), COMMENT, _proposed(each.proposed))
        for each in comments
    )
    _write(out, CONFLICT_COLUMNS, chain(labels, notes), marked("the conflicts cannot be written"))


def write_agreement(
    out: Path, graph: CategoryGraph, table: AgreementTable, *, is_overwriting: bool = False
) -> None:
    """Write agreement as CSV: exact, on each level from 1, and the most frequent disagreements.

    Raises:
        TakenError, InputError: see `check_file`.
        StorageError: the file cannot be written.
    """
    check_file(out, AGREEMENT, is_overwriting=is_overwriting)
    _write(
        out, AGREEMENT_COLUMNS, agreement_rows(graph, table), marked("the table cannot be written")
    )


def agreement_rows(graph: CategoryGraph, table: AgreementTable) -> Iterator[tuple[str, ...]]:
    """Rows below `AGREEMENT_COLUMNS`."""
    yield "exact class", "", "", *_figures(table.exact)
    for level, agreement in enumerate(table.levels, start=1):
        yield f"level {level}", "", "", *_figures(agreement)
    for (ours, theirs), count in table.disagreed:
        yield "differing", _class(graph, ours), _class(graph, theirs), str(count), "0", *[""] * 4


def _figures(agreement: AnnotatorAgreement) -> tuple[str, ...]:
    shares = agreement.observed, agreement.kappa, agreement.low, agreement.high
    return (
        str(agreement.images),
        str(agreement.agreed),
        *("" if each is None else f"{each:.4f}" for each in shares),
    )


def _proposed(choice: Verdict | None) -> str:
    return "" if choice is None else choice.value


def _note(note: Note) -> tuple[str, str, str]:
    return note.comment, note.who, note.when.isoformat(timespec="seconds")


def _side(side: Side) -> tuple[str, str, str]:
    return _path(side.path), side.who, side.when.isoformat(timespec="seconds")


def _class(graph: CategoryGraph, class_id: ClassId | None) -> str:
    return _path(NONE_OF_THEM if class_id is None else graph.path_text(class_id))


def _path(path: str) -> str:
    """A label; a class that is itself named "unknown" is written as "/unknown"."""
    if path in _NAMES:
        return _NAMES[path]
    return SEPARATOR + path if path in _NAMES.values() else path


def _write(out: Path, columns: Sequence[str], rows: Iterable[Sequence[str]], failure: str) -> None:
    with (
        writing(out, failure, "choose another place"),
        output_file(out) as file,
        text_into(file, errors="surrogateescape") as text,
    ):
        write_table(text, columns, rows)
