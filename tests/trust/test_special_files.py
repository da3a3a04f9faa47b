"""Special files as every input: no faults, and a planted hang is detected."""

import sys
from pathlib import Path
from random import Random

import pytest

from engine.config import CacheFolders
from tests.trust import special_files
from tests.trust.hostile_targets import World
from tests.trust.special_files import DOORS, KINDS, open_many, open_one, special_world
from tests.trust.stages import Stage

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the instruments are written for Linux"
)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(special_files, "HANG_S", 0.3)
    monkeypatch.setattr(special_files, "KINDS", {"a pipe": KINDS["a pipe"]})
    monkeypatch.setattr(special_files, "DOORS", {"truth": DOORS["truth"]})
    special_files.catch_hangs()
    return special_world(tmp_path / "world", CacheFolders(tmp_path / "cache"))


@pytest.mark.slow
def test_special_files_are_refused(stage: Stage) -> None:
    row = open_many(stage, 16, seed=5)
    assert row.broken == ()
    assert row.trials == 16


@pytest.mark.slow
def test_a_door_that_waits_is_found(world: World) -> None:
    """Opening a pipe that waits for a writer, and reading it as an empty list."""

    def wait(words: list[str]) -> int:
        return len(Path(words[-1]).read_bytes())

    found, _status = open_one(world, Random(1), wait)
    assert [fault.kind for fault in found] == ["hang"]
    found, _status = open_one(world, Random(1), lambda _words: 0)
    assert [fault.kind for fault in found] == ["wrong"]
