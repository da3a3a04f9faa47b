"""Fixtures of the training panel's tests."""

from pathlib import Path

import pytest

from tests.support.trainings import other_backbone


@pytest.fixture
def backbone(tmp_path: Path) -> Path:
    """A backbone other than the bundled one."""
    return other_backbone(tmp_path / "own models")
