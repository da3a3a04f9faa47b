"""Tests of the engine: caches of their own."""

from pathlib import Path

import pytest

from engine.config import CACHE_VARIABLE


@pytest.fixture(autouse=True)
def own_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Caches of a test live and die with its temporary folder."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
