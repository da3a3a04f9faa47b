"""ONNX files examined in this process."""

from pathlib import Path

import pytest

from engine.backbones.messages import OnnxFacts
from engine.backbones.onnx_examining import examine
from engine.errors import ModelError

MOST_BYTES = 2**30


def examined(path: Path) -> OnnxFacts:
    """Facts of a valid file."""
    return examine(path, most_bytes=MOST_BYTES)


def refusal(path: Path) -> str:
    """The error of an invalid file."""
    with pytest.raises(ModelError) as refused:
        examine(path, most_bytes=MOST_BYTES)
    return str(refused.value)
