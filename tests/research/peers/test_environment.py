"""The environment of the peers' libraries, without installing anything."""

import os
import sys
from pathlib import Path

import pytest

from engine.errors import NetworkError, UsageError
from research.peers import environment
from research.peers.environment import REQUIREMENTS, peer_environment

CONSTRAINTS = Path(__file__).parents[3] / "constraints.txt"


def test_it_is_made_once(tmp_path: Path) -> None:
    """The environment has a copy of its requirements."""
    (tmp_path / REQUIREMENTS.name).write_text(
        REQUIREMENTS.read_text(encoding="utf-8"), encoding="utf-8"
    )
    assert peer_environment(tmp_path).is_relative_to(tmp_path)


def test_another_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="no environment of the peers"):
        peer_environment(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for an environment is a link")
def test_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the output of pip, and the next call tries again."""
    monkeypatch.setattr(environment, "REQUIREMENTS", tmp_path / REQUIREMENTS.name)
    (tmp_path / REQUIREMENTS.name).write_text(
        f"peer @ {(tmp_path / 'missing').as_uri()}", encoding="utf-8"
    )
    monkeypatch.setattr("venv.create", lambda *_, **__: None)
    folder = tmp_path / "made"
    (folder / "bin").mkdir(parents=True)
    (folder / REQUIREMENTS.name).touch()
    (folder / "bin" / "python").symlink_to(sys.executable)
    for _ in range(2):
        with pytest.raises(NetworkError, match=r"libraries cannot be installed.*missing"):
            peer_environment(folder)


def test_versions_are_those_that_are_tested_together() -> None:
    """Versions of shared libraries are equal."""
    pinned = dict(
        line.split("==")
        for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines()
        if "==" in line
    )
    ours = dict(
        line.split("==")
        for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines()
        if "==" in line
    )
    shared = ours.keys() & pinned.keys()
    assert {"easyfsl", "scikit-learn", "torch", "torchvision"} <= shared
    assert {name: ours[name] for name in shared} == {name: pinned[name] for name in shared}
