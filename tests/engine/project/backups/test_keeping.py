"""Automatic backups: when they are made, thinning, and failures."""

import logging
import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from engine.config import BACKUPS_VARIABLE, backups_folder
from engine.errors import ProjectMovedError, StorageError
from engine.project import BackupReason, Project
from engine.project.backups import keeping
from engine.project.backups.place import choose_folder, folder_for
from tests.support.backups import NOON, Clock, all_backups, backups_with, labelled_birds
from tests.support.projects import change_file, named, new_project, trained_model

AFTER_A_DAY = NOON + timedelta(days=1, minutes=1)


def reasons(project: Project) -> list[BackupReason]:
    return [backup.reason for backup in all_backups(project)]


@pytest.fixture
def no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make backups impossible: a file in place of their folder."""
    (tmp_path / "taken").touch()
    monkeypatch.setenv(BACKUPS_VARIABLE, str(tmp_path / "taken"))


def test_opening_makes_the_backup_of_the_day(tmp_path: Path) -> None:
    """The first opening for writing of a day makes a backup before any change."""
    project, gull, image_ids = labelled_birds(tmp_path)
    project.close()
    with Project.open(project.path) as opened:
        (backup,) = all_backups(opened)
        assert (backup.reason, backup.labels) == (BackupReason.DAY, 2)
        opened.labels.set(image_ids, gull)
    with Project.open(project.path) as opened:
        assert len(all_backups(opened)) == 1, "the last one is of today"


def test_reading_and_empty_projects_make_none(tmp_path: Path) -> None:
    empty = new_project(tmp_path, "empty.protoleaf")
    empty.close()
    with Project.open(empty.path) as opened:
        assert all_backups(opened) == []
    project, *_ = labelled_birds(tmp_path)
    project.close()
    with Project.open(project.path, for_writing=False) as opened:
        assert all_backups(opened) == []


def test_a_day_old_and_changed_is_due(tmp_path: Path) -> None:
    clock = Clock()
    project, gull, image_ids = labelled_birds(tmp_path)
    with project:
        backups = backups_with(project, clock)
        assert backups.take_daily() is not None
        project.labels.set(image_ids, gull)
        clock.pass_by(hours=23)
        assert backups.take_daily() is None
        clock.pass_by(hours=1, minutes=1)
        made = backups.take_daily()
        assert made is not None
        assert made.labels == 4
        clock.pass_by(days=30)
        assert backups.take_daily() is None, "the present is in the last one already"


def test_a_clock_that_was_wrong_does_not_stop_backups(tmp_path: Path) -> None:
    """Backups with future dates do not prevent new ones."""
    clock = Clock(NOON + timedelta(days=3_000))
    project, gull, image_ids = labelled_birds(tmp_path)
    with project:
        backups = backups_with(project, clock)
        backups.take()
        project.labels.set(image_ids, gull)
        clock.now = NOON
        assert backups.take_daily() is not None
        assert len(all_backups(project)) == 2


def test_a_damaged_backup_does_not_count(tmp_path: Path) -> None:
    """If today's backup is damaged, another is made."""
    clock = Clock()
    with labelled_birds(tmp_path)[0] as project:
        backups = backups_with(project, clock)
        first = backups.take_daily()
        assert first is not None
        with first.path.open("r+b") as file:
            file.seek(-3000, os.SEEK_END)
            file.write(b"rotten")
        clock.pass_by(minutes=20)
        assert backups.take_daily() is not None
        damaged = [backup for backup in all_backups(project) if backup.fault]
        assert [backup.path for backup in damaged] == [first.path], (
            "it is listed, and left where it is"
        )


def test_every_quarter_of_an_hour_if_something_changed(tmp_path: Path) -> None:
    """Only after a change, undone or not."""
    clock = Clock()
    project, gull, image_ids = labelled_birds(tmp_path)
    with project:
        backups = backups_with(project, clock)
        made = []
        for action in (
            lambda: None,
            lambda: None,
            lambda: project.labels.set(image_ids, gull),
            project.history.undo,
        ):
            action()
            clock.pass_by(minutes=15)
            made.append(backups.take_quarterly())
    assert [None if each is None else each.labels for each in made] == [2, None, 4, 2]


