"""A file's network with both its ends as its card says: from training's images to embeddings."""

from typing import Any, Final, final

import torch
from torch import Tensor, nn

from engine.model_card import BackboneCard
from engine.training.batches import IMAGENET_MEAN, IMAGENET_STD

_LUMINANCE: Final = (0.299, 0.587, 0.114)
"""As in `engine.runtime.backbone_input`."""
_MAP_RANK: Final = 4
"""Batch, channels, height and width of a feature map."""
_TOKENS_RANK: Final = 3
"""Batch, tokens and width."""


@final
class AsCarded(nn.Module):
    """What `BackboneSession` does around a network, for images that are normalised as training does it."""

    scale: Tensor
    shift: Tensor

    def __init__(self, network: nn.Module, card: BackboneCard) -> None:
        super().__init__()
        self.network = network
        self._card = card
        ours_mean, ours_std = torch.tensor(IMAGENET_MEAN), torch.tensor(IMAGENET_STD)
        mean, std = torch.tensor(card.mean), torch.tensor(card.std)
        # ((x · ours_std + ours_mean) · value_scale - mean) / std as one multiplication and one addition
        self.register_buffer("scale", (ours_std * card.value_scale / std)[:, None, None])
        self.register_buffer("shift", ((ours_mean * card.value_scale - mean) / std)[:, None, None])

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W), normalised float, to embeddings (B, d) float."""
        return self._pooled(self.network(self._prepared(images)))

    def _prepared(self, images: Tensor) -> Tensor:
        card = self._card
        if card.channel_order == "grey":
            ours = torch.tensor([*zip(IMAGENET_STD, IMAGENET_MEAN, _LUMINANCE, strict=True)], device=images.device)
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
