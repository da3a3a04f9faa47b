"""What a report says: the document of its figures, in the person's language where a window has given one."""

from engine import __version__
from engine.report.document import Document
from engine.report.figures import Report
from engine.report.sections.accuracy import accuracy_section
from engine.report.sections.audit import audit_section
from engine.report.sections.classes import classes_section, confusion_section, mistakes_section
from engine.report.sections.comparison import comparison_section
from engine.report.sections.counts import counts_section
from engine.report.sections.overview import overview_section
from engine.report.words import phrase
from engine.texts import day_text


def document_of(report: Report) -> Document:
    """Put the figures into words, tables and charts."""
    sections = [
        overview_section(report), accuracy_section(report), audit_section(report), confusion_section(report),
        classes_section(report), mistakes_section(report), counts_section(report), comparison_section(report),
    ]  # fmt: skip
    about = report.about
    made = phrase(
        "{day} at {time}", day=day_text(about.made_at.date()), time=f"{about.made_at:%H:%M}"
    )
    return Document(
        about.project,
        phrase("Report of {made}", made=made),
        tuple(section for section in sections if section is not None and section.blocks),
        phrase("Made by Protoleaf {version} on {made}.", version=__version__, made=made),
    )
