"""Audit section: images drawn at random and checked; how other sections refer to their labels."""

from collections.abc import Sequence

from engine.collection.audit_figures import AuditFigures, EstimatedShare
from engine.report.document import Block, Fact, Facts, FigureTable, ReportSection, ReportText
from engine.report.figures import Report, TruthSource
from engine.report.words import (
    class_column,
    class_of,
    count_column,
    interval_column,
    phrase,
    share,
    share_column,
    span,
    text_column,
)
from engine.texts import day_text, paragraph


def audit_section(report: Report) -> ReportSection | None:
    """None where no drawn image is labelled yet."""
    answered = report.answered_audits
    if not answered:
        return None
    latest = answered[-1]
    facts = [audit_fact(phrase("Accuracy"), latest.accuracy)]
    if latest.sure.count:
        facts.append(audit_fact(phrase("Sure predictions that are correct"), latest.sure))
    blocks: list[Block] = [
        Facts(tuple(facts)),
        ReportText(_basis(latest)),
        _audit_table(answered),
    ]
    if latest.classes:
        blocks.append(_class_table(report, latest))
    return ReportSection("audit", phrase("Checked at random"), blocks)


def audit_fact(title: str, estimate: EstimatedShare) -> Fact:
    """An estimated share with the number of answers and its interval."""
    note = phrase(
        "{right:,} of {count:,} correct, 95% interval {span}",
        right=estimate.right,
        count=estimate.count,
        span=span(estimate.interval),
    )
    return Fact(title, share(estimate.share), note)


def truth_line(report: Report) -> ReportText:
    """The labels that the figures of a section are measured on."""
    about = report.about
    if about.source is TruthSource.FILE:
        return ReportText(phrase("Measured with the truth file {name}.", name=about.truth_name))
    basis = phrase(
        "Measured on labelled images, each predicted without its own label. They may be easier or "
        "harder than the others."
    )
    audited = ""
    if report.answered_audits:
        audited = phrase("The figures under “Checked at random” hold for the whole collection.")
    return ReportText(paragraph(basis, audited))


def _basis(audit: AuditFigures) -> str:
    drawn = phrase(
        "On {day}, {asked:,} images were drawn at random among {population:,} without a label; "
        "{answered:,} are answered. Answers are compared with what was predicted when the images "
        "were drawn, so the figures hold for the collection as it was then.",
        day=day_text(audit.drawn_at.astimezone().date()),
        asked=audit.asked,
        population=audit.population,
        answered=audit.answered,
    )
    stratified = in_bulk = ""
    if audit.is_stratified:
        stratified = phrase(
            "Some of each large predicted class were drawn, and each answer is weighted by the "
            "number of images it represents."
        )
    if audit.in_bulk:
        in_bulk = phrase(
            "{count:,} that were accepted in bulk do not count: they were not looked at one by "
            "one.",
            count=audit.in_bulk,
        )
    return paragraph(drawn, stratified, in_bulk)


def _audit_table(audits: Sequence[AuditFigures]) -> FigureTable:
    columns = (
        text_column("Drawn", "drawn"),
        count_column("Among", "population"),
        text_column("Predictions", "predicted"),
        count_column("Answers", "answered"),
        count_column("Correct", "right"),
        share_column("Share", "share"),
        interval_column(),
    )
    rows = [
        (
            audit.drawn_at.astimezone().date(),
            audit.population,
            predicted,
            each.count,
            each.right,
            each.share,
            each.interval,
        )
        for audit in audits
        for predicted, each in (
            (phrase("Most likely class"), audit.accuracy),
            (phrase("Confident class"), audit.sure),
        )
    ]
    return FigureTable("audits", phrase("Images drawn at random"), columns, rows)


def _class_table(report: Report, audit: AuditFigures) -> FigureTable:
    columns = (
        class_column("Class", "class"),
        count_column("Answers", "answered"),
        count_column("Correct", "right"),
        share_column("Precision", "precision"),
        interval_column(),
    )
    rows = [
        (class_of(report.tree, class_id), each.count, each.right, each.share, each.interval)
        for class_id, each in audit.classes
    ]
    note = phrase(
        "Of images predicted confidently as the class when they were drawn; classes with five "
        "answers or more."
    )
    return FigureTable("audit-classes", phrase("Precision of each class"), columns, rows, note)
