"""A second backbone for the small collection."""

from pathlib import Path

import pytest

from tests.support.other_backbones import own_backbone


@pytest.fixture
def tinyleaf(tmp_path: Path) -> Path:
    """An ONNX file with random weights, its card and its propagation."""
    return own_backbone(tmp_path / "own models")
