"""Odd texts from elsewhere: no faults, and planted ones are detected."""

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from engine.config import CacheFolders
from tests.trust import odd_texts
from tests.trust.hostile_targets import World
from tests.trust.odd_texts import PASSWORD, odd_world, open_odd, open_one, outside_of
from tests.trust.special_files import catch_hangs
from tests.trust.stages import Stage


@pytest.mark.slow
def test_odd_texts_are_texts(stage: Stage) -> None:
    row = open_odd(stage, 8, seed=5)
    assert row.broken == ()
    assert row.trials == 8


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(odd_texts, "READING", (("check", "P"),))
    monkeypatch.setattr(odd_texts, "WRITING", ())
    monkeypatch.setattr(odd_texts, "SHARES", (1, 0, 0))
    catch_hangs()
    return odd_world(tmp_path, CacheFolders(tmp_path / "cache"))


def found_by(world: World, run: Callable[[list[str]], int]) -> str:
    return open_one(world, Random(1), run)[0][0].kind


def test_what_is_wrong_is_found(world: World) -> None:
    """A changed canary, a file created outside, a traceback, a password in a message."""

    def raise_error(_words: list[str]) -> int:
        raise KeyError("planted")

    def complain(_words: list[str]) -> int:
        sys.stderr.write(f"protoleaf: no http://user:{PASSWORD}@host")
        return 1

    assert found_by(world, raise_error) == "traceback"
    assert found_by(world, complain) == "other"
    assert (
        found_by(world, lambda _words: (outside_of(world) / "diary").write_text("emptied") and 0)
        == "wrong"
    )
    assert (
        found_by(world, lambda _words: (outside_of(world) / "new").write_text("made") and 0)
        == "wrong"
    )
