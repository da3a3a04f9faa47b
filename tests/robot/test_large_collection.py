"""100,000 images: opened, scrolled to the end, labelled."""

from pathlib import Path

import pytest

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import NAMES, prepared_project
from tests.robot.project_file import labels_in
from tests.robot.review import Review

pytestmark = pytest.mark.slow

IMAGES = 100_000
SEEN_S = 5.0


def test_a_hundred_thousand_images(person: Person, tmp_path: Path, caches: CacheFolders) -> None:
    """Cards at the beginning, at the end and between; a label at the end."""
    project = prepared_project(tmp_path, caches, IMAGES)
    person.start(project)
    grid = person.grid
    person.wait(lambda: len(person.cards(grid)) > 1, "cards", 30.0)
    person.wait_until_calm()
    first = person.cards(grid)
    person.hand.move_to(grid.centre)
    person.hand.wheel(100)
    person.wait(
        lambda: len(person.cards(grid)) > 1 and person.cards(grid) != first, "other cards", SEEN_S
    )
    person.hand.click(person.cards(grid)[0].area.centre)
    person.hand.key("End")
    review = Review(person, NAMES)
    shown = review.wait_until(lambda shown: shown.framed == (shown.described,), "the last card")
    person.hand.key("U")
    wait_for(lambda: labels_in(project).get(shown.framed[0]) == "?", "the label of the last image")
