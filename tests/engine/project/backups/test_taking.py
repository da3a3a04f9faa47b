"""Taking backups: valid projects, made next to a writer, without leftovers."""

import os
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from engine.errors import Cancelled, ProjectDamagedError, StorageError
from engine.events import CancelToken, Progress
from engine.project import BackupReason, Project
from engine.project.backups import taking
from engine.project.backups.keeping import back_up
from engine.project.connection import Connection
from engine.project.file.file_lock import held_draft
from engine.project.file.file_state import Seal
from engine.project.opening import open_for_reading
from tests.support.backups import Clock, Writer, all_backups, backups_with, labelled_birds
from tests.support.projects import change_file, connection_of, dump, found_files, named

posix_only = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")


def test_a_backup_is_the_whole_project(tmp_path: Path) -> None:
    """It can be opened, has every acknowledged action, and is sealed."""
    project, gull, image_ids = labelled_birds(tmp_path)
    with project:
        made = project.backups.take()
        before = dump(project)
        project.labels.set(image_ids, gull)
    assert (made.classes, made.images, made.labels, made.reason, made.fault) == (
        2,
        4,
        2,
        BackupReason.ASKED,
        "",
    )
    with closing(open_for_reading(made.path)) as file:
        assert file.seal is Seal.WHOLE
    with Project.open(made.path, for_writing=False) as backup:
        assert dump(backup) == before
        assert backup.check() == []


@posix_only
def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    with labelled_birds(tmp_path)[0] as project:
        made = project.backups.take()
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700


@pytest.mark.slow
def test_backups_beside_a_writer_are_whole(tmp_path: Path) -> None:
    """Each backup during continuous labelling is one state of the project; no label fails."""
    project, gull, image_ids = labelled_birds(tmp_path, 40)
    writer = Writer(project, gull, image_ids[1::2])
    with project:
        backups = project.backups
        writer.start()
        writer.has_begun.wait()
        made = [backups.take() for _ in range(5)]
        writer.finish()
    assert writer.acknowledged > 0
    for backup in made:
        assert Project.faults_of(backup.path) == []
        assert backup.labels in (20, 21)


def test_a_writer_who_never_stops_is_held_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If commits interleave, after some attempts the copy is made in one locked step."""
    monkeypatch.setattr(taking, "PAGES_AT_ONCE", 1)
    project, gull, image_ids = labelled_birds(tmp_path)
    labelled = [0]
    real = Connection.copy_in_parts_to

    def disturbed(self: Connection, target: Connection, pages: int, on_part: object) -> bool:
        def between(_done: int, _total: int) -> None:
            labelled[0] += 1
            project.labels.set([image_ids[1]], (gull, gull - 1)[labelled[0] % 2])

        return real(self, target, pages, between)

    monkeypatch.setattr(Connection, "copy_in_parts_to", disturbed)
    with project:
        made = project.backups.take()
        assert labelled[0] >= 6
        assert Project.faults_of(made.path) == []
        with Project.open(made.path, for_writing=False) as backup:
            assert dump(backup) == dump(project)


def test_a_name_that_is_taken_is_never_overwritten(tmp_path: Path) -> None:
    with labelled_birds(tmp_path)[0] as project:
        backups = backups_with(project, Clock())
        first = backups.take()
        content = first.path.read_bytes()
        second = backups.take()
    assert second.path.name == first.path.name.replace(")", ") 2")
    assert first.path.read_bytes() == content


def test_a_backup_that_does_not_read_back_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is verified before it gets its name: a disk that loses pages leaves no backup."""
    real = taking.row_counts
    with labelled_birds(tmp_path)[0] as project:
        monkeypatch.setattr(
            taking, "row_counts", lambda connection: {**real(connection), "label": id(connection)}
        )
        with pytest.raises(StorageError, match="differs from the project"):
            project.backups.take()
        monkeypatch.undo()
        folder = project.backups.take().path.parent
    assert len(list(folder.iterdir())) == 1


