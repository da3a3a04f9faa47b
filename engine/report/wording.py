"""Makes a document of the figures of a report, in the user's language."""

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

SECTIONS = (
    overview_section,
    accuracy_section,
    audit_section,
    confusion_section,
    classes_section,
    mistakes_section,
    counts_section,
    comparison_section,
)


def document_of(report: Report) -> Document:
    """Make the document; sections without content are left out."""
    about = report.about
    made = phrase(
        "{day} at {time}", day=day_text(about.made_at.date()), time=f"{about.made_at:%H:%M}"
    )
    sections = [make_section(report) for make_section in SECTIONS]
    return Document(
        about.project,
        phrase("Report of {made}", made=made),
        tuple(section for section in sections if section is not None),
        phrase("Made by Protoleaf {version} on {made}.", version=__version__, made=made),
    )
