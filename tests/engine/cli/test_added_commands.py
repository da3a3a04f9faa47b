"""Commands of other packages: found by entry points, with a hint where they are not installed."""

from importlib import metadata

import pytest
from typer.testing import CliRunner

from engine.cli import commands
from engine.cli.commands import GROUP, application
from engine.errors import UsageError


def test_installed_ones_come_from_entry_points() -> None:
    """A source checkout lists the commands of both groups."""
    shown = CliRunner().invoke(application, ["benchmark", "--help"])
    assert "startup" in shown.output
    assert "transfer" in CliRunner().invoke(application, ["experiment", "--help"]).output


@pytest.mark.parametrize("name", ["benchmark", "experiment"])
def test_missing_ones_say_how_to_get_them(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hint for any arguments; they are not listed."""
    monkeypatch.setattr(metadata, "entry_points", lambda **_group: metadata.EntryPoints())
    failed = CliRunner().invoke(application, [name, "startup", "--rounds", "3"])
    assert isinstance(failed.exception, UsageError)
    assert "pip install 'protoleaf[experiments]'" in str(failed.exception)
    monkeypatch.setattr(commands, "find_spec", lambda _package: None)
    assert name not in CliRunner().invoke(application, ["--help"]).output


def test_metadata_without_the_laboratory_is_no_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in installers: the entry point exists without its package."""
    point = metadata.EntryPoint("benchmark", "no_such_package:application", GROUP)
    monkeypatch.setattr(metadata, "entry_points", lambda **_group: metadata.EntryPoints((point,)))
    assert isinstance(CliRunner().invoke(application, ["benchmark"]).exception, UsageError)


def test_data_sets_without_protoleaf_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """`embed --out` says what to install; so does `classify` of a data set."""
    point = metadata.EntryPoint("cluster", "no_such_package.commands", GROUP)
    for found in ((), (point,)):
        points = metadata.EntryPoints(found)
        monkeypatch.setattr(metadata, "entry_points", lambda points=points, **_group: points)
        failed = CliRunner().invoke(application, ["embed", "photos", "--out", "set"])
        assert str(failed.exception) == (
            "protoleaf-cluster is not installed: expected protoleaf-cluster on this computer and "
            "on every node of the cluster, found Protoleaf alone. Install it in a Python "
            "environment: pip install protoleaf-cluster"
        )
