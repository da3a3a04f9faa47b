"""Invalid values in a file: refused with one line, no traceback."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.errors import InputError, ProjectDamagedError, ProjectError
from engine.project import Project
from tests.support.projects import (
    FIRST_SCHEMA,
    bird_project,
    change_file,
    new_project,
    trained_model,
)

OLD: dict[str, str] = {
    "name as blob": "UPDATE class SET name = x'ff00'",
    "name of a megabyte": "UPDATE class SET name = hex(zeroblob(500000)) WHERE class_id = 1",
    "empty name": "UPDATE class SET name = '' WHERE class_id = 1",
    "text as bar": "INSERT INTO class_policy VALUES (2, 'high', 0)",
    "bar above one": "INSERT INTO class_policy VALUES (2, 7.0, 0)",
    "missing setting": "DELETE FROM setting",
    "model that is not there": "UPDATE setting SET value = '77'",
    "model that is no number": "UPDATE setting SET value = 'nope'",
    "setting that is no JSON": "INSERT INTO setting VALUES ('setting', '{')",
    "settings of a model": "UPDATE model_version SET settings = 'nope'",
    "settings of a model in a list": "UPDATE model_version SET settings = '[1]'",
    "time": "UPDATE label SET labelled_at = 'yesterday'",
    "time of a model": "UPDATE model_version SET created_at = '2026-99-99T99:99:99'",
    "size": "UPDATE image SET size_bytes = 'big'",
    "path that is a number": "UPDATE image SET path = 7 WHERE image_id = 1",
    "dangling edge": "INSERT INTO edge VALUES (2, 99)",
    "cycle": "INSERT INTO edge VALUES (2, 1)",
    "namesakes": "INSERT INTO class (class_id, name) VALUES (7, 'Bird')",
    "label of nothing": "UPDATE label SET class_id = 99",
    "hash of the wrong kind": "INSERT INTO image_fact VALUES (1, 'text', NULL)",
    "score": "INSERT INTO prediction VALUES ('ppn+', 1, 1, 2, 'high', NULL, 0)",
    "history": "UPDATE journal_chunk SET row_changes = 5",
    "history of another table": "UPDATE journal_chunk SET row_changes = '[[\"notes\",null,[1]]]'",
    "history that nests without end": "UPDATE journal_chunk SET row_changes = "
    "replace(hex(zeroblob(50000)), '0', '[')",
    "missing column": "ALTER TABLE label DROP COLUMN source",
    "missing table": "DROP TABLE label",
    "newer table": "CREATE TABLE model_file (hash TEXT)",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON label BEGIN DELETE FROM label; END",
    "view": "CREATE VIEW v AS SELECT * FROM label",
}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of version 1, whose tables accept any value."""
    with closing(sqlite3.connect(tmp_path / "old.protoleaf")) as connection:
        connection.executescript(FIRST_SCHEMA)
    return tmp_path / "old.protoleaf"


def _only_ours(use: Callable[[], object]) -> str:
    with pytest.raises(ProjectError) as caught:
        use()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2_000
    return str(caught.value)


@pytest.mark.parametrize("what", OLD)
def test_a_wrong_value_in_an_older_project_is_one_clear_line(old: Path, what: str) -> None:
    """Opening refuses it, `check` lists it, the file is unchanged without a backup."""
    change_file(old, OLD[what])
    before = old.read_bytes()
    assert Project.faults_of(old)
    _only_ours(lambda: Project.open(old, for_writing=False))
    assert old.read_bytes() == before
    _only_ours(lambda: Project.open(old))
    assert old.read_bytes() == before


PRESENT: dict[str, str] = {
    "missing index": "DROP INDEX label_by_class",
    "strange table": "CREATE TABLE notes (text)",
    "trigger": "CREATE TRIGGER t AFTER UPDATE ON file_state BEGIN DELETE FROM label; END",
    "view": "CREATE VIEW v AS SELECT * FROM label",
    "figures": 'UPDATE model_version SET figures = \'{"before_accuracy": "nope"}\'',
    "figures that are none": "UPDATE model_version SET figures = 'nope'",
    "label without history": "INSERT INTO label VALUES (1, 2, 'ada', '2026-01-02T03:04:05+00:00', "
    "'review', 0)",
    "source id without history": "UPDATE class SET source_id = 'n1' WHERE class_id = 2",
    "synonym without history": "UPDATE class SET synonyms = 'Larus' WHERE class_id = 2",
    "note without history": "INSERT INTO class_detail VALUES (2, 'seen in May', '', 0)",
    "note on no class": "INSERT INTO class_detail VALUES (999, 'seen in May', '', 0)",
    "ids given twice": "UPDATE sqlite_sequence SET seq = 0 WHERE name = 'class'",
    "no identity": "DELETE FROM file_state",
}


