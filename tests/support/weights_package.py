"""A weights package of a tiny EfficientNet-Lite, installed for one test, with its card."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from engine.backbones import model_files
from engine.backbones.convert import bundled_network, trial_squares, write_graph
from engine.backbones.model_files import CONVERTED, WeightsPackage
from engine.model.efficientnet_lite import LITE_VARIANTS, EfficientNetLite, LiteVariant
from engine.model_card import BackboneCard, file_hash, write_card
from engine.runtime.activations import Activations, measure_activations
from tests.support.published_names import published_names

NAME = "tiny-lite"
SIDE = 64


@dataclass(frozen=True)
class InstalledWeights:
    """What was installed: source, folder of installed packages, and files shipped with it."""

    source: WeightsPackage
    folder: Path
    card: BackboneCard

    @property
    def file(self) -> Path:
        """The weights."""
        return self.folder / self.source.file

    @property
    def metadata(self) -> Path:
        """Metadata of the installed version."""
        return self.folder / "tiny_weights-0.1.0.dist-info" / "METADATA"


def install_weights(folder: Path, monkeypatch: pytest.MonkeyPatch) -> InstalledWeights:
    """Make and install the package for one test."""
    monkeypatch.setitem(LITE_VARIANTS, NAME, LiteVariant(0.1, 0.5, SIDE))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = EfficientNetLite(LITE_VARIANTS[NAME])
        for module in network.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                torch.nn.init.uniform_(module.weight, 0.8, 1.2)
                assert module.running_var is not None
                torch.nn.init.uniform_(module.running_var, 0.1, 0.2)
    file = folder / "installed" / "tiny_weights" / "tiny.pth"
    file.parent.mkdir(parents=True)
    torch.save(published_names(network), file)
    source = WeightsPackage(NAME, "tiny-weights", "0.1.0", "tiny_weights/tiny.pth", file_hash(file))
    installed = InstalledWeights(source, file.parent.parent, _card(network.embedding_width))
    installed.metadata.parent.mkdir()
    installed.metadata.write_text("Metadata-Version: 2.1\nName: tiny-weights\nVersion: 0.1.0\n")
    monkeypatch.syspath_prepend(str(installed.folder))
    propagation = model_files.width_agnostic_propagation()
    monkeypatch.setattr(model_files, "assets_folder", lambda: folder / "assets")
    for shipped in tuple(CONVERTED):  # their cards are elsewhere
        monkeypatch.delitem(CONVERTED, shipped)
    monkeypatch.setitem(CONVERTED, NAME, source)
    (folder / "assets" / "models").mkdir(parents=True)
    shutil.copy(propagation, model_files.width_agnostic_propagation())
    write_card(source.model, installed.card)
    return installed


def tiny_activations(installed: InstalledWeights, folder: Path) -> Activations:
    """Activations between the tiny network's layers on the pictures that compare conversions."""
    model = folder / "float.onnx"
    model.write_bytes(
        write_graph(bundled_network(installed.source), SIDE, NAME).SerializeToString()
    )
    return measure_activations(model, installed.card, trial_squares(installed.card))


def _card(width: int) -> BackboneCard:
    usual = (127 / 255,) * 3
    card = BackboneCard(
        name=NAME, input_side=SIDE, mean=usual, std=usual, embedding_width=width, temperature=0.1
    )
    return replace(card, licence="Apache-2.0")
