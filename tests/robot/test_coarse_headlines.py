"""A card that names a broader class: Enter accepts it, Shift+Enter or 1 the exact class."""

from functools import partial
from pathlib import Path

import pytest

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import FAMILIES, NAMES, prepared_project
from tests.robot.project_file import labels_in
from tests.robot.review import Review, Shown

IMAGES = 160
AMBIGUOUS = 40
MOST_CARDS = 30
"""Cards to search for one that names a family."""
ROWS = 3
"""Rows of the inspector: the family, and its most likely classes."""


@pytest.fixture
def project(person: Person, tmp_path: Path, caches: CacheFolders) -> Path:
    """The last pictures to review are between two birds of a family; no card moves."""
    path = prepared_project(tmp_path, caches, IMAGES, ambiguous=AMBIGUOUS, with_views=True)
    person.open(path)
    person.show_subset("To review")
    person.choose_command("Order added")
    person.part("In the order added", "combo box")
    person.wait_until_calm()
    person.hand.click(person.cards(person.grid)[0].area.centre)
    person.hand.key("End")
    return path


def next_coarse(person: Person, review: Review) -> Shown:
    """Walk by arrow key to a card that names a family, and wait for the inspector."""
    shown = review.wait_until_whole()
    for _card in range(MOST_CARDS):
        if shown.on_card in FAMILIES:
            return review.wait_until(partial(_is_described, shown.framed), "the card, described")
        person.hand.key("Left")
        shown = review.wait_until(partial(_is_other, shown.framed), "the next card")
    pytest.fail("no card names a family")


def _is_described(framed: tuple[int, ...], shown: Shown) -> bool:
    return framed == shown.framed == (shown.described,)


def _is_other(framed: tuple[int, ...], shown: Shown) -> bool:
    return shown.is_whole and shown.framed != framed


@pytest.mark.parametrize(
    ("key", "accepts_family"), [("Return", True), ("Shift+Return", False), ("1", False)]
)
def test_a_key_means_one_of_the_two_names(
    person: Person, project: Path, key: str, accepts_family: bool
) -> None:
    """The line below the images shows the label."""
    review = Review(person, NAMES)
    before = labels_in(project)
    next_coarse(person, review)
    shown = review.press(key, rows=ROWS)
    family = str(shown.on_card)
    leaf = next(name for name in shown.guesses if name not in FAMILIES)
    assert leaf in FAMILIES[family]
    wait_for(lambda: len(labels_in(project)) == len(before) + 1, "a label")
    made = {number: label for number, label in labels_in(project).items() if number not in before}
    assert made == {shown.framed[0]: family if accepts_family else leaf}
    person.part_containing(f"Labelled {family if accepts_family else leaf}")
