"""Texts of the "Import labels" card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.palette.import_card import MOST_ROWS
from app.texts import fill, plural, tr
from app.wording import enumeration, images, in_sentences, number
from engine.credentials import without_credentials
from engine.files import shown
from engine.graph.codes import NONE_OF_THEM, NOTHING_THERE
from engine.graph.names import join_path
from engine.texts import paragraph, translated

if TYPE_CHECKING:
    from app.label_import.logic import LabelSurvey
    from engine.collection.importing.import_labels import LabelImport
    from engine.collection.importing.label_plan import ClassConflict, ContentConflict, LabelConflict

PEOPLE_NAMED = 3  # in one line; the others are counted


def kind_text(survey: LabelSurvey) -> str:
    """`CSV, labelled by ada, grace and 2 others`."""
    people = survey.people
    if not people:
        return tr(survey.title)
    named = enumeration(map(shown, people[:PEOPLE_NAMED]))
    rest = len(people) - PEOPLE_NAMED
    if rest > 0:
        named = plural(rest, "{1} and 1 other", "{1} and {n} others", named)
    return tr("{1}, labelled by {2}", tr(survey.title), named)


def summary_text(count: int, boxes: int = 0) -> str:
    """`2,640 labels will be imported`, `812 boxes will be imported`."""
    if not count and boxes:
        return plural(boxes, "1 box will be imported", "{n} boxes will be imported")
    if not count:
        return tr("Nothing to import")
    return plural(count, "1 label will be imported", "{n} labels will be imported")


def boxes_text(boxes: int, total: int) -> str:
    """`812 boxes become images of their own`, and how many are excluded."""
    taken = plural(
        boxes, "1 box becomes an image of its own.", "{n} boxes become images of their own."
    )
    if boxes == total:
        return taken
    left = plural(
        total - boxes,
        "1 box with a lower score is left out.",
        "{n} boxes with a lower score are left out.",
    )
    return paragraph(taken, left)


def passed_over(survey: LabelSurvey) -> str:
    """Labels of the source that are not imported."""
    plan, parts = survey.plan, []
    if plan.already_there:
        parts.append(
            plural(
                plan.already_there,
                "1 label is in the project already.",
                "{n} labels are in the project already.",
            )
        )
    if plan.by_machine:
        prediction = plural(
            plan.by_machine,
            "1 model prediction skipped: only labels by people are imported.",
            "{n} model predictions skipped: only labels by people are imported.",
        )
        parts.append(prediction)
    if plan.unlabelled and plan.has_scores:
        parts.append(
            plural(
                plan.unlabelled,
                "1 image has no box in the file.",
                "{n} images have no box in the file.",
            )
        )
    elif plan.unlabelled:
        parts.append(
            plural(
                plan.unlabelled,
                "1 image has no class in the file.",
                "{n} images have no class in the file.",
            )
        )
    if plan.as_none:
        parts.append(
            tr(
                "No class has this name, so it counts as “none of the classes”: {1}.",
                enumeration(map(shown, plan.as_none)),
            )
        )
    if plan.loosely_spelled:
        spelled = enumeration(
            tr("{1} as {2}", shown(name), each.path)
            for name, each in list(plan.loosely_spelled.items())[:MOST_ROWS]
        )
        parts.append(tr("Spelled differently here: {1}.", spelled))
    if plan.ambiguous_images:
        parts.append(
            plural(
                len(plan.ambiguous_images),
                "1 image name matches several images and is skipped.",
                "{n} image names match several images and are skipped.",
            )
        )
    return paragraph(*parts)


def conflicts_title(count: int) -> str:
    return plural(
        count,
        "1 image is labelled differently here. Your label stays.",
        "{n} images are labelled differently here. Your labels stay.",
    )


def class_conflicts_title(count: int) -> str:
    return plural(
        count,
        "1 label may mean another class. It is not imported.",
        "{n} labels may mean another class. They are not imported.",
    )


def class_conflict_row(each: ClassConflict) -> Sequence[str]:
    """Image, class in the file, class of this name here, class of this id here."""
    return (
        shown(each.image),
        tr("{1} (id {2})", each.written, each.source_id) if each.source_id else each.written,
        enumeration(each.by_name) or tr("None", about="class"),
        enumeration(each.by_id) or tr("None", about="class"),
    )


def content_conflicts_title(count: int) -> str:
    return plural(
        count,
        "1 image has the same name here but is a different photo. It is not labelled.",
        "{n} images have the same name here but are different photos. They are not labelled.",
    )


def content_conflict_row(each: ContentConflict) -> Sequence[str]:
    """Image, image of this name here, difference."""
    is_content = each.reason == "other content"
    reason = tr("Different content") if is_content else shown(translated(each.reason))
    return shown(each.image), shown(each.ours), reason


def suggestions_title(count: int) -> str:
    return plural(count, "1 keyword matches no class", "{n} keywords match no class")


def suggestion_row(found: tuple[str, int]) -> Sequence[str]:
    """Keyword and number of images."""
    return shown(found[0]), number(found[1])


def conflict_row(each: LabelConflict) -> Sequence[str]:
    """Image, class here, class in the file, annotator."""
    names = {NONE_OF_THEM: tr("None of the classes"), NOTHING_THERE: tr("Empty")}
    classes = (names.get(path, path) for path in (each.ours, each.theirs))
    return shown(each.image), *classes, shown(each.who)


def class_row(found: tuple[tuple[str, ...], int]) -> Sequence[str]:
    """Class and number of labels."""
    return join_path(found[0]), number(found[1])


def image_row(image: str, *, is_found: bool) -> Sequence[str]:
    found = tr("Found", about="image") if is_found else tr("Not found")
    return without_credentials(shown(image)), found


def import_button(count: int) -> str:
    return tr("Import {1}", plural(count, "1 label", "{n} labels")) if count else tr("Import")


def done_text(done: LabelImport) -> str:
    """`Imported 12 labels from birds.csv. 3 conflicts: your labels stayed`."""
    parts = [done.change.text]
    if done.classes_added:
        template = plural(done.classes_added, "{1} class created", "{1} classes created")
        parts.append(fill(template, number(done.classes_added)))
    if done.noted:
        parts.append(
            plural(done.noted, "Stars or comment of 1 image", "Stars or comments of {n} images")
        )
    if done.images_added:
        parts.append(tr("{1} added", images(done.images_added)))
    if conflicts := len(done.plan.conflicts):
        template = plural(
            conflicts, "{1} conflict: your label stayed", "{1} conflicts: your labels stayed"
        )
        parts.append(fill(template, number(conflicts)))
    return in_sentences(*parts)
