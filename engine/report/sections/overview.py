"""Overview section: progress of the work, labels by day and person, and how the report was made."""

import math
from collections.abc import Iterable

from engine.report.document import (
    Bar,
    BarPlot,
    Block,
    ColumnPlot,
    Fact,
    Facts,
    FigureTable,
    ReportSection,
    ReportText,
)
from engine.report.figures import Report, TruthSource, WorkProgress
from engine.report.sections.audit import audit_fact
from engine.report.words import (
    MAX_COLUMNS,
    NO_VALUE,
    amount,
    count_column,
    phrase,
    setting_name,
    share,
    share_column,
    share_fact,
    summary_of,
    text_column,
)
from engine.texts import day_text, paragraph, translated

ENOUGH_TO_CHECK = 100
"""Unlabelled predictions from which an audit is proposed. Chosen: twice as many as it asks for."""


def overview_section(report: Report) -> ReportSection:
    """Make the section; every report has it."""
    progress = report.progress
    images = progress.images
    basis = ReportText(_basis(report), is_warning=report.about.source is TruthSource.NONE)
    parts = (
        (phrase("Labelled by people"), progress.labelled),
        (phrase("Sure predictions"), progress.sure),
        (phrase("Unsure predictions"), progress.unsure),
        (phrase("Unknown: like none of the classes"), progress.unknown),
        (phrase("Not analysed yet"), progress.waiting),
        (phrase("Could not be read"), progress.unreadable),
    )
    bars = tuple(
        Bar(name, count, f"{amount(count)}  ({share(count / images)})" if images else amount(count))
        for place, (name, count) in enumerate(parts)
        if count or not place
    )
    title, of_images = phrase("Progress"), phrase("Images")
    blocks = [
        Facts(tuple(_facts(report))),
        basis,
        BarPlot(title, summary_of(bars), "", of_images, bars, max(images, 1)),
        _progress_table(title, parts, images),
        *_labelling(progress),
        _about_table(report),
    ]
    return ReportSection("overview", phrase("Overview"), blocks)


def _facts(report: Report) -> list[Fact]:
    progress = report.progress
    images = progress.images
    facts = [Fact(phrase("Images"), amount(images))]
    facts += [
        Fact(title, amount(count), share(count / images) if images else "")
        for title, count in (
            (phrase("Labelled by people"), progress.labelled),
            (phrase("Sure predictions"), progress.sure),
            (phrase("To review"), progress.to_review),
        )
    ]
    if report.accuracy is not None:
        by_file = report.about.source is TruthSource.FILE
        title = phrase("Accuracy by the truth file") if by_file else phrase("Held-out accuracy")
        facts.append(share_fact(title, report.accuracy.top1))
    if report.answered_audits:
        latest = report.answered_audits[-1]
        facts.append(audit_fact(phrase("Accuracy, checked at random"), latest.accuracy))
    return facts


def _progress_table(title: str, parts: Iterable[tuple[str, int]], images: int) -> FigureTable:
    rows = [(name, count, count / images if images else math.nan) for name, count in parts]
    columns = (
        text_column("Images", "state"),
        count_column("Count", "images"),
        share_column("Share", "share"),
    )
    return FigureTable("progress", title, columns, rows, is_in_chart=True)


def _labelling(progress: WorkProgress) -> list[Block]:
    days, blocks = progress.by_day, list[Block]()
    title, labels = phrase("Labels by day"), phrase("Labels")
    if len(days) > 1:
        recent = days[-MAX_COLUMNS:]
        summary = phrase(
            "Labels on {days:,} days, most on one day: {most:,}",
            days=len(days),
            most=max(count for _, count in days),
        )
        note = ""
        if len(recent) < len(days):
            note = phrase("The last {days:,} days with labels.", days=len(recent))
        bars = tuple(Bar(day_text(day), count, amount(count)) for day, count in recent)
        blocks.append(ColumnPlot(title, summary, note, phrase("Day"), labels, bars))
    if days:
        columns = text_column("Day", "day"), count_column("Labels", "labels")
        blocks.append(FigureTable("labels-by-day", title, columns, days, is_in_chart=len(days) > 1))
    if progress.by_person:
        columns = text_column("Person", "person"), count_column("Labels", "labels")
        title = phrase("Labels by person")
        blocks.append(FigureTable("labels-by-person", title, columns, progress.by_person))
    return blocks


def _about_table(report: Report) -> FigureTable:
    about = report.about
    setting = setting_name(about.setting) or NO_VALUE
    if about.setting and about.uses_collection:
        setting = phrase("{setting}, with unlabelled images", setting=setting)
    rows = [
        (phrase("Project"), about.project),
        (phrase("Classes"), amount(about.classes)),
        (phrase("Backbone"), about.model or NO_VALUE),
        (phrase("Model version"), about.version),
        (phrase("Classifier"), setting),
        (phrase("Compared with"), _source(report)),
    ]
    columns = text_column("What", "what"), text_column("Value", "value")
    return FigureTable("about", phrase("How it was made"), columns, rows)


def _source(report: Report) -> str:
    match report.about.source:
        case TruthSource.FILE:
            return phrase("the truth file {name}", name=report.about.truth_name)
        case TruthSource.HELD_OUT:
            return phrase("labels of people, each held out in turn")
    return phrase("nothing")


def _basis(report: Report) -> str:
    """The ground truth of the predictions."""
    about, accuracy = report.about, report.accuracy
    if accuracy is None:
        return phrase(
            "There is nothing to compare predictions with yet: {why}.",
            why=translated(about.why_nothing),
        )
    if about.source is TruthSource.FILE:
        compared = phrase(
            "Predictions are compared with the truth file {name}, on {images:,} images without a "
            "label.",
            name=about.truth_name,
            images=accuracy.images,
        )
        unmatched = ""
        if about.not_found:
            unmatched = phrase(
                "{count:,} of its {rows:,} rows match no image here.",
                count=about.not_found,
                rows=about.truth_rows,
            )
        return paragraph(compared, unmatched)
    compared = phrase(
        "Predictions are compared with {images:,} of {labels:,} labels. Each was held out in turn: "
        "the model predicted it without having learned from it.",
        images=accuracy.images,
        labels=about.labels,
    )
    proposal = ""
    bias = phrase("Images that people choose to label may be easier or harder than the others.")
    if report.progress.predicted >= ENOUGH_TO_CHECK and not report.audits:
        proposal = phrase(
            "To learn how accurate the other predictions are, check 50 of them at random."
        )
    return paragraph(compared, bias, proposal)
