"""Which backups are offered for a damaged project: its own, others only in second place."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from engine.config import backups_folder
from engine.project import Project
from engine.project.backups.listing import Backup, identify, offer_for
from engine.project.backups.restoring import restore
from tests.support.backups import NOON, Clock, backups_with, labelled_birds

Twins = tuple[Path, Path]
Damage = Callable[[Path], None]


@pytest.fixture
def twins(tmp_path: Path) -> Twins:
    """Two closed projects of one name; the second has the newer backup."""
    paths = []
    for number, folder in enumerate(("a", "b")):
        (tmp_path / folder).mkdir()
        project, *_ = labelled_birds(tmp_path / folder, 4 + number)
        with project:
            backups_with(project, Clock(NOON + timedelta(days=number))).take()
        paths.append(project.path)
    return paths[0], paths[1]


def id_of(path: Path) -> str:
    with Project.open(path, for_writing=False) as project:
        return project.backups.project_id


def images_of(backups: tuple[Backup, ...]) -> list[int]:
    return [backup.images for backup in backups]


def zero_header(path: Path) -> None:
    path.write_bytes(bytes(100) + path.read_bytes()[100:])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def write_rot(path: Path) -> None:
    path.write_bytes(b"rotten" * 1000)


def flip_bits_of_the_identity(path: Path) -> None:
    content = bytearray(path.read_bytes())
    place = content.index(bytes.fromhex(id_of(path)))
    content[place + 3] ^= 0x11
    content[place + 9] ^= 0x80
    path.write_bytes(content)


def delete(path: Path) -> None:
    path.unlink()


def replace_by_rot(path: Path) -> None:
    """Replace a file as a sync program does, with damage that hides its identity."""
    (path.parent / "draft").write_bytes(b"rotten")
    (path.parent / "draft").replace(path)


@pytest.mark.parametrize(
    "damage", [zero_header, empty, write_rot, flip_bits_of_the_identity, delete]
)
def test_a_damaged_project_has_its_own_backups_only(twins: Twins, damage: Damage) -> None:
    """Those of other projects are listed separately, however new."""
    path, _ = twins
    project_id = id_of(path)
    damage(path)
    offer = offer_for(path)
    assert (offer.project_id, images_of(offer.own), images_of(offer.others)) == (
        project_id,
        [4],
        [5],
    )


@pytest.mark.parametrize("damage", [zero_header, flip_bits_of_the_identity])
def test_its_bytes_are_enough_without_an_index(twins: Twins, damage: Damage) -> None:
    path, _ = twins
    project_id = id_of(path)
    damage(path)
    shutil.rmtree(backups_folder() / "index")
    assert identify(path) == project_id


def test_where_nobody_can_be_sure_its_own_path_comes_first(twins: Twins) -> None:
    path, twin = twins
    replace_by_rot(path)
    offer = offer_for(path)
    assert (offer.project_id, offer.own) == (None, ())
    assert [(backup.images, backup.taken_of) for backup in offer.others] == [(4, path), (5, twin)]


def test_what_is_alive_elsewhere_comes_last(twins: Twins, tmp_path: Path) -> None:
    """Backups of projects still intact at their paths are listed last."""
    path, _ = twins
    moved = tmp_path / "c" / path.name
    moved.parent.mkdir()
    path.rename(moved)
    write_rot(moved)
    offer = offer_for(moved)
    assert (offer.project_id, images_of(offer.others)) == (None, [4, 5])


def test_a_file_that_changed_places_is_what_it_says(twins: Twins) -> None:
    """The file's identity has priority over the index."""
    path, twin = twins
    aside = path.with_name("aside")
    path.rename(aside)
    twin.rename(path)
    aside.rename(twin)
    zero_header(path)
    assert images_of(offer_for(path).own) == [5]
    write_rot(twin)
    assert offer_for(twin).project_id is None, "another file than the one that was seen there"


def test_backups_of_a_copy_come_after_its_own(twins: Twins, tmp_path: Path) -> None:
    """A copy has the identity of its original.

    Backups of the other copy are marked until it is removed.
    """
    path, _ = twins
    copy = tmp_path / "c" / path.name
    copy.parent.mkdir()
    shutil.copyfile(path, copy)
    with Project.open(copy, is_backed_up=False) as project:
        project.classes.add("Owl")
        backups_with(project, Clock(NOON + timedelta(days=9))).take()
    empty(path)
    assert [(row.classes, row.is_of_copy) for row in offer_for(path).own] == [(2, False), (3, True)]
    assert [(row.classes, row.is_of_copy) for row in offer_for(copy).own] == [(3, False), (2, True)]
    path.unlink()
    assert [(row.classes, row.is_of_copy) for row in offer_for(copy).own] == [
        (3, False),
        (2, False),
    ]


def test_a_date_in_the_future_does_not_make_it_the_newest(tmp_path: Path) -> None:
    """Generations, not dates, decide which is newest."""
    project, gull, image_ids = labelled_birds(tmp_path)
    with project:
        for labels, days in enumerate((0, 3000, 1, -9000, 2)):
            project.labels.set(image_ids[:labels], gull)
            backups_with(project, Clock(NOON + timedelta(days=days))).take()
    rows = offer_for(project.path).own
    assert [(row.when - NOON).days for row in rows] == [2, -9000, 1, 3000, 0]
    assert [row.is_dated_ahead(NOON + timedelta(days=2)) for row in rows] == [
        False,
        False,
        False,
        True,
        False,
    ]


def test_an_older_copy_that_was_put_back_by_hand_begins_anew(tmp_path: Path) -> None:
    """Its history is shorter, but its new actions are the newest."""
    project, gull, image_ids = labelled_birds(tmp_path)
    with project:
        first = backups_with(project, Clock()).take().path
        for image_id in image_ids * 3:
            project.labels.set([image_id], gull)
        backups_with(project, Clock(NOON + timedelta(hours=1))).take()
    shutil.copyfile(first, project.path)
    with Project.open(project.path, is_backed_up=False) as again:
        again.classes.add("Owl")
        backups_with(again, Clock(NOON + timedelta(hours=2))).take()
    assert [row.classes for row in offer_for(project.path).own] == [3, 2, 2]


def test_after_a_backup_of_another_was_restored_that_is_what_it_is(twins: Twins) -> None:
    path, twin = twins
    (row,) = offer_for(twin).own
    restore(path, row.path, is_other_allowed=True, when=NOON)
    empty(path)
    assert images_of(offer_for(path).own) == [5]
