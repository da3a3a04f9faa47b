"""From labelled embeddings to final prototypes in one forward pass (Eq. 3 to 6): what is exported to ONNX."""

from typing import Generic, NamedTuple, TypeVar, final

from torch import Tensor, nn

from engine.model.attention import Attention, Normalisation, PlainAttention
from engine.model.initial_prototypes import initial_prototypes
from engine.model.propagation import propagate

A = TypeVar("A", Attention, PlainAttention)


class NetworkOutputs(NamedTuple):
    """Outputs in the order and under the names of the exported file."""

    initial: Tensor  # (C, d) float32, `P0`; zeros where there is none
    has_initial: Tensor  # (C,) bool
    weights: Tensor  # (E,) float32, attention weight of each edge
    propagated: Tensor  # (C, d) float32, `P+`; zeros where there is none
    final: Tensor  # (C, d) float32, `P`; zeros where there is none
    has_final: Tensor  # (C,) bool; False for a class that neither images nor propagation reach


@final
class PropagationNetwork(nn.Module, Generic[A]):
    """Initial prototypes, attention, propagation and final prototypes.

    With `PlainAttention` it has no parameters and takes embeddings of any width, of which nothing was learned.

    Args:
        steps: propagation steps, at least 1.
    """

    def __init__(self, attention: A, *, steps: int = 1, normalisation: Normalisation = "softmax") -> None:
        super().__init__()
        self.attention: A = attention
        self.steps = steps
        self.normalisation: Normalisation = normalisation

    def forward(
        self,
        embeddings: Tensor,
        image_positions: Tensor,
        class_positions: Tensor,
        edge_index: Tensor,
        lambda_: Tensor,
    ) -> NetworkOutputs:
        """Apply Eq. 3 to 6.

        Args:
            embeddings: (n, d) float32, one row for each image.
            image_positions: (m,) int64 in [0, n), the image of each (image, class) pair.
            class_positions: (m,) int64 in [0, C), the class of each pair.
            edge_index: (2, E) int64 in [0, C), row 0 the parent, row 1 the child.
            lambda_: (C,) float32 in [0, 1], weight of `P0` in Eq. 6; its length says how many classes there are.
                n, m and E may be 0.
        """
        initial = initial_prototypes(embeddings, image_positions, class_positions, lambda_.shape[0])
        result = propagate(
            self.attention, initial, edge_index, lambda_, steps=self.steps, normalisation=self.normalisation
        )
        return NetworkOutputs(
            initial.vectors,
            initial.exists,
            result.weights,
            result.propagated.vectors,
            result.final.vectors,
            result.final.exists,
        )
