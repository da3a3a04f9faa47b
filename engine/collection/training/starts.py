"""Start of a training: the network of any supported file, or random weights."""

from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from engine.backbones.model_files import FAST
from engine.collection.models import ModelFiles, find_model, model_of
from engine.collection.training.settings import CONV4, CURRENT, BackboneSettings
from engine.config import CacheFolders
from engine.errors import InputError, ModelError
from engine.full_disk import writing
from engine.model_card import BackboneCard, write_card
from engine.new_file import ORDINARY_FILE, write_file
from engine.project import Project

if TYPE_CHECKING:
    from torch import nn

    from engine.model.propagation import Attention
    from engine.training.thawed.network import ThawedNetwork

RATE = 1e-4  # learning rate of a trained backbone: more makes good ones forget (decision 47)
FAST_RATE = 3e-4  # that of the bundled fast one (decision 47)
MARGIN = 1.125  # size of stored images relative to trained ones, for random shifts
NEW_TEMPERATURE = 0.1  # for unit embeddings of a network with random weights


class Start(ABC):
    """Start of a training."""

    name: str  # of the backbone
    identity: str  # hashes of the files
    usual_side: int  # of the images, in pixels
    usual_rate: float  # learning rate
    usual_trained_share: float  # weight of trained weights in the mean with those of the start
    temperature: float  # divides squared distances of unit embeddings

    def filled_in(self, settings: BackboneSettings) -> BackboneSettings:
        side, rate, share = settings.side, settings.learning_rate, settings.trained_share
        return replace(
            settings,
            side=self.usual_side if side is None else side,
            learning_rate=self.usual_rate if rate is None else rate,
            trained_share=self.usual_trained_share if share is None else share,
        )

    @abstractmethod
    def stored_side(self, side: int) -> int:
        """Side of the stored images, of which windows of `side` pixels are trained on."""

    @abstractmethod
    def network(self, settings: BackboneSettings) -> "tuple[nn.Module, int]":
        """Make the network from normalised images (B, 3, H, W) to embeddings (B, d), and return d.

        Raises:
            ModelError: it cannot be trained.
        """

    @abstractmethod
    def attention(self, width: int) -> "Attention | None":
        """The initial attention for embeddings of a width; None for a new one."""

    @abstractmethod
    def average(self, network: "nn.Module", trained_share: float) -> None:
        """Average the trained weights of a network with those of the start, in place."""

    @abstractmethod
    def in_float(self) -> tuple[str, ...]:
        """Outputs of the layers that its eight-bit companion leaves in float.

        Raises:
            ModelError: the companion cannot be read.
        """

    @abstractmethod
    def write(self, network: "nn.Module", path: Path, card: BackboneCard) -> BackboneCard:
        """Write a trained network as ONNX with a card, compare it with torch; return the card.

        Args:
            network: made by `network`, in evaluation mode on the CPU.
            path: of the ONNX file.
            card: with texts and figures; the preprocessing is added.

        Raises:
            ModelError: the outputs differ.
            StorageError: the folder is not writable.
        """


