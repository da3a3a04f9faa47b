"""Trials of what the program promises: caches and added backbones of their own."""

from pathlib import Path

import pytest

from engine.config import BACKBONES_VARIABLE, CACHE_VARIABLE


@pytest.fixture(autouse=True)
def own_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Caches and added backbones of a test live and die with its temporary folder."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(BACKBONES_VARIABLE, str(tmp_path / "backbones"))
