"""The order "Teach first": chosen in the line above the images, and labelled from the top."""

from pathlib import Path

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import NAMES, prepared_project
from tests.robot.project_file import labels_in
from tests.robot.review import Review

IMAGES = 80


def test_the_first_image_is_labelled_and_the_order_goes_on(
    person: Person, tmp_path: Path, caches: CacheFolders
) -> None:
    """Images change places; after Enter the one that stood second is up."""
    project = prepared_project(tmp_path, caches, IMAGES)
    person.open(project)
    person.click("To review", "check box")
    person.wait_until_calm()
    before = person.cards(person.grid)

    person.click("Least certain first", "combo box")
    person.click("Teach first", "list item")
    person.wait(lambda: person.cards(person.grid) != before, "images in another order")
    person.wait_until_calm()
    first, second = person.cards(person.grid)[:2]
    labels = labels_in(project)
    assert first.number not in labels

    person.hand.click(first.area.centre)
    review = Review(person, NAMES)
    shown = review.wait_until(lambda seen: seen.is_whole and seen.framed == (first.number,), "the first card, framed")
    person.hand.key("Enter")
    wait_for(lambda: labels_in(project).get(first.number) == shown.first_guess, "its label on disk")
    review.wait_until(lambda seen: seen.framed == (second.number,), "the second card, framed")
