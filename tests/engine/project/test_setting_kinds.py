"""Settings of a wrong type are listed by `check` and refused where they are read."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.collection.find_folds import USUAL_SECONDS, burst_seconds
from engine.collection.fitting import is_stage_on, setting_of
from engine.collection.graph_suggestions.suggestion import dismissed_keys
from engine.collection.importing.import_graph import known_sources
from engine.errors import ProjectDamagedError
from engine.everyday.classifier import Setting
from engine.project import Project
from engine.project.setting_kinds import KINDS, kind_of
from tests.support.projects import new_project

GOOD = {
    "setting": '"ppn"',
    "collection": "false",
    "burst_seconds": "60",
    "dismissed_graph_suggestions": '["a"]',
    "imported taxonomies": "[1, 2]",
    "imported taxonomy 0.0": '"text"',
    "settled conflict 3": '{"x": [null, true]}',
    "settled comment 3": '["x"]',
    "merged classes a": '{"ab": 3}',
    "hidden_categories": '["person"]',
    "fields": '[{"name": "sex", "kind": "choice", "choices": ["female", "male"]}]',
    "saved_searches": '{"foxes": "class:fox"}',
    "class_list_locked": "true",
    "broadest_level": "2",
    "clock_corrections": '[{"folder": "a", "camera": "", "serial": "", "seconds": 60, '
    '"zone_minutes": null}]',
}
WRONG = {
    "setting": ("3", "[]", "null"),
    "collection": ('"yes"', "1"),
    "burst_seconds": ('"60"', "NaN", "1e999", "true"),
    "dismissed_graph_suggestions": ('"a"', '{"keys": ["a"]}'),
    "imported taxonomies": ('"foo"', "[null]", "[-1]", "[1.5]", "[true]"),
    "imported taxonomy 0.0": ("{}", "5"),
    "settled conflict 3": ("[]", '{"x": 1}', '{"x": [1]}', '{"x": ["a", true]}'),
    "settled comment 3": ("{}", "[{}]"),
    "merged classes a": ("[]", '{"ab": "x"}'),
    "hidden_categories": ('"person"', "[3]"),
    "fields": ('"sex"', '[{"name": "sex"}]'),
    "saved_searches": ("[]", '{"a": 1}'),
    "class_list_locked": ('"yes"', "1"),
    "broadest_level": ('"2"', "1.5", "true"),
    "clock_corrections": ("{}", '[{"offset": "x"}]'),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with new_project(tmp_path) as project:
        return project.path


def write(path: Path, name: str, text: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, text))
        connection.execute("UPDATE file_state SET digest = NULL, is_journal_whole = 0")


def test_every_kind_is_tried() -> None:
    assert (
        {kind_of(name) for name in GOOD} == set(KINDS) == {kind_of(name) for name in WRONG} - {None}
    )


@pytest.mark.parametrize("name", GOOD)
def test_what_is_right_is_read(path: Path, name: str) -> None:
    write(path, name, GOOD[name])
    assert Project.faults_of(path) == []


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in WRONG.items() for text in texts]
)
def test_what_is_wrong_is_named(path: Path, name: str, text: str) -> None:
    """The project opens.

    A value that a default would lose is refused where it is read.
    """
    write(path, name, text)
    assert [name in fault for fault in Project.faults_of(path)] == [True]
    kind = kind_of(name)
    assert kind is not None
    with Project.open(path, for_writing=False) as project:
        if kind.has_fallback:
            assert project.policies.setting(name, "default") == "default"
            return
        with pytest.raises(ProjectDamagedError, match=name):
            project.policies.setting(name)


@pytest.mark.parametrize("text", ["[" * 100_000, "not json"])
def test_what_cannot_be_read(path: Path, text: str) -> None:
    """Python's parser raises RecursionError on deep nesting."""
    write(path, "collection", text)
    with pytest.raises(ProjectDamagedError, match="collection"):
        Project.open(path, for_writing=False)


def test_the_readers(path: Path) -> None:
    """They use the default or raise an error.

    A newer program's classifier is replaced.
    """
    for name in (
        "collection",
        "burst_seconds",
        "dismissed_graph_suggestions",
        "imported taxonomies",
        "setting",
    ):
        write(path, name, WRONG[name][0])
    with Project.open(path, for_writing=False) as project:
        assert (is_stage_on(project), burst_seconds(project), dismissed_keys(project)) == (
            True,
            USUAL_SECONDS,
            (),
        )
        assert setting_of(project) is Setting.PPN_PLUS
        with pytest.raises(ProjectDamagedError):
            known_sources(project)
    write(path, "setting", '"of tomorrow"')
    with Project.open(path, for_writing=False) as project:
        assert setting_of(project) is Setting.PPN_PLUS


@pytest.mark.parametrize("text", ["../../victim/my", "/etc/passwd", "a b", "00FF", "x\0"])
def test_a_hash_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    with Project.create(tmp_path / "odd.protoleaf", backbone_name="any", backbone_hash=text):
        pass
    (fault,) = Project.faults_of(tmp_path / "odd.protoleaf")
    assert "backbone_hash is not a hash" in fault
