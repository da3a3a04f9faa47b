"""Wrappers of a network in training: preprocessing, checkpointing, scale, comparison."""

from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from engine.errors import ModelError
from engine.model_card import BackboneCard
from engine.runtime.backbone_input import Preparation, input_output, pooled
from engine.runtime.eight_bit import trial_images
from engine.runtime.sessions import open_session, run_session
from engine.training.arithmetic import IMAGENET_MEAN, IMAGENET_STD, normalised
from engine.training.export import HALF_WEIGHTS_TOLERANCE, relative_difference

_LUMINANCE = (0.299, 0.587, 0.114)  # as in `engine.runtime.backbone_input`
_MAP_RANK = 4  # Batch, channels, height and width of a feature map
_TOKENS_RANK = 3  # Batch, tokens and width
MOST_BYTES = 1_000_000_000
"""Activations kept for the gradient. Chosen: fits next to the window on a computer of 4 GB."""
_IMAGES = 2  # pictures that are compared. Chosen: enough to see another network.


@final
class AsCarded(nn.Module):
    """A network with the preprocessing of `BackboneSession`, for training's normalised images."""

    scale: Tensor
    shift: Tensor

    def __init__(self, network: nn.Module, card: BackboneCard) -> None:
        super().__init__()
        self.network = network
        self._card = card
        ours_mean, ours_std = torch.tensor(IMAGENET_MEAN), torch.tensor(IMAGENET_STD)
        mean, std = torch.tensor(card.mean), torch.tensor(card.std)
        # ((x · ours_std + ours_mean) · value_scale - mean) / std, with one multiplication and
        # addition
        self.register_buffer("scale", (ours_std * card.value_scale / std)[:, None, None])
        self.register_buffer("shift", ((ours_mean * card.value_scale - mean) / std)[:, None, None])

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W), normalised float, to embeddings (B, d) float."""
        return self._pooled(self.network(self._prepared(images)))

    def _prepared(self, images: Tensor) -> Tensor:
        card = self._card
        if card.channel_order == "grey":
            ours = torch.tensor(
                [*zip(IMAGENET_STD, IMAGENET_MEAN, _LUMINANCE, strict=True)], device=images.device
            )
            std, mean, share = (column[:, None, None] for column in ours.T)
            grey = ((images * std + mean) * share).sum(dim=1, keepdim=True)
            prepared = (grey * card.value_scale - card.mean[0]) / card.std[0]
        else:
            prepared = torch.addcmul(self.shift, images, self.scale)
            prepared = prepared.flip(1) if card.channel_order == "bgr" else prepared
        return prepared if card.layout == "nchw" else prepared.permute(0, 2, 3, 1)

    def _pooled(self, output: Any) -> Tensor:
        card = self._card
        if card.pooling == "mean" and output.ndim == _MAP_RANK:
            output = output.mean(dim=(2, 3) if card.layout == "nchw" else (1, 2))
        elif card.pooling == "mean" and output.ndim == _TOKENS_RANK:
            output = output.mean(dim=1)
        elif card.pooling == "first" and output.ndim == _TOKENS_RANK:
            output = output[:, 0]
        embeddings: Tensor = output.float()
        return nn.functional.normalize(embeddings, dim=1) if card.unit_length else embeddings


@final
class InPieces(nn.Module):
    """Gradient checkpointing: stores the activations of one piece, for a third more time."""

    def __init__(self, network: nn.Module, images_at_once: int) -> None:
        super().__init__()
        self.network = network
        self.images_at_once = max(1, images_at_once)

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W) to embeddings (B, d)."""
        pieces = torch.split(images, self.images_at_once)
        if len(pieces) == 1:
            return self.network(images)
        if not torch.is_grad_enabled():
            return torch.cat([self.network(piece) for piece in pieces])
        return torch.cat([checkpoint(self.network, piece, use_reentrant=False) for piece in pieces])


def images_within(network: nn.Module, images: Tensor, most_bytes: int = MOST_BYTES) -> int:
    """Images in a piece, by the activations that the network stores for these (B, 3, H, W)."""
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        embeddings = network(images)
    weights = {parameter.untyped_storage().data_ptr() for parameter in network.parameters()}
    size = sum(size for place, size in kept.items() if place not in weights)
    del embeddings
    return max(1, most_bytes * len(images) // max(1, size))


@final
class ScaledEmbedding(nn.Module):
    """Embeddings of length 1 / sqrt(temperature), for distances of unit ones over it (Eq. 2)."""

    def __init__(self, backbone: nn.Module, temperature: float) -> None:
        super().__init__()
        self.backbone = backbone
        self.scale = temperature**-0.5

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W), normalised float, to embeddings (B, d) float."""
        return self.backbone(images) * self.scale


def images_at_once(path: Path, card: BackboneCard) -> int | None:
    """How many images a file's network takes at once; None for any number.

    Raises:
        ModelError: the file cannot be opened, or does not match its card.
    """
    return input_output(open_session(path), card).most_images


def check_agreement(path: Path, card: BackboneCard, network: nn.Module) -> float:
    """Largest relative difference between a network, in evaluation mode, and its file.

    Raises:
        ModelError: they differ.
    """
    session = open_session(path)
    ends = input_output(session, card)
    images = trial_images(card.input_side, ends.most_images or _IMAGES)
    prepared = Preparation(card).prepare(images).astype(ends.input_type, copy=False)
    expected = pooled(
        run_session(session, {ends.input_name: prepared}, [ends.output_name])[0], card
    )
    with torch.no_grad():
        found = network(normalised(torch.from_numpy(images))).numpy()
    difference = relative_difference(np.asarray(found, dtype=np.float32), expected)
    if not difference <= HALF_WEIGHTS_TOLERANCE:  # also refuses a difference that is not a number
        raise ModelError(
            "the network in training does not match its file",
            expected="a relative difference of at most {tolerance:g}",
            found="{difference:.2g} in {path}",
            remedy="tune propagation instead, or train from another backbone",
            tolerance=HALF_WEIGHTS_TOLERANCE,
            difference=difference,
            path=path,
        )
    return difference
