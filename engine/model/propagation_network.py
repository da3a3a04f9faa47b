"""From labelled embeddings to final prototypes in one forward pass (Eq. 3 to 6): what is exported to ONNX."""

from typing import Final, NamedTuple, final

from torch import Tensor, nn

from engine.model.attention import Attention, EdgeScores, Normalisation, PlainAttention
from engine.model.initial_prototypes import initial_prototypes
from engine.model.propagation import propagate


class NetworkOutputs(NamedTuple):
    """Outputs in the order and under the names of the exported file."""

    initial: Tensor  # (C, d) float32, `P0`; zeros where there is none
    has_initial: Tensor  # (C,) bool
    weights: Tensor  # (E,) float32, attention weight of each edge
    propagated: Tensor  # (C, d) float32, `P+`; zeros where there is none
    final: Tensor  # (C, d) float32, `P`; zeros where there is none
    has_final: Tensor  # (C,) bool; False for a class that neither images nor propagation reach


@final
class PropagationNetwork(nn.Module):
    """Initial prototypes, attention, propagation and final prototypes.

    Args:
        steps: propagation steps, at least 1.
    """

    def __init__(self, attention: Attention, *, steps: int = 1, normalisation: Normalisation = "softmax") -> None:
        super().__init__()
        self.attention = attention
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

        Returns:
            Prototypes and weights, see `NetworkOutputs`.
        """
        inputs = (embeddings, image_positions, class_positions, edge_index, lambda_)
        return _outputs(self.attention, inputs, steps=self.steps, normalisation=self.normalisation)


@final
class PlainPropagationNetwork(nn.Module):
    """The same with attention that has no parameters: for embeddings of any width, of which nothing was learned."""

    steps: Final = 1
    normalisation: Final[Normalisation] = "softmax"

    def __init__(self) -> None:
        super().__init__()
        self.attention = PlainAttention()

    def forward(
        self,
        embeddings: Tensor,
        image_positions: Tensor,
        class_positions: Tensor,
        edge_index: Tensor,
        lambda_: Tensor,
    ) -> NetworkOutputs:
        """Apply Eq. 3 to 6; arguments and result as in `PropagationNetwork.forward`, for any d."""
        inputs = (embeddings, image_positions, class_positions, edge_index, lambda_)
        return _outputs(self.attention, inputs, steps=self.steps, normalisation=self.normalisation)


def _outputs(
    attention: EdgeScores,
    inputs: tuple[Tensor, Tensor, Tensor, Tensor, Tensor],
    *,
    steps: int,
    normalisation: Normalisation,
) -> NetworkOutputs:
    embeddings, image_positions, class_positions, edge_index, lambda_ = inputs
    initial = initial_prototypes(embeddings, image_positions, class_positions, lambda_.shape[0])
    result = propagate(attention, initial, edge_index, lambda_, steps=steps, normalisation=normalisation)
    return NetworkOutputs(
        initial.vectors,
        initial.exists,
        result.weights,
        result.propagated.vectors,
        result.final.vectors,
        result.final.exists,
    )
