"""What tests of the training panel share."""

from pathlib import Path

import pytest

from tests.support.trainings import other_backbone


@pytest.fixture
def backbone(tmp_path: Path) -> Path:
    """Another backbone than the bundled one."""
    return other_backbone(tmp_path / "own models")
