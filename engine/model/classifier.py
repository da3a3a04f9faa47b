"""Nearest-prototype classification (Eq. 2)."""

from torch import Tensor


def squared_distances(embeddings: Tensor, prototypes: Tensor) -> Tensor:
    """Squared Euclidean distance of every embedding to every prototype, (n, C) float32, at least 0.

    Both are first moved by the prototypes' mean. Distances do not change by that, but |x|² - 2xp + |p|² cancels less.

    Args:
        embeddings: (n, d) float32.
        prototypes: (C, d) float32.
    """
    centre = prototypes.detach().mean(dim=0)
    points, targets = embeddings - centre, prototypes - centre
    lengths = points.square().sum(dim=1)[:, None] + targets.square().sum(dim=1)
    return (lengths - 2.0 * points @ targets.T).clamp(min=0.0)


def log_probabilities(embeddings: Tensor, prototypes: Tensor, temperature: Tensor | float = 1.0) -> Tensor:
    """Log-probability of each class for each embedding, (n, C) float32; the exponentials of a row sum to one.

    Paper: Eq. 2, with the squared distance divided by a temperature (1 in the paper) so that scores can be calibrated.

    Args:
        embeddings: (n, d) float32.
        prototypes: (C, d) float32, of classes that do not contain one another; C at least 1.
        temperature: above 0.
    """
    return (-squared_distances(embeddings, prototypes) / temperature).log_softmax(dim=1)
