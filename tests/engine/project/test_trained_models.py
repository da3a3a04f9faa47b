"""Trained models in the project file."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import InputError, ProjectDamagedError, ProjectReadOnlyError
from engine.project import Project
from tests.support.projects import change_file, connection_of, dump, new_project, trained_model


def test_a_trained_model_comes_with_its_files(tmp_path: Path) -> None:
    """They are stored by hash.

    Nothing is chosen or journaled.
    """
    with new_project(tmp_path) as project:
        before = dump(project)
        version = project.models.add_trained(trained_model())
        assert dump(project) == before
        assert project.history.undo_action is None
    with Project.open(tmp_path / "birds.protoleaf", for_writing=False) as project:
        assert project.models.current.version_id == 1
        assert project.models.versions()[1] == project.models.version(version.version_id) == version
        assert (version.label, version.parent_id, version.is_trained_here) == (
            "Tuned propagation 1",
            1,
            True,
        )
        assert version.figures == {"before_accuracy": 0.5, "after_accuracy": None}
        assert version.settings == {"iterations": 10, "depth": "propagation"}
        assert version.backbone_hash == hashlib.sha256(b"network").hexdigest()
        assert project.models.file(version.backbone_hash) == b"network"
        assert project.models.file(version.propagation_hash) == b"Tuned propagation 1"
        assert project.check() == []


def test_a_content_is_kept_once(tmp_path: Path) -> None:
    """Versions with the same backbone share its file."""
    with new_project(tmp_path) as project:
        first = project.models.add_trained(trained_model())
        second = project.models.add_trained(
            trained_model("Tuned propagation 2", parent_id=first.version_id)
        )
        assert first.backbone_hash == second.backbone_hash
        assert connection_of(project).value("SELECT COUNT(*) FROM model_file") == 3


def test_choosing_one_can_be_undone(tmp_path: Path) -> None:
    """The undo menu names it; undo keeps the version."""
    with new_project(tmp_path) as project:
        version = project.models.add_trained(trained_model())
        change = project.models.choose(version.version_id)
        assert (change.text, change.settings) == (
            "Switched to model Tuned propagation 1",
            ("model_version",),
        )
        assert project.models.current == version
        project.history.undo()
        assert project.models.current.version_id == 1
        assert len(project.models.versions()) == 2


def test_a_model_from_nowhere_is_refused_whole(tmp_path: Path) -> None:
    """A version with an invalid origin is refused with its files; a reader adds nothing."""
    with new_project(tmp_path) as project:
        with pytest.raises(InputError, match="no such model version"):
            project.models.add_trained(trained_model(parent_id=7))
        assert connection_of(project).value("SELECT COUNT(*) FROM model_file") == 0
    with (
        Project.open(tmp_path / "birds.protoleaf", for_writing=False) as project,
        pytest.raises(ProjectReadOnlyError),
    ):
        project.models.add_trained(trained_model())


@pytest.mark.parametrize(
    ("damage", "message"),
    [("DELETE FROM model_file", "nothing"), ("UPDATE model_file SET content = x'00'", "another")],
)
def test_a_damaged_model_file_is_noticed(damage: str, message: str, tmp_path: Path) -> None:
    """Reading it raises, `check` names the version, and everything else works."""
    with new_project(tmp_path) as project:
        version = project.models.add_trained(replace(trained_model(), name="Mine"))
    change_file(tmp_path / "birds.protoleaf", damage)
    with Project.open(tmp_path / "birds.protoleaf") as project:
        with pytest.raises(ProjectDamagedError, match=message):
            project.models.file(version.backbone_hash)
        assert [fault[:5] for fault in project.check()] == ["Mine:", "Mine:"]
        project.classes.add("Bird")
