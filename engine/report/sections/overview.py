"""The section that says how far the work is and how the report was made."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

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
    count_column,
    share_column,
    text_column,
)
from engine.report.figures import Report, TruthSource
from engine.report.sections.audit import audit_fact
from engine.report.words import (
    MOST_COLUMNS,
    NOTHING,
    amount,
    message_text,
    phrase,
    setting_name,
    share,
    span,
    summary_of,
)
from engine.texts import day_text, paragraph

ENOUGH_TO_CHECK: Final = (
    100  # unlabelled images with a prediction. Chosen: twice what is asked about
)


def overview_section(report: Report) -> ReportSection:
    """Always there."""
    about, progress = report.about, report.progress
    facts = [
        Fact(phrase("Images"), amount(progress.images)),
        Fact(
            phrase("Labelled by people"),
            amount(progress.labelled),
            _part(progress.labelled, progress.images),
        ),
        Fact(
            phrase("Sure predictions"), amount(progress.sure), _part(progress.sure, progress.images)
        ),
        Fact(
            phrase("To review"),
            amount(progress.to_review),
            _part(progress.to_review, progress.images),
        ),
    ]
    if report.accuracy is not None:
        top1 = report.accuracy.top1
        by_file = about.source is TruthSource.FILE
        title = phrase("Accuracy by the truth file") if by_file else phrase("Held-out accuracy")
        facts.append(
            Fact(title, share(top1.share), phrase("95% interval {span}", span=span(top1.interval)))
        )
    answered = [each for each in report.audits if each.answered]
    facts += [
        audit_fact(phrase("Accuracy, checked at random"), each.accuracy) for each in answered[-1:]
    ]
    blocks: list[Block] = [
        Facts(tuple(facts)),
        ReportText(_basis(report), is_warning=about.source is TruthSource.NONE),
    ]
    parts = (
        (phrase("Labelled by people"), progress.labelled),
        (phrase("Sure predictions"), progress.sure),
        (phrase("Unsure predictions"), progress.unsure),
        (phrase("Unknown: like none of the classes"), progress.unknown),
        (phrase("Not analysed yet"), progress.waiting),
        (phrase("Could not be read"), progress.unreadable),
    )
    shown = [(name, count) for name, count in parts if count or name == parts[0][0]]
    bars = tuple(Bar(name, count, _counted_part(count, progress.images)) for name, count in shown)
    summary = summary_of((bar.label, bar.text) for bar in bars)
    blocks += [
        BarPlot(phrase("Progress"), summary, bars, max(progress.images, 1), along=phrase("Images")),
        _progress_table(parts, progress.images),
    ]
    blocks += _labelling(report)
    blocks.append(_about_table(report))
    return ReportSection("overview", phrase("Overview"), tuple(blocks))


def _progress_table(parts: Iterable[tuple[str, int]], images: int) -> FigureTable:
    rows = [(name, count, count / images if images else math.nan) for name, count in parts]
    columns = (
        text_column(phrase("Images"), "state"), count_column(phrase("Count"), "images"),
        share_column(phrase("Share"), "share"),
    )  # fmt: skip
    return FigureTable("progress", phrase("Progress"), columns, rows, is_in_chart=True)


def _labelling(report: Report) -> list[Block]:
    progress, blocks = report.progress, list[Block]()
    if len(progress.by_day) > 1:
        columns = tuple(
            Bar(day_text(each.day), each.labels, amount(each.labels)) for each in progress.by_day
        )
        recent, most = columns[-MOST_COLUMNS:], max(bar.value for bar in columns)
        summary = phrase(
            "Labels on {days:,} days, most on one day: {most:,}", days=len(columns), most=int(most)
        )
        note = (
            ""
            if len(recent) == len(columns)
            else phrase("The last {days:,} days with labels.", days=len(recent))
        )
        blocks.append(_label_chart(summary, recent, note))
    if progress.by_day:
        rows = [(each.day, each.labels) for each in progress.by_day]
        columns_of = text_column(phrase("Day"), "day"), count_column(phrase("Labels"), "labels")
        blocks.append(
            FigureTable(
                "labels-by-day",
                phrase("Labels by day"),
                columns_of,
                rows,
                is_in_chart=len(rows) > 1,
            )
        )
    if progress.by_person:
        columns_of = (
            text_column(phrase("Person"), "person"),
            count_column(phrase("Labels"), "labels"),
        )
        blocks.append(
            FigureTable(
                "labels-by-person", phrase("Labels by person"), columns_of, list(progress.by_person)
            )
        )
    return blocks


def _label_chart(summary: str, days: Sequence[Bar], note: str) -> ColumnPlot:
    highest = max(bar.value for bar in days)
    return ColumnPlot(
        phrase("Labels by day"),
        summary,
        tuple(days),
        highest,
        (),
        phrase("Day"),
        note,
        phrase("Labels"),
    )


def _about_table(report: Report) -> FigureTable:
    about = report.about
    setting = setting_name(about.setting) or NOTHING
    if about.setting and about.uses_collection:
        setting = phrase("{setting}, with unlabelled images", setting=setting)
    rows = [
        (phrase("Project"), about.project),
        (phrase("Classes"), amount(about.classes)),
        (phrase("Backbone"), about.model or NOTHING),
        (phrase("Model version"), about.version),
        (phrase("Classifier"), setting),
        (phrase("Compared with"), _source(report)),
    ]
    columns = text_column(phrase("What"), "what"), text_column(phrase("Value"), "value")
    return FigureTable("about", phrase("How it was made"), columns, rows)


def _source(report: Report) -> str:
    about = report.about
    match about.source:
        case TruthSource.FILE:
            return phrase("the truth file {name}", name=about.truth_name)
        case TruthSource.HELD_OUT:
            return phrase("labels of people, each held out in turn")
    return phrase("nothing")


def _basis(report: Report) -> str:
    about, accuracy = report.about, report.accuracy
    match about.source:
        case TruthSource.FILE if accuracy is not None:
            parts = [
                phrase(
                    "Predictions are compared with the truth file {name}, on {images:,} images without a label.",
                    name=about.truth_name, images=accuracy.images,
                )
            ]  # fmt: skip
            if about.not_found:
                parts.append(
                    phrase(
                        "{count:,} of its {rows:,} rows name no image here.",
                        count=about.not_found,
                        rows=about.truth_rows,
                    )
                )
            return paragraph(*parts)
        case TruthSource.HELD_OUT if accuracy is not None:
            parts = [
                phrase(
                    "Predictions are compared with {images:,} of {labels:,} labels. Each was held out in turn: the "
                    "model predicted it without having learned from it.",
                    images=accuracy.images, labels=about.labels,
                )
            ]  # fmt: skip
            if about.twins:
                parts.append(
                    phrase(
                        "{count:,} with a labelled near-duplicate are left out: it would give them away.",
                        count=about.twins,
                    )
                )
            parts.append(
                phrase(
                    "Images that people choose to label may be easier or harder than the others."
                )
            )
            if report.progress.predicted >= ENOUGH_TO_CHECK and not report.audits:
                parts.append(
                    phrase(
                        "To learn how accurate the other predictions are, check 50 of them at random."
                    )
                )
            return paragraph(*parts)
    return phrase(
        "There is nothing yet to compare predictions with: {why}.",
        why=message_text(about.why_nothing),
    )


def _part(count: int, images: int) -> str:
    return share(count / images) if images else ""


def _counted_part(count: int, images: int) -> str:
    return f"{amount(count)}  ({share(count / images)})" if images else amount(count)
