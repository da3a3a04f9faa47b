"""Merging another person's copy: ten conflicts are settled by keys, and saved."""

import shutil
from pathlib import Path

from engine.config import CacheFolders
from engine.project import Project
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import prepared_project
from tests.robot.project_file import labels_in

CONFLICTS = 10
KEYS = ("1", "2", "Right", "Left", "u", "2", "1", "Right", "2", "Left")
SETTLED = (
    "Kestrel",
    "Merlin",
    "Merlin",
    "Kestrel",
    None,
    "Merlin",
    "Kestrel",
    "Merlin",
    "Merlin",
    "Kestrel",
)


def two_people(folder: Path, caches: CacheFolders) -> tuple[Path, Path, list[int]]:
    """Ada's project, Ben's copy, and the ids of images with conflicts."""
    ours = prepared_project(folder, caches, 120)
    (folder / "from ben").mkdir()
    theirs = folder / "from ben" / "birds by ben.protoleaf"
    shutil.copyfile(ours, theirs)
    with Project.open(ours, is_backed_up=False) as project:
        named = {project.classes.graph.name(each): each for each in project.classes.graph.classes()}
        ids = [each for each in project.images.table().ids if project.labels.of(each) is None]
        project.labels.set(ids[:CONFLICTS], named["Kestrel"], who="Ada")
    with Project.open(theirs, is_backed_up=False) as project:
        project.labels.set(ids[:CONFLICTS], named["Merlin"], who="Ben")
        project.labels.set(ids[CONFLICTS : CONFLICTS + 5], named["Teal"], who="Ben")
    return ours, theirs, ids[: CONFLICTS + 5]


def test_ten_conflicts_are_settled(person: Person, tmp_path: Path, caches: CacheFolders) -> None:
    """Each key settles the shown conflict; the summary and the file have the decisions."""
    ours, theirs, ids = two_people(tmp_path, caches)
    person.open(ours)
    person.choose_command("Merge another copy")
    person.answer_file_dialog(theirs)
    person.part_containing("5 labels will be added")
    person.hand.key("Return")
    for place, key in enumerate(KEYS, start=1):
        person.part_containing(f"{place} of {CONFLICTS}")
        person.hand.key(key)
    person.part_containing("10 conflicts settled")
    person.part_containing("Agreement on 10 images")
    with Project.open(ours, for_writing=False) as project:
        labels = {key: each.class_id for key, each in project.labels.by_image().items()}
        names = [
            None if labels[each] is None else project.classes.graph.name(labels[each] or 0)
            for each in ids
        ]
    assert names == [*SETTLED, *["Teal"] * 5]
    before = len(labels_in(ours))
    person.click("Done", "push button")
    for _ in range(CONFLICTS + 1):
        person.hand.key("Ctrl+Z")
    wait_for(lambda: len(labels_in(ours)) < before, "the merge taken back")