def test_a_damaged_project_gives_no_backup(tmp_path: Path) -> None:
    """A project with broken references is not backed up."""
    with labelled_birds(tmp_path)[0] as project:
        connection_of(project).write("PRAGMA foreign_keys = OFF")
        connection_of(project).write("UPDATE label SET class_id = 99")
        with pytest.raises(ProjectDamagedError, match="refers to another one that is missing"):
            project.backups.take()
        assert all_backups(project) == []


def test_a_stopped_backup_leaves_nothing(tmp_path: Path) -> None:
    with labelled_birds(tmp_path)[0] as project:
        cancel = CancelToken()
        cancel.cancel()
        with pytest.raises(Cancelled):
            project.backups.take(cancel=cancel)
        folder = project.backups.take().path.parent
    assert len(list(folder.iterdir())) == 1


@pytest.mark.slow
def test_a_backup_says_how_far_it_is(tmp_path: Path) -> None:
    """In steps up to the end; cancelling leaves nothing."""
    project, *_ = labelled_birds(tmp_path)
    with project:
        project.images.add(found_files(tmp_path, 60_000))
    seen: list[Progress] = []
    cancel = CancelToken()

    def stop_at_the_second(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) == 2:
            cancel.cancel()

    folder = tmp_path / "backups by hand"
    folder.mkdir()
    with pytest.raises(Cancelled):
        back_up(project.path, folder, on_progress=stop_at_the_second, cancel=cancel)
    assert list(folder.iterdir()) == []
    assert [each.done < each.total for each in seen] == [True, True]
    back_up(project.path, folder, on_progress=seen.append)
    assert seen[-1].done == seen[-1].total > 0


def test_drafts_of_killed_programs_are_cleared(tmp_path: Path) -> None:
    """At the next opening, next to the project and its backups.

    A draft in use stays.
    """
    with labelled_birds(tmp_path)[0] as project:
        folder = project.backups.take().path.parent
    left = [tmp_path / ".aa.protoleaf-new-db", folder / ".bb.protoleaf-new-db"]
    written = folder / ".cc.protoleaf-new-db"
    long_ago = 1_000_000_000
    for draft in (*left, written):
        draft.touch()
        os.utime(draft, (long_ago, long_ago))
    with held_draft(written):
        Project.open(project.path).close()
    assert [draft.exists() for draft in left] == [False, False]
    assert written.exists()


@posix_only
def test_a_link_under_the_name_is_not_written_through(tmp_path: Path) -> None:
    """A link at the next backup's name does not get its target overwritten."""
    victim = tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    with labelled_birds(tmp_path)[0] as project:
        backups = backups_with(project, Clock())
        first = backups.take().path
        first.unlink()
        first.symlink_to(victim)
        second = backups.take().path
    assert second != first
    assert victim.read_text(encoding="utf-8") == "mine"


def test_a_closed_or_read_only_project_is_backed_up(tmp_path: Path) -> None:
    """`backup` needs no write permission: nothing in the project's folder changes."""
    project, *_ = labelled_birds(tmp_path)
    project.close()
    before = project.path.read_bytes()
    made = back_up(project.path)
    assert made.labels == 2
    assert project.path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [project.path.name]


def test_a_damaged_file_is_not_backed_up_as_a_project(tmp_path: Path) -> None:
    project, *_ = labelled_birds(tmp_path)
    project.close()
    change_file(project.path, "UPDATE label SET who = 'eve' WHERE image_id = 1")
    with pytest.raises(ProjectDamagedError):
        back_up(project.path)


def test_the_copy_runs_on_any_thread(tmp_path: Path) -> None:
    """It does not use the writer's connection."""
    with labelled_birds(tmp_path)[0] as project:
        backups, made = project.backups, []
        with project.history.one_step(named("A long action")) as step:
            step.connection.write("UPDATE class SET name = name")
            thread = threading.Thread(target=lambda: made.append(backups.take()))
            thread.start()
            thread.join()
    assert [each.labels for each in made] == [2]


def test_sqlite_can_read_it_without_the_program(tmp_path: Path) -> None:
    with labelled_birds(tmp_path)[0] as project:
        made = project.backups.take()
    with closing(sqlite3.connect(made.path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
