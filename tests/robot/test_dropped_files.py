"""Files dragged from another program's window."""

from pathlib import Path

from engine.config import CacheFolders
from tests.robot.marked_images import write_marked
from tests.robot.other_program import files_at_hand
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import prepared_project
from tests.robot.project_file import image_count_in, labels_in


def test_a_folder_onto_the_empty_window(person: Person, tmp_path: Path) -> None:
    """They are in the sheet of a new project, which is created next to the folder."""
    folder = tmp_path / "field trip"
    write_marked(folder, range(5))
    person.start()
    with files_at_hand(person, folder / "000") as place:
        person.drag(place, person.window.centre)
    person.part_containing("5 images")
    person.click("Create project", "push button")
    person.wait(lambda: len(person.cards(person.grid)) == 5, "five cards")
    assert image_count_in(folder / "000.protoleaf") == 5


def test_files_onto_a_class(person: Person, tmp_path: Path, caches: CacheFolders) -> None:
    """They are labelled with it."""
    project = prepared_project(tmp_path, caches, 20)
    new = write_marked(tmp_path / "new", range(500, 503))
    person.open(project)
    row = person.class_row("Owls")
    with files_at_hand(person, *new) as place:
        person.drag(place, row.centre)
        wait_for(lambda: image_count_in(project) == 23, "three more images")
    assert {
        number: name for number, name in labels_in(project).items() if number >= 500
    } == dict.fromkeys(range(500, 503), "Owls")