@pytest.mark.parametrize("what", PRESENT)
def test_a_wrong_value_in_a_present_project_is_one_clear_line(tmp_path: Path, what: str) -> None:
    """Also values that the present tables accept."""
    project, _, _ = bird_project(tmp_path)
    project.models.add_trained(trained_model())
    project.close()
    change_file(project.path, PRESENT[what])
    before = project.path.read_bytes()
    assert Project.faults_of(project.path)
    for for_writing in (False, True):
        _only_ours(lambda each=for_writing: Project.open(project.path, for_writing=each))  # type: ignore[misc]
    assert project.path.read_bytes() == before


@pytest.mark.parametrize("place", [18, 19, 44, 47, 56, 59])
def test_an_edited_header_is_one_clear_line(tmp_path: Path, place: int) -> None:
    """Header fields that SQLite refuses with errors of its own."""
    new_project(tmp_path).close()
    path = tmp_path / "birds.protoleaf"
    content = bytearray(path.read_bytes())
    content[place] ^= 0x7F
    path.write_bytes(content)
    assert Project.faults_of(path)
    for for_writing in (False, True):
        _only_ours(lambda each=for_writing: Project.open(path, for_writing=each))  # type: ignore[misc]
    assert path.read_bytes() == bytes(content)


@pytest.mark.parametrize("version", [0, -1, -(2**31)])
def test_a_version_that_never_was_leaves_no_backup(tmp_path: Path, version: int) -> None:
    """It is refused before anything is written."""
    new_project(tmp_path).close()
    path = tmp_path / "birds.protoleaf"
    change_file(path, f"PRAGMA user_version = {version}")
    for for_writing in (False, True):
        with pytest.raises(ProjectDamagedError, match="does not exist"):
            Project.open(path, for_writing=for_writing)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_what_is_too_long_is_refused_at_the_door(tmp_path: Path) -> None:
    """The tables refuse excessive lengths, and nothing changes."""
    project, gull, images = bird_project(tmp_path)
    with pytest.raises(InputError, match="too long"):
        project.labels.set(images, gull, who="x" * 5_000)
    with pytest.raises(InputError, match="too long"):
        project.policies.set_setting("notes", "x" * 2_000_000)
    assert project.labels.by_image() == {}
    assert project.check() == []
    project.images.record_scan([(images[0], None, "x" * 50_000)])
    assert len(project.images.records()[0].failure or "") == 10_000
    project.close()


def test_what_is_wrong_with_a_trained_model_is_reported_and_others_can_be_used(
    tmp_path: Path,
) -> None:
    """It is reported, and the project can be opened and use another model."""
    project, _, _ = bird_project(tmp_path)
    project.models.add_trained(trained_model("Mine"))
    project.close()
    change_file(project.path, "UPDATE model_file SET content = x'00'")
    assert any("Mine" in fault for fault in Project.faults_of(project.path))
    with Project.open(project.path) as opened:
        assert opened.models.current.version_id == 1


@pytest.mark.parametrize(
    "value",
    ["source_id = x'ff'", "source_id = hex(zeroblob(501))", "synonyms = hex(zeroblob(128001))"],
)
def test_the_tables_refuse_aliases_that_no_import_brings(tmp_path: Path, value: str) -> None:
    """As with names."""
    project, _, _ = bird_project(tmp_path)
    project.close()
    with pytest.raises(sqlite3.IntegrityError, match=r"CHECK|cannot store BLOB"):
        change_file(project.path, f"UPDATE class SET {value}")  # noqa: S608 (our own)


@pytest.mark.parametrize(
    "values",
    ["x'ff', ''", "hex(zeroblob(5001)), ''", "'', 'red'", "'', '#00FF7F'", "'', '#00ff7f '"],
)
def test_the_tables_refuse_notes_and_colours_that_no_action_sets(
    tmp_path: Path, values: str
) -> None:
    """As with names."""
    project, gull, _ = bird_project(tmp_path)
    project.close()
    with pytest.raises(sqlite3.IntegrityError, match=r"CHECK|cannot store BLOB"):
        change_file(project.path, f"INSERT INTO class_detail VALUES ({gull}, {values}, 0)")  # noqa: S608 (our own)
