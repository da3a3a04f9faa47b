"""The map: a lasso around a group, labelled, and shown in the grid."""

from pathlib import Path

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import prepared_project
from tests.robot.project_file import labels_in

IMAGES = 300
MADE_S = 120.0


def test_lasso_to_label(person: Person, tmp_path: Path, caches: CacheFolders) -> None:
    """The map is computed automatically; images in the lasso are labelled in one undoable step."""
    project = prepared_project(tmp_path, caches, IMAGES)
    before = labels_in(project)
    person.start(project)
    person.hand.key("Ctrl+M")
    canvas = person.part_containing("Map of the images", deadline_s=MADE_S).area
    person.wait_until_calm()

    left, top = canvas.left + 20, canvas.top + 20
    right, bottom = canvas.left + canvas.width - 20, canvas.top + canvas.height - 20
    person.hand.key("l")
    person.hand.move_to((left, top))
    person.hand.press()
    for corner in ((right, top), (right, bottom), (left, bottom), (left, top)):
        person.hand.move_to(corner)
    person.hand.release()
    person.part_containing("Label as", "push button")
    person.hand.key("r")
    person.hand.type("Kestrel")
    person.hand.key("Enter")
    wait_for(
        lambda: len(labels_in(project)) > len(before) + IMAGES // 2,
        "the labels of the group on disk",
    )
    person.hand.key("Ctrl+z")
    wait_for(lambda: labels_in(project) == before, "all of them taken back in one step")

    person.hand.key("Enter")
    person.part_containing("Selected on the map")
