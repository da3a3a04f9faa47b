"""Restoring a backup: the present state is saved, invalid backups are refused, kills are safe."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.config import BACKUPS_VARIABLE, backups_folder
from engine.errors import (
    Cancelled,
    InputError,
    ProjectDamagedError,
    ProjectLockedError,
    ProjectMissingError,
    ProjectTooNewError,
    StorageError,
)
from engine.events import CancelToken, Progress
from engine.project import BackupReason, Project
from engine.project.backups.listing import Backup, offer_for
from engine.project.backups.restoring import Restoration, restore
from tests.support.backups import NOON, all_backups, labelled_birds
from tests.support.kill_at import run_and_kill
from tests.support.projects import (
    Dump,
    change_file,
    copy_in_the_middle_of_a_commit,
    dump,
    found_files,
    new_project,
    write_first_version,
)

Past = tuple[Path, Backup, Dump, Dump]
Damage = Callable[[Path], None]
posix_only = pytest.mark.skipif(os.name != "posix", reason="kills and permissions of POSIX")


@pytest.fixture
def past(tmp_path: Path) -> Past:
    """A project with four labels, its backup with two: project, backup, dumps of both."""
    project, gull, image_ids = labelled_birds(tmp_path)
    with project:
        made = project.backups.take()
        before = dump(project)
        project.labels.set(image_ids, gull)
        project.classes.add("Owl")
        return project.path, made, before, dump(project)


def dump_of(path: Path) -> Dump:
    with Project.open(path, for_writing=False) as project:
        assert project.check() == []
        return dump(project)


@pytest.fixture
def large(tmp_path: Path) -> tuple[Path, Path]:
    """A closed project of several MB, and an earlier backup."""
    project, *_ = labelled_birds(tmp_path)
    with project:
        project.images.add(found_files(tmp_path / "many", 30_000))
        made = project.backups.take()
        project.classes.add("Owl")
    return project.path, made.path


@pytest.mark.slow
def test_a_restore_says_how_far_it_is(large: tuple[Path, Path]) -> None:
    """Progress covers the safety copy and the restore, up to the end."""
    project, backup = large
    seen: list[Progress] = []
    restore(project, backup, when=NOON, on_progress=seen.append)
    assert [each.done for each in seen] == sorted(each.done for each in seen)
    assert (
        seen[-1].done
        == seen[-1].total
        == (project.stat().st_size // 10**6) + (backup.stat().st_size // 10**6)
    )
    assert {(each.total, each.unit) for each in seen} == {(seen[-1].total, "MB")}
    seen.clear()
    project.unlink()
    restore(project, backup, is_doubt_allowed=True, when=NOON, on_progress=seen.append)
    assert seen[-1].done == seen[-1].total > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "share", [0.0, 0.6, 1.0], ids=["at the first part", "while copying", "after the last part"]
)
def test_a_stopped_restore_leaves_every_byte(large: tuple[Path, Path], share: float) -> None:
    """Project and backup are unchanged, and no draft is left."""
    project, backup = large
    before, cancel = (project.read_bytes(), backup.read_bytes()), CancelToken()
    beside = sorted(project.parent.iterdir())

    def stop(progress: Progress) -> None:
        if progress.done >= share * progress.total:
            cancel.cancel()

    with pytest.raises(Cancelled):
        restore(project, backup, when=NOON, on_progress=stop, cancel=cancel)
    assert (project.read_bytes(), backup.read_bytes()) == before
    assert sorted(project.parent.iterdir()) == beside
    assert restore(project, backup, when=NOON).kept is not None


def kept_by(done: Restoration) -> Path:
    assert done.kept is not None
    return done.kept


def test_the_project_is_what_it_was(past: Past) -> None:
    """Undo works from there, and the previous state is a backup that can be restored."""
    path, made, before, present = past
    done = restore(path, made.path, when=NOON)
    assert dump_of(path) == before
    assert dump_of(kept_by(done)) == present
    assert not done.was_damaged
    with Project.open(path) as project:
        change = project.history.undo()
        assert change is not None
        assert change.text.startswith("Labelled 1 image")
        assert {backup.reason for backup in all_backups(project)} == {
            BackupReason.ASKED,
            BackupReason.RESTORE,
        }
    restore(path, kept_by(done), when=NOON)
    assert dump_of(path) == present


def test_the_backup_stays_and_nothing_else_is_left(past: Past) -> None:
    path, made, _, _ = past
    content = made.path.read_bytes()
    restore(path, made.path, when=NOON)
    assert made.path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@posix_only
def test_it_keeps_its_permissions(past: Past) -> None:
    path, made, _, _ = past
    path.chmod(0o640)
    restore(path, made.path, when=NOON)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_an_open_project_is_left_alone(past: Past) -> None:
    path, made, _, present = past
    with Project.open(path) as project:
        with pytest.raises(ProjectLockedError, match="open in another window"):
            restore(path, made.path, when=NOON)
        assert dump(project) == present


def damage_a_page(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(5 * 4096)
        file.write(os.urandom(2000))


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def change_a_value(path: Path) -> None:
    change_file(path, "UPDATE class SET name = 'Auk' WHERE class_id = 2", keep_seal=True)


def make_empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.slow
@pytest.mark.parametrize("damage", [damage_a_page, cut_off, change_a_value, make_empty])
def test_a_damaged_backup_is_refused(past: Past, damage: Damage) -> None:
    path, made, _, present = past
    damage(made.path)
    with pytest.raises(ProjectDamagedError, match="the backup is damaged and was not restored"):
        restore(path, made.path, when=NOON)
    assert dump_of(path) == present
    assert len(offer_for(path).all) == 1, "nothing was kept for nothing"


@pytest.mark.parametrize("damage", [damage_a_page, cut_off, make_empty])
def test_a_damaged_project_is_kept_byte_by_byte(past: Past, damage: Damage) -> None:
    """Its backups are found by name, and the damaged file is saved unchanged."""
    path, made, before, _ = past
    damage(path)
    content = path.read_bytes()
    (found,) = offer_for(path).all
    assert found.path == made.path
    done = restore(path, made.path, when=NOON)
    assert done.was_damaged
    assert kept_by(done).name == "birds (damaged 2026-06-01 12-00-00).protoleaf"
    assert kept_by(done).read_bytes() == content
    assert dump_of(path) == before


def test_a_project_that_is_gone_comes_back(past: Past) -> None:
    path, made, before, _ = past
    path.unlink()
    assert restore(path, made.path, when=NOON).kept is None
    assert dump_of(path) == before


def test_a_backup_of_another_project_is_refused(past: Past) -> None:
    path, _, _, present = past
    other = new_project(path.parent, "other.protoleaf")
    other.classes.add("Fish")
    other.close()
    with pytest.raises(InputError, match=r"backup of another project.*--other"):
        restore(path, other.path, when=NOON)
    assert dump_of(path) == present
    restore(path, other.path, is_other_allowed=True, when=NOON)
    assert [row[1] for row in dump_of(path)["class"]] == ["Fish"]


def test_where_nobody_can_be_sure_the_person_is_shown_what_it_is(past: Past) -> None:
    """If file and index have no identity, counts, date and path are shown before restoring."""
    path, made, before, _ = past
    make_empty(path)
    shutil.rmtree(backups_folder() / "index")
    with pytest.raises(
        InputError,
        match=r"cannot be identified.*2 classes, 4 images, 2 labels, of .*add --other",
    ):
        restore(path, made.path, when=NOON)
    assert path.read_bytes() == b""
    restore(path, made.path, is_doubt_allowed=True, when=NOON)
    assert dump_of(path) == before


def test_a_damaged_project_takes_no_backup_of_another(past: Past) -> None:
    """The identity is still known.

    A confirmed doubt does not permit another project.
    """
    path, _, _, _ = past
    (path.parent / "b").mkdir()
    twin = new_project(path.parent / "b", path.name)
    with twin:
        twin.classes.add("Fish")
        strange = twin.backups.take()
    make_empty(path)
    with pytest.raises(
        InputError,
        match=r"backup of another project.*1 class, 0 images, 0 labels.*taken of .*/b/birds",
    ):
        restore(path, strange.path, is_doubt_allowed=True, when=NOON)
    path.unlink()
    with pytest.raises(InputError, match="backup of another project"):
        restore(path, strange.path, when=NOON)


def test_after_a_damaged_state_generations_go_on(past: Past) -> None:
    """The next backup after a restore of a damaged file has the highest generation."""
    path, made, _, _ = past
    with Project.open(path) as project:
        last = project.backups.take().generation
    make_empty(path)
    restore(path, made.path, when=NOON)
    with Project.open(path) as project:
        assert project.backups.take().generation > last


def test_the_project_itself_and_nothing_are_no_backups(past: Past) -> None:
    path, _, _, present = past
    with pytest.raises(InputError, match="the project itself"):
        restore(path, path, when=NOON)
    with pytest.raises(ProjectMissingError, match="no such backup"):
        restore(path, path.parent / "nothing.protoleaf", when=NOON)
    assert dump_of(path) == present


def test_a_backup_of_a_newer_version_is_refused(past: Past) -> None:
    path, made, _, present = past
    with closing(sqlite3.connect(made.path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ProjectTooNewError):
        restore(path, made.path, when=NOON)
    assert dump_of(path) == present


def test_a_backup_of_an_older_version_is_brought_to_the_present(tmp_path: Path) -> None:
    path = tmp_path / "old.protoleaf"
    write_first_version(path)
    shutil.copyfile(path, tmp_path / "copy.protoleaf")
    with Project.open(path) as project:
        project.classes.add("Owl")
    restore(path, tmp_path / "copy.protoleaf", when=NOON)
    with Project.open(path) as project:
        assert [project.classes.graph.name(each) for each in project.classes.graph.classes()] == [
            "Bird",
            "Gull",
        ]
        assert project.check() == []


def test_where_the_present_cannot_be_kept_nothing_is_restored(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a safety backup the restore is refused."""
    path, made, _, present = past
    (path.parent / "taken").touch()
    monkeypatch.setenv(BACKUPS_VARIABLE, str(path.parent / "taken"))
    with pytest.raises(StorageError, match="folder for backups cannot be made"):
        restore(path, made.path, when=NOON)
    assert dump_of(path) == present


