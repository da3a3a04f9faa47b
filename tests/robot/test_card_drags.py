"""Cards dragged onto classes by mouse."""

from pathlib import Path

import pytest

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import FAMILIES, prepared_project
from tests.robot.project_file import labels_in, parents_in

IMAGES = 80
FAMILY = "Owls"
LEAF = FAMILIES[FAMILY][0]


@pytest.fixture
def project(person: Person, tmp_path: Path, caches: CacheFolders) -> Path:
    """A small open project without labels."""
    path = prepared_project(tmp_path, caches, IMAGES, shots=0)
    person.open(path)
    return path


def test_one_card_onto_a_class(person: Person, project: Path) -> None:
    """It is labelled and saved."""
    card = person.cards(person.grid)[1]
    person.drag(card.area.centre, person.class_row(FAMILY).centre)
    wait_for(lambda: labels_in(project), "the label")
    assert labels_in(project) == {card.number: FAMILY}


def test_many_cards_onto_a_class(person: Person, project: Path) -> None:
    """All selected cards are labelled, and one undo removes all labels."""
    cards = person.cards(person.grid)[:3]
    person.hand.click(cards[0].area.centre)
    with person.hand.holding("Ctrl"):
        for card in cards[1:]:
            person.hand.click(card.area.centre)
    person.drag(cards[1].area.centre, person.class_row(FAMILY).centre)
    wait_for(lambda: labels_in(project), "the labels")
    assert labels_in(project) == {card.number: FAMILY for card in cards}
    person.hand.key("Ctrl+Z")
    wait_for(lambda: not labels_in(project), "no labels")


def test_a_folded_class_opens_under_a_resting_card(person: Person, project: Path) -> None:
    """Hovering over a family expands it, and one of its classes accepts the card."""
    card = person.cards(person.grid)[0]
    person.pick_up(card.area.centre)
    person.hand.move_to(person.class_row(FAMILY).centre)
    person.drop(person.class_row(LEAF).centre)
    wait_for(lambda: labels_in(project), "the label")
    assert labels_in(project) == {card.number: LEAF}


def test_cards_onto_the_free_space_make_a_class(person: Person, project: Path) -> None:
    """The window asks for a name; class and label are one undo step."""
    card = person.cards(person.grid)[0]
    tree = person.part("Classes", "tree").area
    person.drag(card.area.centre, (tree.left + tree.width // 2, tree.bottom - 60))
    person.wait(lambda: person.reader.focused("text"), "the field for the name")
    person.hand.type("Osprey")
    person.hand.key("Enter")
    wait_for(lambda: labels_in(project), "the label")
    assert labels_in(project) == {card.number: "Osprey"}
    person.hand.key("Ctrl+Z")
    wait_for(lambda: "Osprey" not in parents_in(project), "neither label nor class")
    assert not labels_in(project)


def test_escape_ends_a_drag_without_a_label(person: Person, project: Path) -> None:
    """The next drag works as usual."""
    first, second = person.cards(person.grid)[:2]
    row = person.class_row(FAMILY)
    person.pick_up(first.area.centre)
    person.hand.move_to(row.centre)
    person.hand.key("Esc")
    person.hand.release()
    person.drag(second.area.centre, row.centre)
    wait_for(lambda: labels_in(project), "the label")
    assert labels_in(project) == {second.number: FAMILY}
