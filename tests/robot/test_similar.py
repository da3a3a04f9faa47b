"""Find similar: images by similarity to one image, labelled, and back to the same position."""

from pathlib import Path

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import prepared_project
from tests.robot.project_file import labels_in

IMAGES = 300
CHOSEN = 8


def test_similar_images_are_labelled_together(
    person: Person, tmp_path: Path, caches: CacheFolders
) -> None:
    """S, a row selected by Shift, R and a name are one step; Esc restores the grid."""
    project = prepared_project(tmp_path, caches, IMAGES)
    person.start(project)
    grid = person.grid
    person.wait(lambda: len(person.cards(grid)) > 1, "cards", 30.0)
    person.wait_until_calm()
    before = labels_in(project)
    person.hand.click(person.cards(grid)[0].area.centre)
    person.hand.key("s")
    person.part_containing("Similar to", deadline_s=30.0)
    person.wait_until_calm()

    person.hand.key("Home")
    for _ in range(CHOSEN - 1):
        person.hand.key("Shift+Right")
    person.part_containing(f"{CHOSEN} selected", deadline_s=10.0)
    person.hand.key("r")
    person.hand.type("Kestrel")
    person.hand.key("Enter")
    wait_for(
        lambda: list(labels_in(project).values()).count("Kestrel") >= CHOSEN, "the labels on disk"
    )
    changed = {image for image, name in labels_in(project).items() if before.get(image) != name}
    assert 0 < len(changed) <= CHOSEN
    person.hand.key("Ctrl+z")
    wait_for(lambda: labels_in(project) == before, "all of them taken back in one step")

    person.hand.click(person.cards(person.grid)[0].area.centre)
    person.hand.key("Esc")
    person.wait(lambda: person.reader.containing("Similar to") is None, "all images again")
