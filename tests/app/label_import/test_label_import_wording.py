"""Texts of the card for a source of labels."""

from datetime import UTC, datetime
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.label_import.logic import LabelSurvey, may_be_labels, survey_labels
from app.label_import.wording import (
    class_conflict_row,
    class_conflicts_title,
    class_row,
    content_conflict_row,
    content_conflicts_title,
    image_row,
    import_button,
    kind_text,
    passed_over,
    suggestion_row,
    suggestions_title,
    summary_text,
)
from app.palette.import_card import MOST_ROWS, PlanSection
from engine.collection.importing.label_plan import ClassConflict, ContentConflict, LabelPlan
from engine.collection.importing.match_images import NewPart
from engine.files import FoundFile
from engine.interchange.labelled_images.foreign_labels import ForeignLabels
from engine.project.records import Label, NewItem
from tests.support.labelled_images import add_music_classes, draw, make_project
from tests.support.widgets import texts


def survey(plan: LabelPlan, *people: str, on_disk: frozenset[str] = frozenset()) -> LabelSurvey:
    """A source compared with a project."""
    read = "csv", ForeignLabels(())
    return LabelSurvey(
        Path("x.csv"),
        "CSV",
        read,
        plan,
        people,
        is_nameless=False,
        missing_images=plan.missing_images,
        on_disk=on_disk,
        counts={},
    )


def test_who_labelled() -> None:
    """Three names; the others are counted."""
    plan = LabelPlan("csv", (Label(1, 2, "ada", datetime.now(UTC), "import"),))
    assert kind_text(survey(plan)) == "CSV"
    assert kind_text(survey(plan, "ada", "bob")) == "CSV, labelled by ada, bob"
    assert kind_text(survey(plan, *"abcd")) == "CSV, labelled by a, b, c and 1 other"
    assert kind_text(survey(plan, *"abcde")) == "CSV, labelled by a, b, c and 2 others"


def test_how_much() -> None:
    assert [summary_text(count) for count in (0, 1, 2)] == [
        "Nothing to import",
        "1 label will be imported",
        "2 labels will be imported",
    ]
    assert [import_button(count) for count in (0, 1, 2)] == [
        "Import",
        "Import 1 label",
        "Import 2 labels",
    ]
    plan = LabelPlan("csv", already_there=2, by_machine=3, unlabelled=1)
    assert passed_over(survey(plan)) == (
        "2 labels are in the project already. "
        "3 model predictions skipped: only labels by people are imported. "
        "1 image has no class in the file."
    )


def test_images_in_which_a_detector_found_nothing() -> None:
    box = NewPart(
        NewItem(FoundFile(Path("a.jpg"), 1, 1), "xywh=percent:1,1,5,5", "animal", 0.5),
        is_of_machine=True,
    )
    plan = LabelPlan("megadetector", unlabelled=2, new_parts=(box,))
    assert passed_over(survey(plan)) == "2 images have no box in the file."


def test_rows_of_lists() -> None:
    assert class_row((("Bird", "gull 0"), 1)) == ("Bird/gull 0", "1")
    assert suggestion_row(("holiday 0", 2)) == ("holiday 0", "2")
    assert image_row("0.png", is_found=True) == ("0.png", "Found")
    assert image_row("1.png", is_found=False) == ("1.png", "Not found")
    assert suggestions_title(1) == "1 keyword matches no class"


def test_long_lists_are_cut(qtbot: QtBot) -> None:
    section = PlanSection("Names", ("Name",))
    qtbot.addWidget(section)
    section.show_rows("Many", range(MOST_ROWS + 20), lambda place: (str(place),))
    assert len(section.rows) == MOST_ROWS
    assert "and 20 more" in texts(section)


def test_counts_of_every_choice(tmp_path: Path) -> None:
    """A label with a new class and a missing image is counted only with both options."""
    project = make_project(tmp_path)
    with project:
        add_music_classes(project)
        project.images.add([draw(tmp_path / "here.png", 10)])
    draw(tmp_path / "new.png", 30)
    draw(tmp_path / "other.png", 50)
    table = tmp_path / "labels.csv"
    table.write_text(
        "image,class\nhere.png,Piano\nnew.png,Flute\nother.png,Oboe\n", encoding="utf-8"
    )
    found = survey_labels(project.path, table)
    assert found.counts == {(False, False): 1, (False, True): 2, (True, False): 1, (True, True): 3}
    assert found.on_disk == {"new.png", "other.png"}
    assert (found.people, found.is_nameless) == ((), True)
    assert may_be_labels(table)
    assert not may_be_labels(tmp_path / "here.png")


def test_what_is_not_clear() -> None:
    """Texts name both meanings of a class, and how a photo of the same name differs."""
    assert class_conflicts_title(1) == "1 label may mean another class. It is not imported."
    assert class_conflicts_title(2) == "2 labels may mean another class. They are not imported."
    conflict = ClassConflict("a.jpg", "Apple", "1", ("Fruit/Apple",), ("Fruit/Plum",), "ada")
    assert class_conflict_row(conflict) == ("a.jpg", "Apple (id 1)", "Fruit/Apple", "Fruit/Plum")
    unclear = ClassConflict("a.jpg", "Crane", "", ("Bird/Crane", "Tool/Crane"), (), "ada")
    assert class_conflict_row(unclear) == ("a.jpg", "Crane", "Bird/Crane, Tool/Crane", "None")
    assert content_conflicts_title(2).startswith("2 images have the same name here")
    row = content_conflict_row(ContentConflict("a.jpg", "DCIM/a.jpg", "other content"))
    assert row == ("a.jpg", "DCIM/a.jpg", "Different content")
