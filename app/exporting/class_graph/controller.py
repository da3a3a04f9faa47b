"""Export of the class graph: file dialog with formats, written on a background thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, final

from app.actions.row import READ_FOR_GOOD, Section, action
from app.feature import Feature
from app.file_dialogs import save_file_at
from app.jobs.background_thread import BackgroundThread
from app.jobs.slot import JobSlot
from app.texts import marked, plural, tr
from app.wording import in_sentences, percent, sentence
from engine.files import shown
from engine.texts import translated

if TYPE_CHECKING:
    from app.exporting.class_graph.logic import OfferedFormat, WrittenClasses
    from app.shell import Shell
    from engine.exporting.export_graph import GraphToWrite


TITLES = {
    "json": marked("JSON, everything that is known of the classes"),
    "csv": marked("Table for spreadsheets"),
    "graphml": marked("GraphML for Gephi, yEd and Cytoscape"),
    "skos": marked("SKOS thesaurus"),
    "darwin-core": marked("Darwin Core checklist"),
    "dot": marked("DOT for Graphviz"),
    "svg": marked("SVG drawing"),
    "svg-dark": marked("SVG drawing, dark"),
    "png": marked("PNG picture"),
    "png-dark": marked("PNG picture, dark"),
}
"""Names of formats in the dialog."""


def filter_text(offered: OfferedFormat) -> str:
    """Format as a filter of the file dialog: `SVG drawing (*.svg)`."""
    return f"{tr(TITLES[offered.name])} (*{offered.suffix})"


def job_title(target: Path) -> str:
    """Text in the status bar during the export."""
    return tr("Exporting {1}", shown(target.name))


def taken_text(target: Path, kind: str) -> str:
    """`birds.svg is a JPEG picture, not an export like this one.`."""
    return tr("{1} is {2}, not an export like this one.", shown(target.name), kind)


def done_text(written: WrittenClasses) -> str:
    """`Exported 312 classes to birds.svg`, with a note if a picture had to be reduced."""
    text = plural(
        written.classes,
        "Exported {n} class to {1}",
        "Exported {n} classes to {1}",
        shown(written.target.name),
    )
    if written.share == 1:
        return text
    share = percent(max(1, int(100 * written.share)) / 100)
    smaller = tr(
        "The picture is reduced to {1}: most programs cannot open larger ones. SVG has no limit.",
        share,
    )
    return in_sentences(text, smaller)


@final
class GraphExport(Feature):
    """Exporter of the open project's classes to a file."""

    guide_page = "exporting"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._thread = BackgroundThread("graph export", self)
        self._writing = JobSlot(self._session.jobs, self._thread, keeps_finished=False)

    def stop(self) -> None:
        """Cancel the export, which leaves no incomplete file, and stop the thread."""
        self._writing.cancel()
        self._thread.stop()

    @action(
        "export_graph",
        marked("Export class graph…"),
        "export",
        "",
        Section.FILE_EXPORT,
        needs=READ_FOR_GOOD,
    )
    def choose(self) -> None:
        """Ask for file and format; those of the last export are the default."""
        from app.exporting.class_graph.logic import FIRST, chosen_format, offered_formats

        info = self._session.info
        if info is None:
            return
        offered = {filter_text(each): each for each in offered_formats()}
        last = self._settings.graph_export_format
        names = [each.name for each in offered.values()]
        first = list(offered)[names.index(last if last in names else FIRST)]
        folder = (
            Path(self._settings.export_folder) if self._settings.export_folder else info.path.parent
        )
        start = folder / f"{info.path.stem}-classes{offered[first].suffix}"
        title = tr("Export class graph")
        chosen, row = save_file_at(self._host, start, title, ";;".join(offered), first_kind=first)
        if chosen is not None:
            target, form = chosen_format(chosen, offered.get(row, offered[first]))
            self._settings.graph_export_format = form.name
            self._settings.export_folder = str(target.parent)
            # Only the name in the dialog was confirmed.
            self.export(target, form, is_overwriting=target == chosen)

    def export(self, target: Path, form: OfferedFormat, *, is_overwriting: bool = False) -> None:
        """Export after all edits have been saved; ask before replacing an unrelated file."""
        from app.exporting.class_graph.logic import taken_out

        def begin(content: GraphToWrite | str) -> None:
            if isinstance(content, str):
                self._ask_to_replace(target, form, content)
            else:
                self._start(content, target, form)

        question = taken_out(target, form, is_overwriting=is_overwriting)
        self._session.ask(question, begin, owner=self, topic="graph export")

    def _ask_to_replace(self, target: Path, form: OfferedFormat, kind: str) -> None:
        self._toast.report_failure(
            taken_text(target, translated(kind)),
            action=tr("Replace"),
            on_action=lambda: self.export(target, form, is_overwriting=True),
        )

    def _start(self, content: GraphToWrite, target: Path, form: OfferedFormat) -> None:

        from app.exporting.class_graph.logic import write

        self._writing.start(
            job_title(target),
            lambda _on_progress, cancel: write(content, target, form, cancel),
            self._on_finished,
            lambda reason: self._toast.report_failure(sentence(reason)),
        )

    def _on_finished(self, done: WrittenClasses) -> None:
        self._toast.show_message(
            done_text(done),
            action=tr("Show in folder"),
            on_action=lambda: self.show_folder(done.target.parent),
        )
