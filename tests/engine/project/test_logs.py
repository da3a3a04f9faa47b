"""SQLite logs next to a project: its own are applied, others are moved away."""

import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from engine.errors import ProjectDamagedError
from engine.project import Project
from engine.project.connection import Connection
from engine.project.file.on_disk import JOURNAL_MAGIC, is_hot
from engine.project.schema import SCHEMA_VERSION
from tests.support.projects import (
    bird_project,
    connection_of,
    copy_in_the_middle_of_a_commit,
    dump,
    found_files,
    named,
    write_first_version,
)


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    """A project after a kill in the middle of a commit.

    Four labels were acknowledged before.
    """
    (tmp_path / "source").mkdir()
    (tmp_path / "killed").mkdir()
    project, gull, images = bird_project(tmp_path / "source")
    project.labels.set(images, gull)
    copy = copy_in_the_middle_of_a_commit(project, tmp_path / "killed")
    project.close()
    assert is_hot(journal_of(copy))
    return copy


def journal_of(path: Path) -> Path:
    """Path of the journal of a project."""
    return path.with_name(path.name + "-journal")


def closed_backup(folder: Path) -> Path:
    """An earlier copy of the project without labels, closed properly."""
    project, gull, images = bird_project(folder)
    project.close()
    backup = folder / "backup.protoleaf"
    shutil.copyfile(project.path, backup)
    with Project.open(project.path) as again:
        again.labels.set(images, gull)
    return backup


def set_aside(folder: Path) -> list[str]:
    """Names of the logs that were moved away."""
    return sorted(path.name for path in folder.iterdir() if ".set-aside-" in path.name)


@pytest.mark.slow
def test_an_unfinished_commit_is_taken_back(interrupted: Path) -> None:
    """Opening for writing rolls it back and removes the journal."""
    with Project.open(interrupted) as project:
        assert len(project.labels.by_image()) == 4
        assert project.classes.graph.name(2) == "Gull"
        assert project.check() == []
    assert [path.name for path in interrupted.parent.iterdir()] == ["birds.protoleaf"]


@pytest.mark.slow
def test_checking_an_unfinished_commit_changes_no_byte(interrupted: Path) -> None:
    """`check` rolls it back in a copy."""
    before = {path.name: path.read_bytes() for path in interrupted.parent.iterdir()}
    assert Project.faults_of(interrupted) == []
    with Project.open(interrupted, for_writing=False) as reader:
        assert len(reader.labels.by_image()) == 4
    assert {path.name: path.read_bytes() for path in interrupted.parent.iterdir()} == before


@pytest.mark.slow
def test_a_journal_is_found_after_its_project_was_renamed(interrupted: Path) -> None:
    """After a kill and renaming, the journal with the old name is found and applied."""
    moved = interrupted.rename(interrupted.with_name("other.protoleaf"))
    with Project.open(moved, for_writing=False) as reader:
        assert len(reader.labels.by_image()) == 4
    with Project.open(moved) as project:
        assert len(project.labels.by_image()) == 4
        assert project.check() == []
    assert [path.name for path in moved.parent.iterdir()] == ["other.protoleaf"]


@pytest.mark.slow
def test_half_a_commit_without_its_journal_is_never_called_sound(interrupted: Path) -> None:
    """Without its journal the file is reported as damaged."""
    journal_of(interrupted).unlink()
    assert Project.faults_of(interrupted)
    for for_writing in (True, False):
        with pytest.raises(ProjectDamagedError, match="damaged"):
            Project.open(interrupted, for_writing=for_writing)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["check", "read", "write"])
def test_a_backup_put_over_the_project_stays_what_it_is(
    tmp_path: Path, interrupted: Path, first: str
) -> None:
    """A journal of a later state is not applied to a restored backup but moved away."""
    home = tmp_path / "home"
    home.mkdir()
    backup = closed_backup(home)
    path = home / "birds.protoleaf"
    shutil.copyfile(journal_of(interrupted), journal_of(path))
    shutil.copyfile(backup, path)
    before = path.read_bytes()
    if first == "check":
        assert Project.faults_of(path) == []
    elif first == "read":
        Project.open(path, for_writing=False).close()
    if first != "write":
        assert path.read_bytes() == before
        assert journal_of(path).exists(), "reading changes nothing"
    with Project.open(path) as project:
        assert len(project.labels.by_image()) == 0
        assert project.images.count == 4
        assert project.check() == []
    (kept,) = set_aside(home)
    assert (home / kept).read_bytes() == journal_of(interrupted).read_bytes()


