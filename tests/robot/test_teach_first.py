"""The order "Teach first": chosen above the images, and labelled from the top."""

from pathlib import Path

import pytest

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
    """It is the default of a project with few labels; after Enter the second image is current."""
    project = prepared_project(tmp_path, caches, IMAGES)
    person.open(project)
    person.show_subset("To review")
    order = person.part("Teach first", "combo box")
    person.wait_until_calm()
    first, second = person.cards(person.grid)[:2]
    labels = labels_in(project)
    assert first.number not in labels

    person.hand.click(first.area.centre)
    review = Review(person, NAMES)
    shown = review.wait_until(
        lambda seen: seen.is_whole and seen.framed == (first.number,), "the first card, framed"
    )
    person.hand.key("Enter")
    wait_for(lambda: labels_in(project).get(first.number) == shown.first_guess, "its label on disk")
    review.wait_until(lambda seen: seen.framed == (second.number,), "the second card, framed")
    assert person.part("Teach first", "combo box").area == order.area


@pytest.mark.slow
def test_the_list_of_orders_keeps_its_place(
    person: Person, tmp_path: Path, caches: CacheFolders
) -> None:
    """Also with the button to sort again; the palette has the orders; the grid has the focus."""
    project = prepared_project(tmp_path, caches, IMAGES)
    person.open(project)
    person.show_subset("To review")
    person.click("Teach first", "combo box")
    person.click("Least certain first", "list item")
    person.wait_until_calm()
    before = person.cards(person.grid)
    order = person.part("Least certain first", "combo box")

    person.hand.click(before[0].area.centre)
    already = len(labels_in(project))
    person.hand.keys(["1"] * 6, 2)
    wait_for(lambda: len(labels_in(project)) == already + 6, "six labels")
    person.part_containing("Sort again", "push button")
    assert person.part("Least certain first", "combo box").area == order.area

    person.choose_command("Order added")
    person.part("In the order added", "combo box")
    person.wait_until_calm()
    labels = len(labels_in(project))
    person.hand.click(person.cards(person.grid)[0].area.centre)
    person.hand.key("1")
    wait_for(
        lambda: len(labels_in(project)) == labels + 1,
        "the label of a key pressed after the order was chosen",
    )
