"""The cosine classifier of Baseline++ (Chen et al., ICLR 2019)."""

from typing import final

import torch
from torch import Tensor, nn

from research.baselines.initial_weights import uniform_linear

COSINE_SCALE = 2.0
SMALLEST_NORM = 1e-5


def normalised(embeddings: Tensor) -> Tensor:
    """Embeddings (..., d) float32 with length 1; a zero vector stays zero."""
    return embeddings / (torch.linalg.vector_norm(embeddings, dim=-1, keepdim=True) + SMALLEST_NORM)


def cosine_scores(
    embeddings: Tensor, directions: Tensor, lengths: Tensor, scale: float = COSINE_SCALE
) -> Tensor:
    """Score of every class for every embedding: scale x length of the class x cosine.

    The paper has the cosine alone. As in the authors' published code, the length of each class is
    learned too; without it a softmax over many classes is nearly flat.

    Args:
        embeddings: (..., n, d) float32, already `normalised`.
        directions: (..., C, d) float32, not zero; only their direction matters.
        lengths: (..., C) float32.
        scale: factor on all scores; 2 in the authors' code for up to 200 classes.

    Returns:
        (..., n, C) float32.
    """
    norms = torch.linalg.vector_norm(directions, dim=-1)
    factors = scale * lengths / norms
    scores: Tensor = embeddings @ directions.transpose(-1, -2) * factors.unsqueeze(-2)
    return scores


@final
class CosineClassifier(nn.Module):
    """Learned direction and length of each class.

    Args:
        embedding_width: d.
        class_count: C.
        generator: source of the initial weights.
        scale: factor on all scores.
    """

    def __init__(
        self,
        embedding_width: int,
        class_count: int,
        generator: torch.Generator,
        *,
        scale: float = COSINE_SCALE,
    ) -> None:
        super().__init__()
        initial = uniform_linear(
            embedding_width, class_count, generator, bias=False
        ).weight.detach()
        self.directions = nn.Parameter(initial)
        self.lengths = nn.Parameter(torch.linalg.vector_norm(initial, dim=1))
        self.scale = scale

    def forward(self, embeddings: Tensor) -> Tensor:
        """Scores (n, C) float32 of embeddings (n, d) float32."""
        return cosine_scores(normalised(embeddings), self.directions, self.lengths, self.scale)
