"""Migrations of older files: on a backup, all or nothing."""

import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.config import BACKUPS_VARIABLE
from engine.errors import ProjectDamagedError, StorageError
from engine.graph.class_attributes import NO_ATTRIBUTES, ClassAttributes
from engine.project import BackupReason, Project, migrations, opening, schema
from engine.project.actions import old_action
from engine.project.backups.contents import changes_between, contents_of_backup
from engine.project.backups.listing import backups_of
from engine.project.backups.restoring import restore
from engine.project.clock import present_time
from engine.project.connection import Connection
from engine.project.file import on_disk
from engine.project.file.file_state import has_seal, put_seal, reader_of
from engine.project.file.on_disk import address
from engine.project.migrations import Migration
from engine.project.schema import CLASS_COLUMNS, SCHEMA, SCHEMA_VERSION
from tests.support.eighth_version import write_eighth_version
from tests.support.eleventh_version import write_eleventh_version
from tests.support.fifth_version import write_fifth_version
from tests.support.fourth_version import write_fourth_version
from tests.support.ninth_version import write_ninth_version
from tests.support.projects import (
    change_file,
    connection_of,
    named,
    new_project,
    trained_model,
    write_first_version,
)
from tests.support.seventh_version import write_seventh_version
from tests.support.sixth_version import write_sixth_version
from tests.support.tenth_version import write_tenth_version
from tests.support.third_version import write_third_version
from tests.support.twelfth_version import write_twelfth_version


def _shape_of(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
        ).fetchall()
    # A column added later has other white space.
    return [(name, re.sub(r"\s*([(),])\s*", r"\1", " ".join(sql.split()))) for name, sql in rows]


def _add_a_column(connection: Connection) -> None:
    connection.write("ALTER TABLE class ADD COLUMN note TEXT NOT NULL DEFAULT 'none'")


def _break_half_way(connection: Connection) -> None:
    connection.write("DELETE FROM label")
    raise StorageError("the disk is full")


# As SQLite writes the table when it adds the column.
_WITH_NOTES = (
    f"{CLASS_COLUMNS}\n) STRICT;",
    f"{CLASS_COLUMNS}, note TEXT NOT NULL DEFAULT 'none') STRICT;",
)


def _register(monkeypatch: pytest.MonkeyPatch, *steps: Migration) -> None:
    for module in (migrations, opening, on_disk):
        monkeypatch.setattr(module, "SCHEMA_VERSION", SCHEMA_VERSION + len(steps))
    monkeypatch.setattr(schema, "SCHEMA", SCHEMA.replace(*_WITH_NOTES))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, *steps))


NEXT = SCHEMA_VERSION + 1
TWO_STEPS = (
    Migration(SCHEMA_VERSION, NEXT, "classes have notes", _add_a_column),
    Migration(
        NEXT,
        NEXT + 1,
        "notes are empty",
        lambda connection: connection.script("UPDATE class SET note = ''"),
    ),
)


def test_a_migrated_file_has_the_shape_of_a_new_one(tmp_path: Path) -> None:
    """A migrated file of version 1 has the same tables as a new one."""
    write_first_version(tmp_path / "old")
    Project.open(tmp_path / "old").close()
    new_project(tmp_path).close()
    assert SCHEMA
    assert _shape_of(tmp_path / "old") == _shape_of(tmp_path / "birds.protoleaf")


def test_the_first_version_is_read_and_its_history_works(tmp_path: Path) -> None:
    """A file of version 1 is read, and its history works."""
    write_first_version(tmp_path / "old")
    with Project.open(tmp_path / "old") as project:
        assert project.check() == []
        label = project.labels.of(1)
        assert label is not None
        assert (label.class_id, label.who, label.when.year) == (2, "ada", 2026)
        project.history.undo()
        project.history.undo()
        assert project.classes.graph.name(2) == "Mew"
        assert project.labels.by_image() == {}
        project.history.redo()
        project.history.redo()
        assert project.labels.of(1) == label


