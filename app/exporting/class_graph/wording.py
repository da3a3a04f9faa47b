"""What exporting the class graph says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.texts import fill, marked, plural, tr
from app.wording import number
from engine.files import shown

if TYPE_CHECKING:
    from pathlib import Path

    from app.exporting.class_graph.logic import OfferedFormat, WrittenClasses

TITLES: Final = {
    "json": marked("JSON, everything that is known of the classes"),
    "csv": marked("Table for spreadsheets"),
    "graphml": marked("GraphML for Gephi, yEd and Cytoscape"),
    "skos": marked("SKOS thesaurus"),
    "dot": marked("DOT for Graphviz"),
    "svg": marked("SVG drawing"),
    "svg-dark": marked("SVG drawing, dark"),
    "png": marked("PNG picture"),
    "png-dark": marked("PNG picture, dark"),
}
"""Of each format, for the dialog's list."""


def filter_text(offered: OfferedFormat) -> str:
    """A format's row in the dialog's list: `SVG drawing (*.svg)`."""
    return f"{tr(TITLES[offered.name])} (*{offered.suffix})"


def job_title(target: Path) -> str:
    """What the bar at the foot of the window says meanwhile."""
    return tr("Exporting %1", shown(target.name))


def taken_text(target: Path, kind: str) -> str:
    """`birds.svg is a JPEG picture, not an export like this one.`."""
    return tr("%1 is %2, not an export like this one.", shown(target.name), kind)


def done_text(written: WrittenClasses) -> str:
    """`Exported 312 classes to birds.svg`, and that a picture had to be smaller."""
    text = plural(written.classes, "Exported %n class to %1", "Exported %n classes to %1", shown(written.target.name))
    if written.share == 1:
        return text
    percent = number(max(1, int(100 * written.share)))
    smaller = tr("The picture is reduced to %1%, since larger ones open nowhere. SVG has no limit.")
    return f"{text}. {fill(smaller, percent)}"
