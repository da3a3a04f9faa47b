"""Propagation from guessed parents in training: all other prototypes, by learned weights.

The paper takes the nearest prototypes at the test only. Here the weights are learned, and training
goes through them.
"""

from typing import final

import torch
from torch import Tensor, nn

from engine.model.propagation import Attention, Prototypes, squared_distances

DROPPED = 0.3  # Dropout of prototypes per iteration, as a test class's relatives are missing
START_SCALE = 0.1  # of squared distances


@final
class GuessedParents(nn.Module):
    """Weights of prototypes by distance and attention, and the weight lambda of a class's `P0`.

    All are learned: w_z = softmax_z(-s |P0 - P_z|² + a cos(g P0, h P_z)), P = lambda P0 + (1 -
    lambda) sum_z w_z P_z.
    """

    def __init__(self) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(START_SCALE).log())
        self.attention_scale = nn.Parameter(torch.tensor(1.0))
        self.lambda_logit = nn.Parameter(torch.tensor(0.0))

    def forward(
        self,
        attention: Attention,
        initial: Tensor,
        classes: Tensor,
        others: Prototypes,
        kept: Tensor,
    ) -> Tensor:
        """Final prototypes (N, d) float32 of N classes.

        Args:
            attention: `g` and `h`, which given parents train, too.
            initial: (N, d) float32, their `P0`.
            classes: (N,) int64 in [0, C): a class is never its own parent.
            others: prototypes of all C classes.
            kept: (C,) bool, those that are not dropped, see `DROPPED`.
        """
        known = torch.nonzero(others.exists & kept).ravel()
        if not len(known):
            return initial
        vectors = others.vectors[known]
        distances = squared_distances(initial, vectors)
        cosines = _cosines(attention, initial, vectors)
        scores = -self.log_scale.exp() * distances + self.attention_scale * cosines
        scores = scores.masked_fill(known[None, :] == classes[:, None], float("-inf"))
        is_alone = torch.isinf(scores).all(dim=1)
        weights = torch.where(
            is_alone[:, None], 0.0, scores.masked_fill(is_alone[:, None], 0.0).softmax(dim=1)
        )
        own = torch.where(is_alone, 1.0, self.lambda_logit.sigmoid())[:, None]
        return own * initial + (1 - own) * (weights @ vectors)


def _cosines(attention: Attention, initial: Tensor, vectors: Tensor) -> Tensor:
    """Attention (N, K) of N children to K parents."""
    children = torch.arange(len(initial), device=initial.device).repeat_interleave(len(vectors))
    parents = torch.arange(len(vectors), device=initial.device).repeat(len(initial))
    cosines: Tensor = attention(initial, vectors, torch.stack([parents, children]))
    return cosines.reshape(len(initial), len(vectors))
