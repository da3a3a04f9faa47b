"""Review by group: 40 groups answered by Enter and R, each saved, one undone."""

from pathlib import Path

import pytest

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import prepared_project
from tests.robot.project_file import labels_in

pytestmark = pytest.mark.slow

IMAGES = 100_000
GROUPS = 40
PER_GROUP = 20
ANSWERED_S = 20.0
"""Labels are saved long before; the program may be classifying 100,000 images."""


def test_forty_groups(person: Person, tmp_path: Path, caches: CacheFolders) -> None:
    """The groups have at least 500 images; Ctrl+Z undoes the last one; Esc shows the grid."""
    project = prepared_project(tmp_path, caches, IMAGES)
    person.start(project)
    grid = person.grid
    person.wait(lambda: len(person.cards(grid)) > 1, "cards", 30.0)
    person.wait_until_calm()
    before = len(labels_in(project))
    person.hand.click(person.cards(grid)[0].area.centre)
    person.hand.key("Ctrl+R")
    person.part_containing("Group 1 of", deadline_s=60.0)

    counts = [before]
    for group in range(GROUPS):
        person.part_containing(f"Group {group + 1} of", deadline_s=ANSWERED_S)
        person.hand.key("Enter" if person.reader.containing("look-alikes:") is None else "1")
        wait_for(
            lambda: len(labels_in(project)) > counts[-1],
            "the labels of a group on disk",
            ANSWERED_S,
        )
        counts.append(len(labels_in(project)))
    assert counts[-1] - before >= GROUPS * PER_GROUP

    person.hand.key("Ctrl+Z")
    wait_for(
        lambda: len(labels_in(project)) == counts[-2], "the last group without labels", ANSWERED_S
    )
    person.part_containing(f"Group {GROUPS} of", deadline_s=ANSWERED_S)
    person.hand.key("Esc")
    person.wait(lambda: len(person.cards(person.grid)) > 1, "the cards")