@pytest.mark.slow
def test_the_present_is_kept_with_its_unfinished_commit_taken_back(tmp_path: Path) -> None:
    """After a kill in a commit, the state before it is saved and the journal is not applied."""
    project, gull, image_ids = labelled_birds(tmp_path)
    with project:
        made = project.backups.take()
        project.labels.set(image_ids, gull)
        present = dump(project)
        (tmp_path / "killed").mkdir()
        path = copy_in_the_middle_of_a_commit(project, tmp_path / "killed")
    done = restore(path, made.path, when=NOON)
    assert dump_of(kept_by(done)) == present
    assert len(dump_of(path)["label"]) == 2


@pytest.mark.slow
@posix_only
def test_a_kill_leaves_the_old_or_the_new_project_whole(past: Past) -> None:
    """After a kill at any file operation, the project is complete, old or new.

    Neither state is lost.
    """
    path, made, before, present = past
    setup = (
        "from pathlib import Path\nfrom engine.project.backups.restoring import restore\n"
        "from engine.project.clock import present_time"
    )
    action = "restore(Path(sys.argv[2]), Path(sys.argv[3]), when=present_time())"
    home, store = path.parent / "start", backups_folder()
    home.mkdir()
    shutil.copyfile(path, home / path.name)
    count = run_and_kill(setup, action, 0, [str(path), str(made.path)])
    assert count is not None
    outcomes = []
    for at in range(1, count + 1, max(1, count // 12)):
        shutil.copyfile(home / path.name, path)
        assert run_and_kill(setup, action, at, [str(path), str(made.path)]) is None
        found = dump_of(path)
        assert found in (before, present)
        outcomes.append(found == before)
        assert Project.faults_of(made.path) == []
        if found == before:
            assert any(
                not backup.fault
                and backup.reason is BackupReason.RESTORE
                and dump_of(backup.path) == present
                for backup in offer_for(path).all
            )
    assert outcomes == sorted(outcomes), "once it is restored, it stays so"
    assert store.is_dir()


def test_no_two_states_are_taken_for_the_same(past: Past) -> None:
    """Generations continue from the present state, so no new backup equals an existing one."""
    path, made, _, _ = past
    with Project.open(path) as project:
        newest = project.backups.take().generation
    restore(path, made.path, when=NOON)
    with Project.open(path) as project:
        project.classes.add("Tern")
        backup = project.backups.take_quarterly()
        assert backup is not None
        assert backup.generation > newest
