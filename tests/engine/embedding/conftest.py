"""A small backbone for tests of embedding."""

from pathlib import Path

import pytest

from engine.runtime.backbone import BackboneSession
from engine.runtime.devices.facts import CPU_PROVIDER
from engine.runtime.providers import ProviderChoice
from tests.support.backbones import write_tiny_backbone


@pytest.fixture
def session(tmp_path: Path) -> BackboneSession:
    """With two CPU threads."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    return BackboneSession(
        tmp_path / "tiny.onnx", card, ProviderChoice(CPU_PROVIDER, "CPU"), threads=2
    )
