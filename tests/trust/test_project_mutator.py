"""Damaged projects: refused or reported as damaged in one line, or complete."""

import json
import shutil
from pathlib import Path

import pytest

from tests.trust.byte_damage import BYTE_DAMAGE
from tests.trust.project_mutator import Damaged, damage_many, damage_one
from tests.trust.stages import Stage


@pytest.mark.slow
def test_damage_is_found_or_harmless(stage: Stage) -> None:
    """Damaged bytes and values: `check`, reading, undo and commands behave as specified."""
    row = damage_many(stage, 2 * len(BYTE_DAMAGE) + 8, seed=11)
    assert row.broken == ()


@pytest.mark.slow
def test_wrong_data_that_is_called_sound_is_found(stage: Stage, tmp_path: Path) -> None:
    """A file reported as valid with wrong content is the worst result."""
    changed = Stage(tmp_path / "changed")
    shutil.copytree(stage.place.folder, changed.place.folder)
    shutil.copyfile(stage.older, changed.older)
    facts = stage.facts()
    facts["everything"]["people"]["labels"].pop()
    (changed.folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    found = damage_one(changed, Damaged("SELECT 1", 1))
    assert [fault.kind for fault in found.faults] == ["wrong"]
    assert "differs in people (labels)" in found.faults[0].text
