"""Versions of the distributions of this repository."""

import tomllib
from importlib import metadata

import engine
from engine.cli.commands import GROUP
from tests.architecture.source_code import ROOT


def test_protoleaf_cluster_needs_the_program_of_its_version() -> None:
    """The engine's modules are no stable interface."""
    text = (ROOT / "protoleaf_cluster" / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    assert project["version"] == engine.__version__
    assert f"protoleaf=={engine.__version__}" in project["dependencies"]
    points = project["entry-points"][GROUP]
    assert metadata.entry_points(group=GROUP)["cluster"].value == points["cluster"]
