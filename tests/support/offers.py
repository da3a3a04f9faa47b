"""Two backbones for a new project, one of which may need preparation."""

from pathlib import Path

import pytest

from engine.backbones.bundled import BackboneChoice, OfferedBackbone
from engine.backbones.messages import AddFile
from engine.collection.models import find_model
from tests.support.other_backbones import NAME


def offer_two(monkeypatch: pytest.MonkeyPatch, *, is_ready: bool = True, name: str = NAME) -> None:
    """Offer the tiny backbone as the accurate one, next to the bundled fast one.

    Args:
        is_ready: else a worker must prepare it; no test needs the true result.
        name: of the accurate one; another name is in no library.
    """
    accurate, fast = find_model(NAME), find_model()
    preparation = None if is_ready else AddFile(Path("weights.pth"))
    offered = (
        OfferedBackbone(
            BackboneChoice.ACCURATE,
            name,
            accurate.card,
            accurate.backbone if is_ready else None,
            preparation,
            4.0,
        ),
        OfferedBackbone(BackboneChoice.FAST, fast.name, fast.card, fast.backbone),
    )
    monkeypatch.delenv("PROTOLEAF_BACKBONE", raising=False)
    monkeypatch.setattr("engine.backbones.bundled.offered_backbones", lambda: offered)