def test_closing_and_opening_is_no_change(tmp_path: Path) -> None:
    """Sealing is a commit without a change of content."""
    clock = Clock()
    project, *_ = labelled_birds(tmp_path)
    with project:
        backups_with(project, clock).take()
    with Project.open(project.path) as opened:
        assert backups_with(opened, clock).take_quarterly() is None


def test_a_killed_project_is_compared_rightly(tmp_path: Path) -> None:
    """Without a seal the last commit is one more than the backup's."""
    clock = Clock()
    project, gull, image_ids = labelled_birds(tmp_path)
    with project:
        backups_with(project, clock).take()
        project.labels.set(image_ids, gull)  # one commit: the number that sealing would have had
        home = tmp_path / "killed"
        home.mkdir()
        shutil.copyfile(project.path, home / project.path.name)
    with Project.open(home / project.path.name) as opened:
        made = backups_with(opened, clock).take_quarterly()
        assert made is not None
        assert made.labels == 4


@pytest.mark.slow
def test_thinning_leaves_what_is_not_ours(tmp_path: Path) -> None:
    """Weeks of work leave few automatic backups.

    Other names, other projects and damaged files are not removed.
    """
    clock = Clock()
    (tmp_path / "other").mkdir()
    other, *_ = labelled_birds(tmp_path / "other")
    project, gull, image_ids = labelled_birds(tmp_path)
    with project, other:
        backups = backups_with(project, clock)
        folder = folder_for(project.path, backups.project_id)
        strange = backups_with(other, clock).take(BackupReason.DAY).path
        first = backups.take(BackupReason.DAY)
        foreign = folder / first.path.name.replace("12-00-00", "11-59-00")
        shutil.copyfile(strange, foreign)
        named = folder / "birds 2026 (mine).protoleaf"
        renamed = folder / first.path.name.replace("birds", "gulls")
        damaged = folder / first.path.name.replace("12-00-00", "11-58-00")
        for path in (named, renamed):
            shutil.copyfile(first.path, path)
        damaged.write_bytes(b"rotten")
        for _ in range(40):
            clock.pass_by(minutes=15)
            project.labels.set(image_ids[:1], gull)
            backups.take(BackupReason.QUARTER_HOUR)
        ours = [path for path in folder.iterdir() if path not in (foreign, named, renamed, damaged)]
    assert all(path.exists() for path in (foreign, named, renamed, damaged, strange))
    assert 8 <= len(ours) <= 8 + 11


