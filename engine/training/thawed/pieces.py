"""A batch in pieces, so that training needs no more memory than it may have, however large the network is."""

from typing import Final, final

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

MOST_BYTES: Final = 1_000_000_000
"""What a piece may keep for its gradient. Chosen: fits beside the window on a computer of 4 GB."""


@final
class InPieces(nn.Module):
    """Gives what its network gives, but keeps for the gradient only what one piece needs.

    A piece is computed again when its gradient is wanted: a third more time, where a batch does not fit into one piece.
    """

    def __init__(self, network: nn.Module, images_at_once: int) -> None:
        super().__init__()
        self.network = network
        self.images_at_once = max(1, images_at_once)

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W) to embeddings (B, d)."""
        pieces = torch.split(images, self.images_at_once)
        if len(pieces) == 1:
            embeddings: Tensor = self.network(images)
            return embeddings
        if not torch.is_grad_enabled():
            return torch.cat([self.network(piece) for piece in pieces])
        return torch.cat([checkpoint(self.network, piece, use_reentrant=False) for piece in pieces])


def images_within(network: nn.Module, images: Tensor, most_bytes: int = MOST_BYTES) -> int:
    """How many images fit into a piece, by what the network keeps for the gradient of some.

    Args:
        images: (B, 3, H, W) of the size that it is trained at.
    """
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
