"""Labelling by keys, five per second: each labels the image and class shown at that moment."""

import time
from itertools import cycle, islice
from pathlib import Path

import pytest

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import LEAVES, NAMES, prepared_project
from tests.robot.project_file import labels_in
from tests.robot.review import Review, Shown

A_SECOND = 5.0
SLOWEST_A_SECOND = 1.5
"""Limit for a busy machine; `benchmark labelling` measures the actual rate."""

ON_DISK_S = 5.0
CLASSIFIED_S = 180.0
"""With other programs at work."""


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
    """No key is lost, and none labels anything that was not shown."""
    project = prepared_project(tmp_path, caches, images)
    before = labels_in(project)
    person.start(project)
    person.show_subset("To review")
    person.hand.click(person.cards(person.grid)[0].area.centre)
    review = Review(person, NAMES)
    review.wait_until_whole(CLASSIFIED_S)

    start = time.monotonic()
    shown = review.label_steadily(["1"] * presses, A_SECOND)
    pace = presses / (time.monotonic() - start)

    wait_for(
        lambda: len(labels_in(project)) >= len(before) + presses,
        f"{presses} labels on disk",
        ON_DISK_S,
    )
    made = {number: name for number, name in labels_in(project).items() if number not in before}
    assert [seen for seen in shown if seen.described not in {None, *seen.framed}] == []
    assert {number: seen.first_guess for seen in shown for number in seen.framed} == made
    assert pace > SLOWEST_A_SECOND


KEYS = ("1", "2", "Return", "3", "1", "Return", "2")
"""With second and third predictions, which change the model and the rankings."""


@pytest.mark.parametrize(
    ("presses", "a_second"),
    [
        pytest.param(60, 4.0, id="quick"),
        pytest.param(20, 2.0, id="slow"),
        *(pytest.param(60, 4.0, id=f"quick-{run}", marks=pytest.mark.slow) for run in (2, 3)),
        *(pytest.param(20, 2.0, id=f"slow-{run}", marks=pytest.mark.slow) for run in (2, 3)),
    ],
)
def test_each_key_means_its_row_while_rankings_change(
    person: Person, tmp_path: Path, caches: CacheFolders, presses: int, a_second: float
) -> None:
    """Digits refer to rows of the inspector, Enter to the name on the card, at the key press."""
    project = prepared_project(tmp_path, caches, 600)
    before = labels_in(project)
    person.start(project)
    person.show_subset("To review")
    person.hand.click(person.cards(person.grid)[0].area.centre)
    review = Review(person, NAMES)
    review.wait_until_whole(CLASSIFIED_S)

    keys = list(islice(cycle(KEYS), presses))
    shown = review.label_steadily(keys, a_second, rows=4)

    wait_for(
        lambda: len(labels_in(project)) >= len(before) + presses,
        f"{presses} labels on disk",
        ON_DISK_S,
    )
    made = {number: name for number, name in labels_in(project).items() if number not in before}
    expected = {seen.framed[0]: _meant(key, seen) for key, seen in zip(keys, shown, strict=True)}
    assert made == expected
    assert len({seen.on_card for seen in shown}) > 1


def _meant(key: str, seen: Shown) -> str:
    """The class that a key refers to on the screen."""
    if key == "Return":
        return (seen.on_card or "").rstrip("?")
    return [name for name in seen.guesses if name in LEAVES][int(key) - 1]
