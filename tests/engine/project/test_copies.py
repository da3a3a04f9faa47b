"""The project is one file, which can be copied at any acknowledged moment, and has a checksum."""

import random
import shutil
from pathlib import Path

import pytest

from engine.errors import ProjectDamagedError, ProtoleafError
from engine.project import Project
from tests.support.projects import bird_project, connection_of, dump, found_files, trained_model


@pytest.mark.slow
def test_a_copy_at_any_acknowledged_moment_holds_everything(tmp_path: Path) -> None:
    """After each action a copy of the file is valid and has the action."""
    project, gull, images = bird_project(tmp_path, image_count=40)
    copy = tmp_path / "copy" / "birds.protoleaf"
    copy.parent.mkdir()
    for number, image_id in enumerate(images):
        project.labels.set([image_id], gull)
        if number % 10 == 5:
            project.history.undo()
            project.history.redo()
        if number == 20:
            project.images.add(found_files(tmp_path / "more", 500, start=1_000))
        shutil.copyfile(project.path, copy)
        with Project.open(copy, for_writing=False) as opened:
            assert dump(opened) == dump(project)
    with Project.open(copy) as opened:
        assert opened.check() == []
        assert len(opened.labels.by_image()) == 40
    project.close()


@pytest.mark.parametrize("seed", range(6))
def test_no_flipped_bit_of_a_closed_project_is_called_sound_and_shown_wrong(
    tmp_path: Path, seed: int
) -> None:
    """A changed bit is reported, or nothing that is read differs."""
    project, gull, images = bird_project(tmp_path, image_count=60)
    project.labels.set(images, gull)
    project.models.add_trained(trained_model())
    project.images.record_scan(
        [(image_id, bytes([image_id % 251]) * 32, None) for image_id in images]
    )
    look, facts = dump(project), list(project.images.table().content_hashes)
    project.close()
    good = project.path.read_bytes()
    chance = random.Random(seed)
    for _ in range(12):
        place = chance.randrange(len(good))
        bad = bytearray(good)
        bad[place] ^= 1 << chance.randrange(8)
        project.path.write_bytes(bad)
        try:
            if Project.faults_of(project.path):
                continue
            with Project.open(project.path, for_writing=False) as opened:
                assert (dump(opened), list(opened.images.table().content_hashes)) == (
                    look,
                    facts,
                ), place
        except ProtoleafError:
            continue
        assert project.path.read_bytes() == bytes(bad)


def test_a_value_changed_behind_a_closed_project_breaks_its_seal(tmp_path: Path) -> None:
    """A valid but changed value is reported."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images, gull)
    project.close()
    content = project.path.read_bytes()
    place = content.rindex(b"IMG_000002")
    project.path.write_bytes(content[:place] + b"IMG_000009" + content[place + 10 :])
    assert Project.faults_of(project.path)
    for for_writing in (True, False):
        with pytest.raises(ProjectDamagedError, match="Restore a backup"):
            Project.open(project.path, for_writing=for_writing)


def test_opening_and_closing_changes_no_byte(tmp_path: Path) -> None:
    """Opening without changes, also for writing, keeps bytes and time of the file."""
    project, _, _ = bird_project(tmp_path)
    project.close()
    before, when = project.path.read_bytes(), project.path.stat().st_mtime_ns
    with Project.open(project.path) as again:
        assert again.images.count == 4
    assert project.path.read_bytes() == before
    assert project.path.stat().st_mtime_ns == when


def test_history_that_does_not_explain_the_rows_is_found(tmp_path: Path) -> None:
    """Without a seal a label that no step made, or a step without its row, is found."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images[:2], gull)
    connection = connection_of(project)
    with connection.transaction():
        connection.write("UPDATE label SET class_id = 1 WHERE image_id = 1")
        connection.write("DELETE FROM label WHERE image_id = 2")
        connection.write(
            "INSERT INTO label VALUES (3, 2, 'ada', '2026-01-02T03:04:05+00:00', 'review', 0)"
        )
    faults = "\n".join(project.check())
    assert "row 1 of table label is other than its history says" in faults
    assert "row 2 of table label is gone" in faults
    assert "row 3 of table label has no history" in faults
    project.close()