@pytest.mark.slow
def test_a_commit_that_was_killed_before_it_wrote_leaves_nothing(tmp_path: Path) -> None:
    """A kill before the first write of the first commit: the journal is the project's own."""
    project, gull, images = bird_project(tmp_path)
    project.close()
    sealed = project.path.read_bytes()
    with (
        Project.open(project.path) as again,
        suppress(ZeroDivisionError),
        again.history.one_step(named("Label")),
    ):
        again.labels.set(images, gull)
        # SQLite writes the original pages to the journal, under a header, before it changes the
        # file.
        connection_of(again).value("PRAGMA cache_size = 1")
        connection_of(again).value("PRAGMA cache_spill = 1")
        again.images.add(found_files(tmp_path / "spilled", 3_000, start=1_000))
        journal = journal_of(project.path).read_bytes()
        raise ZeroDivisionError
    project.path.write_bytes(sealed)
    journal_of(project.path).write_bytes(journal)
    assert is_hot(journal_of(project.path))
    with Project.open(project.path) as opened:
        assert (opened.images.count, opened.labels.by_image()) == (4, {})
    assert set_aside(tmp_path) == []


def journal_for(before: bytes, *page_numbers: int) -> bytes:
    """A journal with the original pages, as SQLite writes it."""
    page_bytes, nonce = 4096, 99
    parts = [
        struct.pack(
            ">8sIIIII",
            JOURNAL_MAGIC,
            len(page_numbers),
            nonce,
            len(before) // page_bytes,
            512,
            page_bytes,
        )
    ]
    parts.append(bytes(512 - len(parts[0])))
    for number in page_numbers:
        page = before[(number - 1) * page_bytes : number * page_bytes]
        checksum = nonce + sum(page[place] for place in range(page_bytes - 200, 0, -200))
        parts.append(struct.pack(">I", number) + page + struct.pack(">I", checksum))
    return b"".join(parts)


def test_a_kill_in_the_middle_of_sealing_leaves_nothing(tmp_path: Path) -> None:
    """After a kill between sealing and deleting the journal, rolling back removes the seal only."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images, gull)
    state_page = int(
        connection_of(project).value("SELECT rootpage FROM sqlite_schema WHERE name = 'file_state'")
    )
    before = project.path.read_bytes()
    project.close()
    journal_of(project.path).write_bytes(journal_for(before, state_page, 1))
    assert Project.faults_of(project.path) == []
    with Project.open(project.path) as opened:
        assert len(opened.labels.by_image()) == 4
        assert opened.check() == []
    assert [path.name for path in tmp_path.iterdir()] == [project.path.name]


@pytest.mark.slow
def test_a_killed_migration_is_taken_back_and_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill in the middle and at the end of each step.

    The journal of the step that adds the mark has none.
    """
    path = tmp_path / "old"
    write_first_version(path)
    killed: list[Path] = []
    real = Connection.transaction

    def kill_here(journal: bytes) -> None:
        copy = tmp_path / f"killed {len(killed)}" / "old"
        copy.parent.mkdir()
        shutil.copyfile(path, copy)
        journal_of(copy).write_bytes(journal)
        killed.append(copy)

    @contextmanager
    def caught(connection: Connection) -> Iterator[None]:
        journal = b""
        if connection.path == path:
            connection.write(
                "PRAGMA synchronous = OFF"
            )  # all changed pages are in the journal at once
        with real(connection):
            yield
            if connection.path == path and journal_of(path).exists():
                # Changed pages are written before the commit, and the journal's header before them.
                connection.value("PRAGMA cache_size = 1")
                connection.write("CREATE TABLE filler (text)")
                connection.write("INSERT INTO filler VALUES (zeroblob(400000))")
                connection.write("DROP TABLE filler")
                journal = journal_of(path).read_bytes()
                kill_here(journal)
        if journal:
            kill_here(journal)

    monkeypatch.setattr(Connection, "transaction", caught)
    Project.open(path).close()
    monkeypatch.undo()
    assert len(killed) >= 2 * (SCHEMA_VERSION - 1)
    for copy in killed:
        assert is_hot(journal_of(copy))
        with Project.open(copy) as project:
            assert len(project.labels.by_image()) == 1
            assert project.check() == []
        assert set_aside(copy.parent) == []


