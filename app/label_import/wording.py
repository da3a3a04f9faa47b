"""What the card "Import labels" says."""

from typing import TYPE_CHECKING, Final

from app.palette.plan_section import MOST_ROWS
from app.texts import fill, tr
from app.wording import images, number
from engine.files import shown
from engine.graph.names import join_path

if TYPE_CHECKING:
    from app.label_import.logic import LabelSurvey
    from engine.collection.importing.import_labels import LabelImport
    from engine.collection.importing.label_plan import ClassConflict, ContentConflict, LabelConflict

PEOPLE_NAMED: Final = 3
"""Names in one line; the others are counted."""


def labels(count: int) -> str:
    if count == 1:
        return tr("1 label")
    return tr("%1 labels", number(count))


def kind_text(survey: "LabelSurvey") -> str:
    """`CSV, labelled by ada, grace and 2 others`."""
    people = survey.people
    if not people:
        return survey.title
    named = ", ".join(map(shown, people[:PEOPLE_NAMED]))
    rest = len(people) - PEOPLE_NAMED
    if rest == 1:
        named = tr("%1 and 1 other", named)
    elif rest > 1:
        named = tr("%1 and %2 others", named, number(rest))
    return tr("%1, labelled by %2", survey.title, named)


def summary_text(count: int) -> str:
    """`2,640 labels will be imported`."""
    if not count:
        return tr("Nothing to import")
    if count == 1:
        return tr("1 label will be imported")
    return tr("%1 will be imported", labels(count))


def passed_over(survey: "LabelSurvey") -> str:
    """What the source says besides, and why it is no news."""
    plan, parts = survey.plan, []
    if plan.already_there:
        template = (
            tr("%1 is in the project already.") if plan.already_there == 1 else tr("%1 are in the project already.")
        )
        parts.append(fill(template, labels(plan.already_there)))
    if plan.by_machine:
        template = (
            tr("%1 model prediction is left out: only labels by people are imported.")
            if plan.by_machine == 1
            else tr("%1 model predictions are left out: only labels by people are imported.")
        )
        parts.append(fill(template, number(plan.by_machine)))
    if plan.unlabelled:
        template = tr("%1 has no class in the file.") if plan.unlabelled == 1 else tr("%1 have no class in the file.")
        parts.append(fill(template, images(plan.unlabelled)))
    return " ".join(parts)


def conflicts_title(count: int) -> str:
    """Where the project says something else."""
    if count == 1:
        return tr("1 image is labelled differently here. Your label stays.")
    return tr("%1 are labelled differently here. Your labels stay.", images(count))


def contradictions_title(count: int) -> str:
    """Where the source says two things."""
    if count == 1:
        return tr("1 image has two classes in the file. The first is taken.")
    return tr("%1 have two classes in the file. The first is taken.", images(count))


def class_conflicts_title(count: int) -> str:
    """Where it is not clear which class a label names."""
    if count == 1:
        return tr("1 label may mean another class. It is not imported.")
    return tr("%1 may mean another class. They are not imported.", labels(count))


def class_conflict_rows(conflicts: "tuple[ClassConflict, ...]") -> list[tuple[str, ...]]:
    """Image, what the file says, the class of that name here, the class of that id here."""
    return [
        (
            shown(each.image),
            tr("%1 (id %2)", each.written, each.source_id) if each.source_id else each.written,
            ", ".join(each.by_name) or tr("None"),
            ", ".join(each.by_id) or tr("None"),
        )
        for each in conflicts[:MOST_ROWS]
    ]


def content_conflicts_title(count: int) -> str:
    """Where another photo has the same name."""
    if count == 1:
        return tr("1 image has the same name here but is a different photo. It is not labelled.")
    template = tr("%1 have the same name here but are different photos. They are not labelled.")
    return fill(template, images(count))


def content_conflict_rows(conflicts: "tuple[ContentConflict, ...]") -> list[tuple[str, ...]]:
    """Image, what is called so here, why it is not that."""
    other = tr("Other content")
    return [
        (shown(each.image), shown(each.ours), other if each.reason == "other content" else shown(each.reason))
        for each in conflicts[:MOST_ROWS]
    ]


def classes_title(count: int) -> str:
    if count == 1:
        return tr("1 class is not in the project")
    return tr("%1 classes are not in the project", number(count))


def make_classes_text(count: int) -> str:
    """The box that makes them."""
    if count == 1:
        return tr("Make this class")
    return tr("Make these classes")


def images_title(count: int) -> str:
    if count == 1:
        return tr("1 image is not in the project")
    return tr("%1 are not in the project", images(count))


def add_images_text(count: int) -> str:
    """The box that adds those whose files are there."""
    if count == 1:
        return tr("Add the one found on disk")
    return tr("Add the %1 found on disk", number(count))


def none_found() -> str:
    """Why there is no such box."""
    return tr("None of them was found on disk.")


def suggestions_title(count: int) -> str:
    """Keywords that name no class."""
    if count == 1:
        return tr("1 keyword names no class")
    return tr("%1 keywords name no class", number(count))


def suggestions_note() -> str:
    """What can be done about them."""
    return tr("To use one, create a class of this name and import again.")


def suggestion_rows(survey: "LabelSurvey") -> list[tuple[str, ...]]:
    """Keyword and number of images."""
    found = list(survey.plan.suggestions.items())[:MOST_ROWS]
    return [(shown(keyword), number(count)) for keyword, count in found]


def problems_title(count: int) -> str:
    """What could not be understood."""
    if count == 1:
        return tr("1 line was not understood")
    return tr("%1 lines were not understood", number(count))


def conflict_rows(conflicts: "tuple[LabelConflict, ...]") -> list[tuple[str, ...]]:
    """Image, what we say, what they say, who."""
    none = tr("None of the classes")
    return [
        (shown(each.image), each.ours or none, each.theirs or none, shown(each.who)) for each in conflicts[:MOST_ROWS]
    ]


def class_rows(survey: "LabelSurvey") -> list[tuple[str, ...]]:
    """Class and number of labels."""
    found = list(survey.plan.new_classes.items())[:MOST_ROWS]
    return [(join_path(names), number(count)) for names, count in found]


def image_rows(survey: "LabelSurvey") -> list[tuple[str, ...]]:
    """Image, and whether its file is found; those that are come first."""
    found, lost = tr("Found"), tr("Not found")
    return [(shown(image), found if image in survey.on_disk else lost) for image in survey.missing_images[:MOST_ROWS]]


def import_button(count: int) -> str:
    return tr("Import %1", labels(count)) if count else tr("Import")


def done_text(done: "LabelImport") -> str:
    """What came of it: `Imported 12 labels from birds.csv. 3 conflicts: your labels stayed`."""
    parts = [done.change.text]
    if done.classes_added:
        template = tr("%1 class made") if done.classes_added == 1 else tr("%1 classes made")
        parts.append(fill(template, number(done.classes_added)))
    if done.images_added:
        parts.append(tr("%1 added", images(done.images_added)))
    if conflicts := len(done.plan.conflicts):
        template = tr("%1 conflict: your label stayed") if conflicts == 1 else tr("%1 conflicts: your labels stayed")
        parts.append(fill(template, number(conflicts)))
    return ". ".join(parts)