@pytest.mark.slow
def test_an_older_file_is_migrated_on_a_verified_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each migration step runs in order.

    The backup has the old version and can be opened.
    """
    path = tmp_path / "old"
    write_first_version(path)
    before = _shape_of(path)
    with monkeypatch.context() as patch:
        _register(patch, *TWO_STEPS)
        with Project.open(path) as project:
            assert project.schema_version == NEXT + 1
            assert connection_of(project).rows("SELECT name, note FROM class") == [
                ("Bird", ""),
                ("Gull", ""),
            ]
            assert len(project.labels.by_image()) == 1
            assert project.check() == []
            project_id = project.backups.project_id
    (backup,) = backups_of(path, project_id, is_verified=True)
    assert (backup.reason, backup.labels, backup.fault) == (BackupReason.MIGRATION, 1, "")
    assert _shape_of(backup.path) == before
    restore(path, backup.path, when=present_time())
    with Project.open(path) as project:
        assert len(project.labels.by_image()) == 1


def test_history_from_before_a_migration_can_be_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows in the history of an older version have fewer columns, and can be undone and redone."""
    write_first_version(tmp_path / "old")
    _register(monkeypatch, *TWO_STEPS)
    with Project.open(tmp_path / "old") as project:
        project.history.undo()
        project.history.undo()
        assert project.classes.graph.name(2) == "Mew"
        project.history.redo()
        assert project.classes.graph.name(2) == "Gull"
        assert project.check() == []


def test_a_failing_migration_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing step is found on a copy: the file is unchanged and no backup is made."""
    path = tmp_path / "old"
    write_first_version(path)
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        _register(patch, Migration(SCHEMA_VERSION, NEXT, "breaks", _break_half_way))
        for _ in range(2):
            with pytest.raises(StorageError, match="disk is full"):
                Project.open(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["old"]
    with Project.open(path) as project:
        assert project.schema_version == SCHEMA_VERSION
        assert len(project.labels.by_image()) == 1


def test_without_a_backup_nothing_is_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Migrations cannot be undone, so without a backup the file is unchanged."""
    path = tmp_path / "old"
    write_first_version(path)
    before = path.read_bytes()
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    monkeypatch.setenv(BACKUPS_VARIABLE, str(tmp_path / "taken"))
    with pytest.raises(StorageError, match="could not be backed up, so it was left as it is"):
        Project.open(path)
    assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["old", "taken"]


@pytest.mark.slow
def test_a_project_keeps_its_identity_through_a_migration(tmp_path: Path) -> None:
    """Two migrated copies of one file are copies of one project; its old backup stays its own."""
    write_first_version(tmp_path / "old")
    shutil.copyfile(tmp_path / "old", tmp_path / "copy")
    with Project.open(tmp_path / "old") as old, Project.open(tmp_path / "copy") as copy:
        assert old.backups.project_id == copy.backups.project_id
        backups = backups_of(tmp_path / "old", old.backups.project_id)
        assert {backup.project_id for backup in backups} == {old.backups.project_id}
        assert [backup.reason for backup in backups].count(BackupReason.MIGRATION) == 2


def test_models_of_the_first_version_are_as_they_were(tmp_path: Path) -> None:
    """From version 2 on a project may contain trained models.

    An older one keeps its model and can get one.
    """
    write_first_version(tmp_path / "old")
    with Project.open(tmp_path / "old") as project:
        (version,) = project.models.versions()
        assert (
            version.label,
            version.is_trained_here,
            version.parent_id,
            dict(version.figures),
        ) == (
            "tiny",
            False,
            None,
            {},
        )
        added = project.models.add_trained(trained_model(parent_id=version.version_id))
        assert project.models.version(added.version_id) == added
        assert project.models.current == version