@pytest.mark.slow
def test_an_open_copy_put_over_the_project_stays_what_it_is(
    interrupted: Path, tmp_path: Path
) -> None:
    """Also a copy taken while the project was open, which has no seal."""
    (tmp_path / "other").mkdir()
    project, gull, images = bird_project(tmp_path / "other")
    project.labels.set(images[:2], gull)
    shutil.copyfile(project.path, interrupted)
    look = dump(project)
    project.close()
    with Project.open(interrupted) as opened:
        assert dump(opened) == look
    assert len(set_aside(interrupted.parent)) == 1


def stale_log(path: Path, journal: Path) -> None:
    """Leave a write-ahead log next to a project, as a kill of versions 1 and 2 did."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE class SET name = 'Later' WHERE class_id = 1")
        connection.commit()
        shutil.copyfile(f"{path}-wal", journal)


def test_a_stale_write_ahead_log_is_not_merged(tmp_path: Path) -> None:
    """SQLite would merge any log of the right name.

    The project has no write-ahead log, so it is moved away.
    """
    backup = closed_backup(tmp_path)
    path = tmp_path / "birds.protoleaf"
    stale_log(path, tmp_path / "kept-wal")
    shutil.copyfile(backup, path)
    shutil.copyfile(tmp_path / "kept-wal", f"{path}-wal")
    before = path.read_bytes()
    assert Project.faults_of(path) == []
    assert path.read_bytes() == before
    with Project.open(path, for_writing=False) as reader:
        assert reader.classes.graph.name(1) == "Bird"
    with Project.open(path) as project:
        assert project.classes.graph.name(1) == "Bird"
        assert project.check() == []
    assert len(set_aside(tmp_path)) == 1


def test_the_log_of_an_older_version_is_merged(tmp_path: Path) -> None:
    """A write-ahead log of a killed older version is the project's own and is merged."""
    path, copy = tmp_path / "old", tmp_path / "copy"
    write_first_version(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO image_fact VALUES (1, NULL, 'the file is empty')")
        connection.commit()
        shutil.copyfile(path, copy)
        shutil.copyfile(f"{path}-wal", f"{copy}-wal")
    with Project.open(copy, for_writing=False) as reader:
        assert reader.images.record(1).failure == "the file is empty"
    with Project.open(copy) as project:
        assert project.images.record(1).failure == "the file is empty"
    assert not Path(f"{copy}-wal").exists()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["-journal", "-wal"])
def test_a_log_that_comes_beside_the_open_project_is_set_aside(
    tmp_path: Path, interrupted: Path, suffix: str
) -> None:
    """A log written by a sync program next to an open project is not applied."""
    home = tmp_path / "home"
    home.mkdir()
    project, gull, images = bird_project(home)
    project.labels.set(images[:1], gull)
    if suffix == "-journal":
        journal_of(interrupted).replace(journal_of(project.path))
    else:
        stale_log(interrupted_copy(tmp_path), tmp_path / "kept-wal")
        shutil.copyfile(tmp_path / "kept-wal", f"{project.path}-wal")
    assert len(project.labels.by_image()) == 1
    project.images.add(found_files(home, 3, start=50))
    project.close()
    assert len(set_aside(home)) == 1
    with Project.open(project.path) as again:
        assert (again.images.count, len(again.labels.by_image()), again.check()) == (7, 1, [])


def interrupted_copy(folder: Path) -> Path:
    """Another interrupted project of the same size."""
    (folder / "twin").mkdir()
    project, _, _ = bird_project(folder / "twin")
    project.close()
    return project.path


@pytest.mark.parametrize("for_writing", [True, False])
def test_whoever_reads_while_a_commit_is_unfinished_elsewhere_waits(
    tmp_path: Path, *, for_writing: bool
) -> None:
    """The journal of a running writer is respected: readers see the state before the commit."""
    project, gull, images = bird_project(tmp_path)
    with project.history.one_step(named("Two things")):
        project.labels.set(images, gull)
        if not for_writing:
            with Project.open(project.path, for_writing=False) as reader:
                assert reader.labels.by_image() == {}
    project.close()
    assert set_aside(tmp_path) == []
