"""Writes a report as a file of the format that its name says, atomically."""

from pathlib import Path

from engine.collection.outputs import REPORT_KINDS, check_file
from engine.errors import UsageError
from engine.events import CancelToken
from engine.full_disk import writing
from engine.new_file import output_file
from engine.project import Project
from engine.report.document import Document
from engine.texts import enumerated

SUFFIXES = tuple(REPORT_KINDS)


def check_target(out: Path, project: Project, *, is_overwriting: bool = False) -> None:
    """Refuse a path that no report may be written to; see `check_file`.

    Raises:
        UsageError: the suffix is not a report's.
        TakenError: another kind of file is there.
        InputError: it is the project, or one of its images.
    """
    check_file(out, kind_of(out), project=project, is_overwriting=is_overwriting)


def kind_of(out: Path) -> str:
    """The kind of output by the suffix of a name.

    Raises:
        UsageError: the suffix is not a report's.
    """
    kind = REPORT_KINDS.get(out.suffix.lower())
    if kind is None:
        raise UsageError(
            "the name of the report has no known suffix",
            expected=enumerated(SUFFIXES),
            found=out.name,
            remedy="end the name with .html, .pdf, .csv or .zip",
        )
    return kind


def write_report(document: Document, out: Path, cancel: CancelToken | None = None) -> None:
    """Write a document as HTML, PDF, one CSV of values (.csv), or a CSV for each table (.zip).

    Raises:
        UsageError: the suffix is not one of these.
        StorageError: the file cannot be written.
        Cancelled: `cancel` was set; nothing is left.
    """
    from engine.report.html import html_of
    from engine.report.pdf.pages import write_pdf
    from engine.report.tables_csv import write_archive, write_values

    kind = kind_of(out)
    cancel = cancel or CancelToken()
    with (
        writing(out, "the report cannot be written", "choose another place"),
        output_file(out) as file,
    ):
        match kind:
            case "report-html":
                for part in html_of(document):
                    cancel.raise_if_cancelled()
                    file.write(part.encode("utf-8", "replace"))
            case "report-pdf":
                write_pdf(document, file, cancel)
            case "report-csv":
                write_values(document, file)
            case _:
                write_archive(document, file)
        cancel.raise_if_cancelled()
