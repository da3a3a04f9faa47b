"""Embeddings of length 1, made so long that plain squared distances carry the temperature."""

from typing import final

from torch import Tensor, nn


@final
class ScaledEmbedding(nn.Module):
    """Embeddings of length 1 / sqrt(temperature): their plain squared distances are those of unit ones over it.

    Args:
        backbone: gives embeddings of length 1.
        temperature: what Eq. 2 divides squared distances of unit embeddings by.
    """

    def __init__(self, backbone: nn.Module, temperature: float) -> None:
        super().__init__()
        self.backbone = backbone
        self.scale = temperature**-0.5

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W), normalised float, to embeddings (B, d) float."""
        embeddings: Tensor = self.backbone(images) * self.scale
        return embeddings
