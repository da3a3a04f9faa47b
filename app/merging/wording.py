"""Texts of merging: card, page of conflicts, agreement table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale

from app.texts import plural, tr
from app.wording import SEPARATOR, clauses, enumeration, images, moment_text, number, percent
from engine.config import ARCHIVE_SUFFIX
from engine.files import shown
from engine.graph.codes import NONE_OF_THEM, NOTHING_THERE
from engine.merging.class_plan import Divergence
from engine.merging.merge_plan import CommentConflict
from engine.texts import paragraph

if TYPE_CHECKING:
    from app.merging.logic import MergeSurvey
    from engine.graph.category_graph import CategoryGraph
    from engine.merging.agreement import AgreementTable, AnnotatorAgreement
    from engine.merging.class_plan import ClassDifference
    from engine.merging.merge import Merge
    from engine.merging.merge_plan import Conflict, MergePlan, OutdatedLabel, Waiting

Row = tuple[str, ...]


def kind_text(survey: MergeSurvey) -> str:
    """`Another copy of this project · 1,200 images in both`."""
    plan = survey.plan
    kind = tr("Another copy of this project") if plan.is_copy else tr("Another project")
    return SEPARATOR.join((kind, tr("{1} in both", images(plan.images))))


def summary_text(plan: MergePlan) -> str:
    """`120 labels, 2 classes and 3 notes will be added`."""
    parts = news_parts(
        len(plan.labels),
        len(plan.classes.new),
        len(plan.notes),
        len(plan.new_parts),
        len(plan.fields.values),
    )
    if parts:
        return tr("{1} will be added", enumeration(parts))
    if plan.has_news:
        return tr("Class notes and confirmed labels will be added")
    if disputed := len(plan.conflicts) + len(plan.comments):
        return plural(
            disputed, "Nothing new, 1 conflict to settle", "Nothing new, {n} conflicts to settle"
        )
    return tr("Nothing new in this copy")


def news_parts(labels: int, classes: int, notes: int, added: int = 0, values: int = 0) -> list[str]:
    found = (
        plural(labels, "1 label", "{n} labels") if labels else "",
        plural(classes, "1 class", "{n} classes") if classes else "",
        plural(notes, "1 note", "{n} notes") if notes else "",
        plural(values, "1 value of a field", "{n} values of fields") if values else "",
        images(added) if added else "",
    )
    return [each for each in found if each]


def labels_text(plan: MergePlan) -> str:
    """Result for labels of images in both copies."""
    return paragraph(
        plural(
            plan.same,
            "1 label is shared by both copies.",
            "{n} labels are shared by both copies.",
        )
        if plan.same
        else "",
        plural(plan.agreed, "You both agree on 1 image.", "You both agree on {n} images.")
        if plan.agreed
        else "",
        plural(
            plan.kept,
            "1 image was labelled again by you after seeing theirs. Yours is kept.",
            "{n} images were labelled again by you after seeing theirs. Yours are kept.",
        )
        if plan.kept
        else "",
        plural(plan.settled, "1 conflict was settled before.", "{n} conflicts were settled before.")
        if plan.settled
        else "",
        plural(
            plan.stars_kept,
            "1 image has a different rating there. Yours stays.",
            "{n} images have different ratings there. Yours stay.",
        )
        if plan.stars_kept
        else "",
        plural(
            plan.fields.kept,
            "1 field value differs there. Yours stays.",
            "{n} field values differ there. Yours stay.",
        )
        if plan.fields.kept
        else "",
    )


def merge_button(plan: MergePlan, adds_images: bool) -> str:
    disputed = len(plan.conflicts) + len(plan.comments)
    if plan.has_news or adds_images:
        return tr("Merge")
    return (
        plural(disputed, "Settle 1 conflict", "Settle {n} conflicts") if disputed else tr("Merge")
    )


# -- agreement


def agreement_title(agreement: AnnotatorAgreement) -> str:
    """`Agreement on 120 images that both labelled`."""
    return tr("Agreement on {1} that both labelled", images(agreement.images))


def agreement_rows(table: AgreementTable) -> list[Row]:
    """Compared level, images, equal labels, kappa, and its 95 % interval; none without images."""
    if not table.exact.images:
        return []
    rows = [(tr("Same class"), *_figures(table.exact))]
    return rows + [
        (tr("Level {1}", number(level)), *_figures(each))
        for level, each in enumerate(table.levels, start=1)
    ]


def _figures(agreement: AnnotatorAgreement) -> Row:
    observed = "" if agreement.observed is None else percent(agreement.observed)
    if agreement.kappa is None or agreement.low is None or agreement.high is None:
        return number(agreement.images), observed, tr("None"), tr("None")
    interval = tr("{1} to {2}", _decimal(agreement.low), _decimal(agreement.high))
    return number(agreement.images), observed, _decimal(agreement.kappa), interval


def _decimal(value: float) -> str:
    return QLocale().toString(round(value, 2) + 0.0, "f", 2)  # avoids -0.00


def differing_rows(table: AgreementTable, graph: CategoryGraph) -> list[Row]:
    """Own class, other class, and number of images."""
    return [
        (_class_name(graph, ours), _class_name(graph, theirs), number(count))
        for (ours, theirs), count in table.disagreed
    ]


def _class_name(graph: CategoryGraph, class_id: int | None) -> str:
    if class_id is None:
        return tr("None of the classes")
    return graph.shown_name(class_id) if class_id in graph else tr("a removed class")


# -- lists of the card


def conflicts_title(plan: MergePlan) -> str:
    disputed = len(plan.conflicts) + len(plan.comments)
    return plural(
        disputed,
        "1 conflict. Yours stays until you settle it.",
        "{n} conflicts. Yours stay until you settle them.",
    )


def conflict_row(each: Conflict | CommentConflict) -> Row:
    """Image, own value, author, other value, author."""
    if isinstance(each, CommentConflict):
        ours, theirs = one_line(each.ours.comment), one_line(each.theirs.comment)
    else:
        ours, theirs = class_text(each.ours.path), class_text(each.theirs.path)
    return shown(each.path), ours, shown(each.ours.who), theirs, shown(each.theirs.who)


def one_line(text: str) -> str:
    return " ".join(text.split())


def class_text(path: str) -> str:
    if path == NOTHING_THERE:
        return tr("Empty")
    return tr("None of the classes") if path == NONE_OF_THEM else path


def difference_row(each: ClassDifference) -> Row:
    """Class there, class here, difference."""
    texts = {
        Divergence.NAME_TAKEN: tr("Not added: another class has this name there"),
        Divergence.CYCLE: tr("Not added: it would be its own ancestor"),
        Divergence.REMOVED_HERE: tr("You removed it"),
        Divergence.PARENT_MISSING: tr("Not added: its parent is missing"),
        Divergence.RENAMED: tr("Different name"),
        Divergence.PLACED_OTHERWISE: tr("Different place"),
        Divergence.BY_NAME_ALONE: tr("Matched by its name alone"),
        Divergence.AMBIGUOUS: tr(
            "Not added: its path and its source id match two different classes of yours"
        ),
        Divergence.SOURCE_ID_TAKEN: tr("Its source id is not added: another class has it"),
    }
    return each.theirs, each.ours or tr("None", about="class"), texts[each.kind]


def waiting_title(waiting: Sequence[Waiting]) -> str:
    count = sum(each.labels for each in waiting)
    return plural(
        count,
        "1 label is of a class that cannot come in",
        "{n} labels belong to classes that cannot be added",
    )


def outdated_title(count: int) -> str:
    return plural(
        count,
        "1 labelled image was replaced by a different photo.",
        "{n} labelled images were replaced by different photos.",
    )


def outdated_row(each: OutdatedLabel) -> Row:
    return shown(each.image), class_text(each.theirs), shown(each.who)


def not_found_text(source: Path) -> str:
    """Why missing images cannot be added, and a remedy."""
    if source.suffix == ARCHIVE_SUFFIX:
        return tr("To add them, open this copy first, then merge the project that was unpacked.")
    return tr("None of them was found on disk.")


def done_text(done: Merge) -> str:
    """`Merged birds: 12 labels and 1 class added`."""
    plan = done.plan
    parts = news_parts(
        done.labelled,
        done.classes_added,
        len(plan.notes),
        done.images_added,
        len(plan.fields.values),
    )
    name = shown(done.plan.source.stem)
    if not parts:
        return tr("Merged {1}", name)
    return tr("Merged {1}: {2} added", name, enumeration(parts))


# -- the page


def keep_text(count: int) -> str:
    return plural(count, "Keep yours", "Keep yours for all {n}")


def person_text(who: str, when: datetime) -> str:
    """`Ada · 03.05.26 14:02`."""
    return SEPARATOR.join((shown(who) or tr("Nobody"), moment_text(when)))


def suggested_text(dispute: Conflict | CommentConflict) -> str:
    """Reason for the suggestion; "" if there is none."""
    if dispute.is_update:
        return tr("suggested: they changed what you both had")
    return tr("suggested: the finer class") if dispute.proposed is not None else ""


def ended_text(settled: int, left: int) -> str:
    """`7 conflicts settled, 3 left for later`."""
    first = plural(settled, "1 conflict settled", "{n} conflicts settled")
    return clauses(first, plural(left, "1 left for later", "{n} left for later") if left else "")


def kappa_text(agreement: AnnotatorAgreement) -> str:
    if not agreement.images:
        return tr("No image was labelled independently by both; agreement can't be measured.")
    return tr(
        "Kappa is agreement beyond chance: 1 is perfect, 0 is no better than chance. Only labels "
        "that you gave "
        "independently count, as they were before they were settled."
    )
