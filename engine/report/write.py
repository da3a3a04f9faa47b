"""Writes a report as a file of the kind that its name says, whole or not at all."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from engine.collection.outputs import REPORT_KINDS, check_file
from engine.errors import UsageError
from engine.events import CancelToken
from engine.full_disk import writing
from engine.new_file import output_file
from engine.project import Project
from engine.report.document import Document
from engine.texts import enumerated

SUFFIXES: Final = tuple(REPORT_KINDS)


def check_target(out: Path, project: Project, *, is_overwriting: bool = False) -> None:
    """Refuse a place that no report may be written to; see `check_file`.

    Raises:
        UsageError: the name says no kind of report.
        TakenError: a file that is no report is there.
        InputError: it is the project, or one of its images.
    """
    check_file(out, kind_of(out), project=project, is_overwriting=is_overwriting)


def kind_of(out: Path) -> str:
    """The kind of output that a name says.

    Raises:
        UsageError: it says none.
    """
    kind = REPORT_KINDS.get(out.suffix.lower())
    if kind is None:
        raise UsageError(
            "the name of the report does not say what it is to be",
            expected=enumerated(SUFFIXES),
            found=out.name,
            remedy="end the name with .html, .pdf, .csv or .zip",
        )
    return kind


def write_report(document: Document, out: Path, cancel: CancelToken | None = None) -> None:
    """Write a document as HTML, PDF, one CSV of values (.csv), or an archive with a CSV for each table (.zip).

    Raises:
        UsageError: the name says none of these.
        StorageError: the file cannot be written.
        Cancelled: `cancel` was set; nothing is left.
    """
    write = _WRITERS[kind_of(out)]
    with (
        writing(out, "the report cannot be written", "choose another place"),
        output_file(out) as file,
    ):
        write(document, file, cancel)
        if cancel is not None:
            cancel.raise_if_cancelled()


def _html(document: Document, file: BinaryIO, cancel: CancelToken | None) -> None:
    from engine.report.html import html_of

    for part in html_of(document):
        if cancel is not None:
            cancel.raise_if_cancelled()
        file.write(part.encode("utf-8", "replace"))


def _pdf(document: Document, file: BinaryIO, cancel: CancelToken | None) -> None:
    from engine.report.pdf.pages import write_pdf

    write_pdf(document, file, cancel)


def _values(document: Document, file: BinaryIO, _cancel: CancelToken | None) -> None:
    from engine.report.tables_csv import write_values

    write_values(document, file)


def _archive(document: Document, file: BinaryIO, _cancel: CancelToken | None) -> None:
    from engine.report.tables_csv import write_archive

    write_archive(document, file)


_WRITERS: Final[Mapping[str, Callable[[Document, BinaryIO, CancelToken | None], None]]] = {
    "report-html": _html, "report-pdf": _pdf, "report-csv": _values, "report-zip": _archive,
}  # fmt: skip
