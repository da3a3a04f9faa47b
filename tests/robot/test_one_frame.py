"""One card is framed, shown in the inspector, and acted on by keys, after every move."""

from pathlib import Path

import pytest

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import NAMES, prepared_project
from tests.robot.project_file import labels_in
from tests.robot.review import Review

IMAGES = 80


@pytest.fixture
def project(person: Person, tmp_path: Path, caches: CacheFolders) -> Path:
    """A small open project."""
    path = prepared_project(tmp_path, caches, IMAGES)
    person.open(path)
    return path


def test_the_first_card_is_framed_and_takes_enter(person: Person, project: Path) -> None:
    """Without a click, Enter labels the current card."""
    before = labels_in(project)
    shown = Review(person, NAMES).wait_until_whole()
    (number,) = shown.framed
    assert shown.described == number
    assert number not in before
    person.hand.key("Enter")
    wait_for(lambda: len(labels_in(project)) > len(before), "the label on disk")
    assert labels_in(project)[number] == shown.first_guess


def test_after_every_move_one_card_is_framed_and_described(person: Person, project: Path) -> None:
    """Click, keys to the ends, pages, arrows with and without Ctrl and Shift."""
    review = Review(person, NAMES)
    person.hand.click(person.cards(person.grid)[2].area.centre)
    for key in (
        "Ctrl+Home",
        "Home",
        "Right",
        "End",
        "Ctrl+Left",
        "Home",
        "PageDown",
        "Down",
        "Ctrl+End",
        "Up",
    ):
        person.hand.key(key)
        seen = review.wait_until(
            lambda shown: shown.framed == (shown.described,), f"one described card after {key}"
        )
        assert seen.is_whole


def test_shift_and_arrows_keep_one_current_card(person: Person, project: Path) -> None:
    """Of several selected cards one is framed and shown in the inspector."""
    review = Review(person, NAMES)
    person.hand.key("Home")
    first = review.wait_until_whole()
    person.hand.key("Shift+Right")
    person.hand.key("Shift+Right")
    review.wait_until(
        lambda shown: shown.framed == (shown.described,) != first.framed,
        "one framed card, which is described",
    )
