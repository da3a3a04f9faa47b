"""Two backbones to choose between for a new project, one of which may have to be prepared first."""

from pathlib import Path

import pytest

from engine.backbones.bundled import BackboneChoice, OfferedBackbone
from engine.backbones.messages import AddFile
from engine.collection.models import find_model
from tests.support.other_backbones import NAME


def offer_two(monkeypatch: pytest.MonkeyPatch, *, is_ready: bool = True, name: str = NAME) -> None:
    """Offer the tiny backbone of the test's library as the accurate one, beside the bundled fast one.

    Args:
        is_ready: else a worker has to prepare it; no test needs a true answer to that request.
        name: of the accurate one; another one than the tiny backbone's is in no library.
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
