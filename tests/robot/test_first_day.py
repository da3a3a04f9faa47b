"""A new project of wide photos: first class and label, what-if edits, a second start."""

from pathlib import Path

import pytest

from tests.robot.marked_images import write_marked
from tests.robot.patience import wait_for
from tests.robot.person import ANALYSING, Person
from tests.robot.program import Program
from tests.robot.project_file import image_count_in, labels_in, parents_in
from tests.support.collections import write_graph

FEW = 40
MANY = 400
"""Enough images that embedding is still running when keys are pressed."""


def test_an_image_is_dragged_onto_the_first_class(person: Person, tmp_path: Path) -> None:
    """Labelling works after the questions of a new project, which the next start does not ask."""
    person.program = Program(person.display, person.home, {"PROTOLEAF_BACKBONE": ""})
    write_marked(tmp_path / "photos", range(FEW), is_wide=True)
    classes, project = (
        write_graph(tmp_path / "ducks.csv", {"Ducks": ("Mallard", "Teal")}),
        tmp_path / "new.protoleaf",
    )
    person.start()
    person.name_new_project(project)
    person.click("Fast", "radio button")
    person.click("Create project", "push button")
    person.wait(lambda: person.eyes.window("new"), "the new project")
    person.hand.key("Ctrl+Shift+O")
    person.answer_file_dialog(tmp_path / "photos" / "000")
    wait_for(lambda: image_count_in(project) == FEW, "the photos")
    person.wait(lambda: len(person.cards(person.grid)) > 1, "cards")
    person.make_class(project, "Smew")
    card = person.cards(person.grid)[1]
    person.drag(card.area.centre, person.class_row("Smew").centre)
    wait_for(lambda: labels_in(project), "the label")
    person.hand.key("Ctrl+Shift+I")
    person.answer_file_dialog(classes)
    person.click("Import 3 classes", "push button")
    wait_for(lambda: "Teal" in parents_in(project), "the listed classes")
    assert labels_in(project) == {card.number: "Smew"}
    person.quit()
    person.open(project)
    assert person.reader.containing("last time") is None


@pytest.mark.slow
def test_edits_are_tried_out_while_images_are_analysed(person: Person, tmp_path: Path) -> None:
    """The banner appears at once, and discarded edits are not in the project."""
    write_marked(tmp_path / "photos", range(MANY), is_wide=True)
    person.start()
    person.click("New project…", "push button")
    person.click("Choose a folder of images", "push button")
    person.answer_file_dialog(tmp_path / "photos" / "000")
    person.click("Create project", "push button")
    person.wait(lambda: person.eyes.window("000"), "the new project")
    project = wait_for(lambda: next(tmp_path.rglob("*.protoleaf"), None), "its file")
    wait_for(lambda: image_count_in(project) == MANY, "the photos")
    person.make_class(project, "Smew")
    person.part_containing(ANALYSING)
    person.hand.key("Ctrl+Shift+W")
    person.click("New class (Ctrl+N)", "push button")
    person.wait(lambda: person.reader.focused("text"), "the field for the name")
    person.hand.type("Teal")
    person.hand.key("Enter")
    person.class_row("Teal")
    assert "Teal" not in parents_in(project)
    person.click("Discard changes", "push button")
    person.part_containing("Discarded.")
    person.wait(lambda: person.reader.find("Teal", "tree item") is None, "the classes as before")
    assert set(parents_in(project)) == {"Smew"}
    person.part_containing(ANALYSING)
