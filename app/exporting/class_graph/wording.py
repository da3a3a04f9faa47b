"""What exporting the class graph says."""

from typing import TYPE_CHECKING, Final

from app.texts import QT_TRANSLATE_NOOP, fill, translate
from app.wording import number
from engine.files import shown

if TYPE_CHECKING:
    from pathlib import Path

    from app.exporting.class_graph.logic import OfferedFormat, WrittenClasses

TITLES: Final = {
    "json": QT_TRANSLATE_NOOP("graph_export", "JSON, everything that is known of the classes"),
    "csv": QT_TRANSLATE_NOOP("graph_export", "Table for spreadsheets"),
    "graphml": QT_TRANSLATE_NOOP("graph_export", "GraphML for Gephi, yEd and Cytoscape"),
    "skos": QT_TRANSLATE_NOOP("graph_export", "SKOS thesaurus"),
    "dot": QT_TRANSLATE_NOOP("graph_export", "DOT for Graphviz"),
    "svg": QT_TRANSLATE_NOOP("graph_export", "SVG drawing"),
    "svg-dark": QT_TRANSLATE_NOOP("graph_export", "SVG drawing, dark"),
    "png": QT_TRANSLATE_NOOP("graph_export", "PNG picture"),
    "png-dark": QT_TRANSLATE_NOOP("graph_export", "PNG picture, dark"),
}
"""Of each format, for the dialog's list."""


def filter_text(offered: "OfferedFormat") -> str:
    """A format's row in the dialog's list: `SVG drawing (*.svg)`."""
    return f"{translate('graph_export', TITLES[offered.name])} (*{offered.suffix})"


def job_title(target: "Path") -> str:
    """What the bar at the foot of the window says meanwhile."""
    return fill(translate("graph_export", "Exporting %1"), shown(target.name))


def taken_text(target: "Path", kind: str) -> str:
    """`birds.svg is a JPEG picture, not an export like this one.`."""
    template = translate("graph_export", "%1 is %2, not an export like this one.")
    return fill(template, shown(target.name), kind)


def done_text(written: "WrittenClasses") -> str:
    """`Exported 312 classes to birds.svg`, and that a picture had to be smaller."""
    template = (
        translate("graph_export", "Exported %1 class to %2")
        if written.classes == 1
        else translate("graph_export", "Exported %1 classes to %2")
    )
    text = fill(template, number(written.classes), shown(written.target.name))
    if written.share == 1:
        return text
    percent = number(max(1, int(100 * written.share)))
    smaller = translate(
        "graph_export", "The picture is reduced to %1%, since larger ones open nowhere. SVG has no limit."
    )
    return f"{text}. {fill(smaller, percent)}"
