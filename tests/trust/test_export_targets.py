"""Targets of exports: protected files are not replaced, and a planted fault is detected."""

from pathlib import Path
from random import Random

import pytest

from engine.config import CacheFolders
from engine.exporting import export, export_graph
from tests.trust.export_targets import aim, aim_many
from tests.trust.hostile_targets import TARGETS, build_world
from tests.trust.stages import Stage


@pytest.mark.slow
def test_nothing_is_replaced_that_must_stay(stage: Stage) -> None:
    row = aim_many(stage, 24, seed=7)
    assert row.broken == ()
    assert row.trials == 24


@pytest.mark.slow
def test_a_replaced_photo_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the check a photo is replaced by a table or drawing."""
    world = build_world(tmp_path / "world", CacheFolders(tmp_path / "cache"))
    for module in (export, export_graph):
        monkeypatch.setattr(module, "check_file", lambda *_, **__: None)
    monkeypatch.setattr("tests.trust.export_targets.TARGETS", {"a photo": TARGETS["a photo"]})
    faults = [fault for seed in range(6) for fault in aim(world, Random(seed))[0]]
    assert any(fault.kind == "wrong" and "0.png was replaced" in fault.text for fault in faults)