def test_before_actions_backups_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before choosing a model and large removals; not before small ones."""
    monkeypatch.setattr("engine.project.images.MANY", 2)
    monkeypatch.setattr("engine.project.classes.MANY", 1)
    project, gull, image_ids = labelled_birds(tmp_path, 6)
    with project:
        version = project.models.add_trained(trained_model())
        assert project.models.choose(version.version_id).notice == ""
        project.models.choose(version.version_id)
        assert reasons(project) == [BackupReason.MODEL]
        project.images.remove(image_ids[4:])
        assert reasons(project) == [BackupReason.MODEL]
        project.images.remove(image_ids[1:4])
        project.labels.set(image_ids[:1], gull)
        assert sorted(map(str, reasons(project))) == ["BackupReason.MODEL", "BackupReason.REMOVAL"]
        project.history.undo()
        project.history.undo()
        project.labels.set(image_ids[:4], gull)
        project.classes.remove([gull])
        assert reasons(project).count(BackupReason.REMOVAL) == 2
        newest = max(all_backups(project), key=lambda backup: backup.generation)
        assert newest.labels == 5


def test_a_backup_that_fails_does_not_stop_what_undo_takes_back(
    tmp_path: Path, no_room: None, caplog: pytest.LogCaptureFixture
) -> None:
    """The action succeeds; its change and the log report once why there is no backup."""
    with labelled_birds(tmp_path)[0] as project:
        version = project.models.add_trained(trained_model())
        with caplog.at_level(logging.WARNING):
            change = project.models.choose(version.version_id)
        assert project.models.current == version
        assert "the folder for backups cannot be made" in change.notice
        assert [record.message for record in caplog.records] == [
            f"no backup was made before changing the model: {change.notice}"
        ]
        project.history.undo()
        assert project.models.current != version


def test_opening_goes_on_without_a_backup(
    tmp_path: Path, no_room: None, caplog: pytest.LogCaptureFixture
) -> None:
    project, *_ = labelled_birds(tmp_path)
    project.close()
    with caplog.at_level(logging.WARNING), Project.open(project.path) as opened:
        assert len(opened.labels.by_image()) == 2
    (record,) = caplog.records
    assert record.message.startswith("no backup was made: the folder for backups cannot be made")


def test_within_a_larger_action_no_backup_is_tried(tmp_path: Path) -> None:
    """Inside an outer action, which made a backup before, none is attempted."""
    with labelled_birds(tmp_path)[0] as project:
        version = project.models.add_trained(trained_model())
        with project.history.one_step(named("Both")):
            project.models.choose(version.version_id)
        assert all_backups(project) == []


def test_another_file_of_the_name_is_not_backed_up(tmp_path: Path) -> None:
    """If another file replaced the open project, it is not backed up in its place."""
    with labelled_birds(tmp_path)[0] as project:
        backups = project.backups
        away = tmp_path / "away.protoleaf"
        project.path.rename(away)
        with pytest.raises(ProjectMovedError, match="no longer where it was opened"):
            backups.take()
        away.rename(project.path)
        assert all_backups(project) == []


def test_a_chosen_folder_is_used_and_kept_for_this_computer(tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    with labelled_birds(tmp_path)[0] as project:
        backups = project.backups
        usual = backups.take().path
        choose_folder(backups.project_id, stick)
        chosen = backups.take().path
        assert chosen.parent.parent == stick
        assert {backup.path for backup in all_backups(project)} == {usual, chosen}
        assert project.policies.setting("backups") is None
        choose_folder(backups.project_id, None)
        assert backups.take().path.is_relative_to(backups_folder())


def test_a_chosen_folder_that_is_gone_is_not_made(tmp_path: Path) -> None:
    """A missing backup folder, such as an unmounted stick, is not created."""
    stick = tmp_path / "stick"
    stick.mkdir()
    with labelled_birds(tmp_path)[0] as project:
        backups = project.backups
        choose_folder(backups.project_id, stick)
        stick.rmdir()
        with pytest.raises(StorageError, match="the folder for backups is missing"):
            backups.take()
        assert not stick.exists()


def test_a_folder_that_takes_no_files_is_not_chosen(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is missing"):
        choose_folder("00ff", tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="is missing"):
        choose_folder("00ff", tmp_path / "file")


def test_a_renamed_project_finds_its_earlier_backups(tmp_path: Path) -> None:
    project, *_ = labelled_birds(tmp_path)
    with project:
        made = project.backups.take()
    project.path.rename(tmp_path / "gulls.protoleaf")
    with Project.open(tmp_path / "gulls.protoleaf") as renamed:
        assert made.path in [backup.path for backup in all_backups(renamed)]


def test_a_backup_that_is_open_as_a_project_is_left_alone(tmp_path: Path) -> None:
    """A backup opened as a project is neither read nor thinned."""
    clock = Clock()
    with labelled_birds(tmp_path)[0] as project:
        backups = backups_with(project, clock)
        first = backups.take(BackupReason.QUARTER_HOUR).path
        with Project.open(first, is_backed_up=False) as opened:
            opened.classes.add("Owl")
            clock.pass_by(minutes=1)
            second = backups.take(BackupReason.QUARTER_HOUR).path
            assert [backup.path for backup in backups.all()] == [second]
            opened.classes.add("Auk")
        assert first.exists()


def test_machine_facts_are_backed_up_too(tmp_path: Path) -> None:
    """The generation counts every commit, including automatic ones."""
    clock = Clock()
    project, _, image_ids = labelled_birds(tmp_path)
    with project:
        backups = backups_with(project, clock)
        backups.take()
        project.images.record_scan([(image_ids[0], b"\1" * 32, None)])
        assert backups.take_quarterly() is not None


def test_a_change_behind_the_back_is_seen_as_damage(tmp_path: Path) -> None:
    """A modified backup is not the newest valid one."""
    with labelled_birds(tmp_path)[0] as project:
        made = project.backups.take()
        change_file(made.path, "UPDATE class SET name = 'Owl' WHERE class_id = 2", keep_seal=True)
        assert project.backups.newest() is None
        assert all_backups(project)[0].fault != ""
    assert keeping.MANY == 1_000