@final
class FromFile(Start):
    """Starts from a backbone file."""

    def __init__(self, files: ModelFiles) -> None:
        self.files = files
        self.name = files.card.name
        self.identity = f"{files.backbone_hash} {files.propagation_hash}"
        self.usual_side = files.card.input_side
        self.usual_rate = FAST_RATE if files.name == FAST else RATE
        self.usual_trained_share = 0.5
        self.temperature = files.card.temperature

    def stored_side(self, side: int) -> int:
        """As much of an image as the backbone sees, and at least `MARGIN`."""
        return round(side * max(MARGIN, 1 / self.files.card.resize_share))

    def network(self, settings: BackboneSettings) -> "tuple[nn.Module, int]":
        """The file's network with frozen early layers, in pieces that fit into memory."""
        import torch

        from engine.training.thawed.network import thawed
        from engine.training.thawed.wrappers import (
            AsCarded,
            InPieces,
            check_agreement,
            images_at_once,
            images_within,
        )

        assert settings.side is not None, "filled in"
        card, path = self.files.card, self.files.backbone
        network = AsCarded(
            thawed(path, card.output, frozen_share=settings.frozen_share), card
        ).eval()
        most = images_at_once(path, card)
        check_agreement(path, card, network)
        try:
            limit = images_within(network, torch.zeros(1, 3, settings.side, settings.side))
        except (RuntimeError, ValueError) as error:
            raise InputError(
                "the backbone takes no images of this size",
                expected="{input_side} px",
                found="{side} px",
                remedy="leave the setting side out",
                input_side=card.input_side,
                side=settings.side,
            ) from error
        return InPieces(network, min(limit, most or limit)), card.embedding_width

    def attention(self, width: int) -> "Attention | None":
        from engine.training.onnx_conversion import read_propagation

        try:
            known = read_propagation(self.files.propagation).attention
        except ModelError:
            return None
        return known if known.embedding_width == width else None

    def average(self, network: "nn.Module", trained_share: float) -> None:
        from engine.training.thawed.network import average_with_file

        average_with_file(self.files.backbone, _thawed_in(network), trained_share)

    def in_float(self) -> tuple[str, ...]:
        from engine.runtime.quantization import layers_in_float

        return layers_in_float(self.files.backbone)

    def write(self, network: "nn.Module", path: Path, card: BackboneCard) -> BackboneCard:
        """Write the same file with other weights, so that it is as large and fast."""
        from engine.training.thawed.network import with_weights
        from engine.training.thawed.wrappers import check_agreement

        ours = self.files.card
        card = replace(
            card,
            mean=ours.mean,
            std=ours.std,
            layout=ours.layout,
            value_scale=ours.value_scale,
            channel_order=ours.channel_order,
            output=ours.output,
            pooling=ours.pooling,
            unit_length=ours.unit_length,
            shrinkage=ours.shrinkage,
            shrinkage_guessed=ours.shrinkage_guessed,
        )
        with writing(
            path, "the model cannot be written", "choose another folder or free some space"
        ):
            write_file(
                path, with_weights(self.files.backbone, _thawed_in(network)), mode=ORDINARY_FILE
            )
            write_card(path, card)
        check_agreement(path, card, network)
        return card


@final
class FromRandomWeights(Start):
    """Starts from the paper's network with random weights."""

    def __init__(self) -> None:
        self.name = self.identity = CONV4
        self.usual_side = 84
        self.usual_rate = 1e-3
        self.usual_trained_share = 1.0
        self.temperature = NEW_TEMPERATURE

    def stored_side(self, side: int) -> int:
        return round(side * MARGIN)

    def network(self, settings: BackboneSettings) -> "tuple[nn.Module, int]":
        import torch

        from engine.model.backbone import Conv4

        assert settings.side is not None, "filled in"
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            network = Conv4(settings.side)
        return network, network.embedding_width

    def attention(self, width: int) -> "Attention | None":
        del width
        return None

    def average(self, network: "nn.Module", trained_share: float) -> None:
        """Keep the trained weights."""

    def in_float(self) -> tuple[str, ...]:
        return ()

    def write(self, network: "nn.Module", path: Path, card: BackboneCard) -> BackboneCard:
        from engine.model.backbone import UnitEmbedding
        from engine.training.export import export_backbone

        export_backbone(UnitEmbedding(network), path, card, half_weights=True, one_side=True)
        return card


def _thawed_in(network: "nn.Module") -> "ThawedNetwork":
    from engine.training.thawed.network import ThawedNetwork

    inner = network.get_submodule("network.network")
    assert isinstance(inner, ThawedNetwork), "made by FromFile"
    return inner


def start_of(project: Project, caches: CacheFolders, name: str) -> Start:
    """Find a start: the version in use, Conv4, or a backbone by name or file.

    Raises:
        ModelError: the files are missing.
    """
    if name == CONV4:
        return FromRandomWeights()
    return FromFile(model_of(project, caches) if name == CURRENT else find_model(name))
