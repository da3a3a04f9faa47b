"""Labels by keys, five a second: each for the image and the class that were on the screen when the key went down."""

import time
from pathlib import Path

import pytest

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import NAMES, prepared_project
from tests.robot.project_file import labels_in
from tests.robot.review import Review

A_SECOND = 5.0
SLOWEST_A_SECOND = 4.0
"""A person who waits for what they want to read is a little slower; the program must not make them slower than this."""


@pytest.mark.xfail(reason="each label blocks the window for as long as the classes are fitted")
@pytest.mark.parametrize(
    ("images", "presses"),
    [
        pytest.param(2_900, 60, id="short"),
        pytest.param(2_900, 300, id="long", marks=pytest.mark.slow),
        pytest.param(100_000, 300, id="large", marks=pytest.mark.slow),
    ],
)
def test_every_key_labels_what_was_shown(
    person: Person, tmp_path: Path, caches: CacheFolders, images: int, presses: int
) -> None:
    """No key is lost, and none labels what was not on the screen."""
    project = prepared_project(tmp_path, caches, images)
    before = labels_in(project)
    person.start(project)
    person.click("To review", "check box")
    person.hand.click(person.cards(person.grid)[0].area.centre)
    review = Review(person, NAMES)
    review.wait_until_whole()

    start = time.monotonic()
    shown = review.label_steadily("1", presses, A_SECOND)
    pace = presses / (time.monotonic() - start)

    wait_for(lambda: len(labels_in(project)) >= len(before) + presses, f"{presses} labels on disk")
    made = {number: name for number, name in labels_in(project).items() if number not in before}
    assert [(seen.framed, seen.described) for seen in shown] == [
        ((seen.described,), seen.described) for seen in shown
    ], "the inspector describes the one framed card"
    assert {seen.described: seen.first_guess for seen in shown} == made
    assert pace > SLOWEST_A_SECOND
