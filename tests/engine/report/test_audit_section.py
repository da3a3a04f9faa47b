"""The report's section about an audit, and the labels behind other figures."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from engine.collection.audit_figures import AuditFigures, EstimatedShare
from engine.report.document import ReportSection, ReportText
from engine.report.figures import Report, TruthSource
from engine.report.wording import document_of
from tests.support.reports import AUK, DOG, GULL, confusion_in, report_of, zoo

RIGHT = EstimatedShare(46, 50, 0.92, (0.799, 0.974))
AUDIT = AuditFigures(
    1,
    datetime(2026, 3, 1, tzinfo=UTC),
    False,
    1_200,
    50,
    50,
    0,
    RIGHT,
    RIGHT,
    error_odds=1.0,
    classes=((GULL, EstimatedShare(9, 10, 0.9)),),
)


def report(*audits: AuditFigures) -> Report:
    made = report_of(zoo(), confusion_in(zoo(), [(GULL, GULL), (AUK, DOG)]))
    return replace(made, audits=audits)


def section(made: Report, key: str) -> ReportSection | None:
    return next((each for each in document_of(made).sections if each.key == key), None)


def texts(found: ReportSection | None) -> Iterator[str]:
    assert found is not None
    return (block.text for block in found.blocks if isinstance(block, ReportText))


def test_an_audit_with_answers_has_a_section_with_its_tables() -> None:
    found = section(report(AUDIT), "audit")
    assert found is not None
    assert "1,200" in next(texts(found))
    tables = {table.name: table for table in document_of(report(AUDIT)).tables()}
    assert [row[3:] for row in tables["audits"].rows] == [(50, 46, 0.92, (0.799, 0.974))] * 2
    assert {row[1] for row in tables["audits"].rows} == {1_200}
    assert tables["audit-classes"].rows[0][1:4] == (10, 9, 0.9)


def test_strata_and_labels_in_bulk_are_explained() -> None:
    explained = " ".join(
        texts(section(report(replace(AUDIT, is_stratified=True, in_bulk=3)), "audit"))
    )
    assert "weighted by the number of images it represents" in explained
    assert "3 that were accepted in bulk" in explained


def test_without_answers_there_is_no_section() -> None:
    assert section(report(), "audit") is None
    assert section(report(replace(AUDIT, answered=0)), "audit") is None


def test_every_section_of_accuracy_says_by_which_labels() -> None:
    """Held-out labels are a selection, compared with an audit; a truth file is named."""
    for key in ("accuracy", "confusion", "classes", "mistakes"):
        line = next(texts(section(report(AUDIT), key)))
        assert line.startswith("Measured on labelled images, each predicted without its own label.")
        assert line.endswith("The figures under “Checked at random” hold for the whole collection.")
        assert next(texts(section(report(), key))).endswith(
            "They may be easier or harder than the others."
        )
    by_file = report()
    by_file = replace(
        by_file, about=replace(by_file.about, source=TruthSource.FILE, truth_name="truth.csv")
    )
    assert next(texts(section(by_file, "accuracy"))) == "Measured with the truth file truth.csv."


def test_checking_is_proposed_once_there_is_enough_to_check() -> None:
    made = report()
    many = replace(made, progress=replace(made.progress, sure=60, unsure=40))
    proposal = "check 50 of them at random"
    assert proposal in next(texts(section(many, "overview")))
    assert proposal not in next(texts(section(made, "overview")))
    assert proposal not in next(texts(section(replace(many, audits=(AUDIT,)), "overview")))
