"""A first project: class list, photos, labels by drag and by keys, undo and a restart."""

from pathlib import Path

from engine.backbones.model_files import FAST
from tests.robot.marked_images import write_marked
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import FAMILIES, NAMES
from tests.robot.program import Program
from tests.robot.project_file import backbone_in, image_count_in, labels_in, parents_in
from tests.support.collections import write_graph

PHOTOS = 90
DRAGGED = 10
BY_KEYS = 60
A_SECOND = 3.0


def test_from_an_empty_window_to_seventy_labels(person: Person, tmp_path: Path) -> None:
    """All steps of a first day, and a restart."""
    classes = write_graph(tmp_path / "classes.csv", FAMILIES)
    write_marked(tmp_path / "photos", range(PHOTOS))
    project = tmp_path / "birds.protoleaf"

    person.start()
    person.name_new_project(project)
    person.click("Choose a folder of images", "push button")
    person.answer_file_dialog(tmp_path / "photos" / "000")
    person.part_containing(f"{PHOTOS} images")
    person.click("From a file", "radio button")
    person.click("Choose a file…", "push button")
    person.answer_file_dialog(classes)
    person.part_containing(f"{len(NAMES)} classes on 2 levels")
    person.click("Create project", "push button")
    person.wait(lambda: person.eyes.window("birds"), "the new project")
    wait_for(lambda: "Kestrel" in parents_in(project), "the classes")
    wait_for(lambda: image_count_in(project) == PHOTOS, "the photos")
    person.wait(lambda: len(person.cards(person.grid)) > DRAGGED, "cards")

    dragged = drag_cards(person, project)
    assert labels_in(project) == dragged

    person.show_subset("To review")
    person.wait_until_calm()
    person.hand.click(person.cards(person.grid)[0].area.centre)
    person.hand.keys(["1"] * BY_KEYS, A_SECOND)
    wait_for(lambda: len(labels_in(project)) == DRAGGED + BY_KEYS, f"{BY_KEYS} labels more")

    before = labels_in(project)
    person.hand.key("Ctrl+Z")
    wait_for(lambda: len(labels_in(project)) == len(before) - 1, "one label less")
    person.quit()
    person.open(project)
    person.hand.key("Ctrl+Z")
    wait_for(lambda: len(labels_in(project)) == len(before) - 2, "one label less after a restart")
    assert labels_in(project).items() <= before.items()


def drag_cards(person: Person, project: Path) -> dict[int, str]:
    """Drag ten cards onto two families in turn; returns class by picture."""
    made: dict[int, str] = {}
    for count in range(DRAGGED):
        family = ("Owls", "Ducks")[count % 2]
        card = next(card for card in person.cards(person.grid) if card.number not in made)
        person.drag(card.area.centre, person.class_row(family).centre)
        made[card.number] = family
        wait_for(lambda: len(labels_in(project)) == len(made), f"{len(made)} labels")
    return made


def test_the_fast_backbone_is_chosen(person: Person, tmp_path: Path) -> None:
    """Without a default the sheet asks; the project has the chosen backbone."""
    person.program = Program(person.display, person.home, {"PROTOLEAF_BACKBONE": ""})
    project = tmp_path / "birds.protoleaf"
    person.start()
    person.name_new_project(project)
    assert person.part("Accurate", "radio button").is_enabled
    person.click("Fast", "radio button")
    person.click("Create project", "push button")
    person.wait(lambda: person.eyes.window("birds"), "the new project")
    assert backbone_in(project) == FAST