def test_an_older_file_is_read_without_changing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For reading it is migrated in memory.

    File and folder are unchanged.
    """
    path = tmp_path / "old"
    write_first_version(path)
    before = path.read_bytes()
    _register(monkeypatch, *TWO_STEPS)
    with Project.open(path, for_writing=False) as project:
        assert project.schema_version == NEXT + 1
        assert len(project.labels.by_image()) == 1
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["old"]


def test_a_version_that_never_was_is_damage(tmp_path: Path) -> None:
    """A version below 1 is refused."""
    write_first_version(tmp_path / "old")
    change_file(tmp_path / "old", "PRAGMA user_version = 0")
    with pytest.raises(ProjectDamagedError, match="does not exist"):
        Project.open(tmp_path / "old")


@pytest.mark.slow
def test_classes_of_the_third_version_get_room_for_aliases(tmp_path: Path) -> None:
    """Version 3 migrates on a verified backup; classes have no ids; everything can be undone."""
    path = tmp_path / "third"
    write_third_version(path)
    before = _shape_of(path)
    new_project(tmp_path).close()
    with Project.open(path) as project:
        assert project.schema_version == SCHEMA_VERSION
        assert _shape_of(path) == _shape_of(tmp_path / "birds.protoleaf")
        assert project.check() == []
        (backup,) = backups_of(path, project.backups.project_id, is_verified=True)
        assert changes_between(contents_of_backup(backup.path), project.contents()).is_empty
        assert str(project.history.redo_action) == "Add class Tern"
        project.history.redo()
        gull, tern = project.classes.graph.find("Gull"), project.classes.graph.find("Tern")
        assert project.classes.graph.attributes(tern) == NO_ATTRIBUTES
        project.classes.edit(
            lambda graph: graph.set_attributes(gull, ClassAttributes("n1", ("Larus",))),
            named("Import ids"),
        )
        assert (
            changes_between(contents_of_backup(backup.path), project.contents()).classes_changed
            == 1
        )
    assert (backup.reason, backup.labels, _shape_of(backup.path)) == (
        BackupReason.MIGRATION,
        1,
        before,
    )
    with Project.open(path) as project:
        assert project.check() == []
        assert project.classes.graph.find("Larus") == gull
        texts = []
        while project.history.undo() is not None:
            texts.append(str(project.history.redo_action))
            assert project.check() == []
        assert (len(texts), texts[-1], len(project.classes.graph)) == (7, "Add class Bird", 0)
        while project.history.redo() is not None:
            pass
        assert (
            project.classes.graph.find("n1"),
            len(project.labels.by_image()),
            project.check(),
        ) == (gull, 1, [])
    restore(path, backup.path, when=present_time())
    with Project.open(path) as project:
        assert (
            project.classes.graph.attributes(gull),
            len(project.labels.by_image()),
            project.check(),
        ) == (
            NO_ATTRIBUTES,
            1,
            [],
        )


@pytest.mark.slow
def test_classes_of_the_fourth_version_get_room_for_notes(tmp_path: Path) -> None:
    """Version 4 migrates on a verified backup; classes have no notes; everything can be undone."""
    path = tmp_path / "fourth"
    write_fourth_version(path)
    before = _shape_of(path)
    new_project(tmp_path).close()
    with Project.open(path) as project:
        assert _shape_of(path) == _shape_of(tmp_path / "birds.protoleaf")
        assert (project.schema_version, project.check()) == (SCHEMA_VERSION, [])
        assert not any(attributes.note for _, attributes in project.classes.graph.all_attributes())
        (backup,) = backups_of(path, project.backups.project_id, is_verified=True)
        assert changes_between(contents_of_backup(backup.path), project.contents()).is_empty
        gull = project.classes.graph.find("Larus")
        project.classes.set_attributes([gull], note="seen in May", colour="#00ff7f")
        assert (
            changes_between(contents_of_backup(backup.path), project.contents()).classes_changed
            == 1
        )
    assert (backup.reason, backup.labels, _shape_of(backup.path)) == (
        BackupReason.MIGRATION,
        1,
        before,
    )
    with Project.open(path) as project:
        assert (project.classes.graph.attributes(gull).note, project.check()) == ("seen in May", [])
        texts = []
        while project.history.undo() is not None:
            texts.append(str(project.history.redo_action))
            assert project.check() == []
        assert (len(texts), texts[0], len(project.classes.graph)) == (
            7,
            "Changed note and colour of Gull",
            0,
        )
        while project.history.redo() is not None:
            pass
        assert (project.classes.graph.attributes(gull).note, project.check()) == ("seen in May", [])
    restore(path, backup.path, when=present_time())
    with Project.open(path) as project:
        assert (
            project.classes.graph.attributes(gull).note,
            len(project.labels.by_image()),
            project.check(),
        ) == (
            "",
            1,
            [],
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "write_version",
    [
        write_fifth_version,
        write_sixth_version,
        write_seventh_version,
        write_eighth_version,
        write_ninth_version,
        write_tenth_version,
        write_eleventh_version,
        write_twelfth_version,
    ],
)
def test_sentences_of_older_versions_stay_readable(
    write_version: Callable[[Path], None], tmp_path: Path
) -> None:
    """The history of versions 5 to 12 keeps its texts, on a verified backup.

    New actions are stored as codes.
    """
    path = tmp_path / "older"
    write_version(path)
    before = _shape_of(path)
    new_project(tmp_path).close()
    with Project.open(path) as project:
        assert _shape_of(path) == _shape_of(tmp_path / "birds.protoleaf")
        assert (project.schema_version, project.check()) == (SCHEMA_VERSION, [])
        (backup,) = backups_of(path, project.backups.project_id, is_verified=True)
        assert changes_between(contents_of_backup(backup.path), project.contents()).is_empty
        assert project.history.undo_action == old_action("Changed the note of Gull")
        project.labels.remove([1])
        changes = changes_between(contents_of_backup(backup.path), project.contents())
        assert (changes.steps, changes.texts) == (1, ("Removed 1 label",))
        rows = connection_of(project).rows(
            "SELECT text, code FROM journal_step ORDER BY step_id DESC LIMIT 2"
        )
        assert rows == [("", "labels_removed"), ("Changed the note of Gull", "")]
    assert (backup.reason, backup.labels, _shape_of(backup.path)) == (
        BackupReason.MIGRATION,
        1,
        before,
    )
    with Project.open(path) as project:
        steps = [(step.text, step.action.command) for step in project.history.steps(2)]
        assert steps == [
            ("Removed 1 label", "Remove 1 label"),
            ("Changed the note of Gull", "Change the note of Gull"),
        ]
        project.history.undo()
        project.history.undo()
        assert str(project.history.redo_action) == "Changed the note of Gull"
        assert project.classes.graph.attributes(project.classes.graph.find("Gull")).note == ""
        project.history.redo()
        assert project.check() == []


def test_aliases_behind_an_older_history_are_found(tmp_path: Path) -> None:
    """Aliases that the history of version 3 does not explain are reported."""
    write_third_version(tmp_path / "third")
    Project.open(tmp_path / "third").close()
    change_file(tmp_path / "third", "UPDATE class SET source_id = 'n1' WHERE class_id = 2")
    assert Project.faults_of(tmp_path / "third") == [
        "row 2 of table class is other than its history says"
    ]


def _write_sealed_third_version(path: Path) -> None:
    """A properly closed file of version 3."""
    write_third_version(path)
    with closing(Connection(path, address(path, "mode=rw"))) as connection:
        put_seal(connection, reader_of(path))
        assert has_seal(connection)


@pytest.mark.slow
def test_a_properly_closed_project_of_the_third_version_opens(tmp_path: Path) -> None:
    """Its checksum is verified before the migration and then removed."""
    path = tmp_path / "third"
    _write_sealed_third_version(path)
    before = path.read_bytes()
    with Project.open(path, for_writing=False) as project:
        assert (project.schema_version, len(project.classes.graph)) == (SCHEMA_VERSION, 2)
    assert Project.faults_of(path) == []
    assert path.read_bytes() == before
    for _ in range(2):
        with Project.open(path) as project:
            assert (project.schema_version, len(project.classes.graph), project.check()) == (
                SCHEMA_VERSION,
                2,
                [],
            )
    assert Project.faults_of(path) == []


@pytest.mark.parametrize("for_writing", [False, True])
def test_a_changed_byte_under_a_seal_of_the_third_version(
    tmp_path: Path, for_writing: bool
) -> None:
    """It is refused and unchanged: a migration does not skip the checksum."""
    path = tmp_path / "third"
    _write_sealed_third_version(path)
    content = path.read_bytes()
    assert content.count(b"photos/a.jpg") >= 1
    path.write_bytes(content.replace(b"photos/a.jpg", b"photos/b.jpg"))
    changed = path.read_bytes()
    with pytest.raises(ProjectDamagedError, match="other than"):
        Project.open(path, for_writing=for_writing)
    assert path.read_bytes() == changed
