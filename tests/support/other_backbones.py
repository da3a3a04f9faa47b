"""Alternative backbones of random weights and different widths."""

import shutil
from dataclasses import replace
from pathlib import Path

from engine.backbones.library import BackboneLibrary
from engine.backbones.model_files import ModelFiles
from engine.collection.models import find_model
from engine.model_card import read_card, write_card
from tests.support.backbones import write_tiny_backbone

NAME = "tinyleaf"


def own_backbone(folder: Path, *, name: str = NAME, seed: int = 1) -> Path:
    """A tiny backbone with its card, of the bundled one's width, with its propagation."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.onnx"
    bundled = find_model()
    card = write_tiny_backbone(path, width=bundled.card.embedding_width, seed=seed)
    write_card(path, replace(card, name=name))
    shutil.copy(bundled.propagation, path.with_suffix(".propagation.onnx"))
    return path


def add_to_library(scratch: Path, *, name: str = NAME, seed: int = 1) -> ModelFiles:
    """Add it to the test's library."""
    path = own_backbone(scratch / "to add", name=name, seed=seed)
    return BackboneLibrary().add(
        path, read_card(path), propagation=path.with_suffix(".propagation.onnx")
    )
