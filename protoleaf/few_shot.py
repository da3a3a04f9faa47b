"""Prototype propagation (Eq. 2 to 6) as a torch module in the form of few-shot libraries."""

from typing import final

import torch
from torch import Tensor, nn

from engine.model.propagation import (
    EdgeScores,
    Normalisation,
    PlainAttention,
    initial_prototypes,
    log_probabilities,
    propagate,
)

NEIGHBOURS = 3  # classes taken for parents where no graph is given (paper, "Meta-Test")
LAMBDA = 0.9
"""Chosen: the paper's 0.5 is for a trained attention; without, it loses points (decision 79)."""
BATCHED = 2  # dimensions of the labels of a batch of tasks


@final
class PrototypePropagationNetwork(nn.Module):
    """Classifies the queries of few-shot tasks by prototypes that were propagated over a graph.

    It has the methods of easyfsl's `FewShotClassifier`: `process_support_set` and `forward`, so
    that easyfsl's evaluation runs on it. Differentiable with regard to backbone, attention and
    lambda; runs on any device.

    >>> network = PrototypePropagationNetwork(edge_index=torch.tensor([[2, 2], [0, 1]]))
    >>> support = torch.eye(2)  # one image for each of the two leaves of class 2
    >>> network.process_support_set(support, torch.tensor([0, 1]))
    >>> network(support).argmax(dim=1).tolist()
    [0, 1]

    Args:
        backbone: from images (n, ...) to embeddings (n, d); None for images that are embeddings.
        edge_index: (2, E) int64, row 0 the parent, row 1 the child, of classes as labels number
            them; None takes each class's nearest prototypes for its parents, as the paper does
            where none are known.
        lambda_: weight of a class's own prototype in [0, 1] (Eq. 6), a number or (C,).
        attention: similarity of children to parents (Eq. 5); by default their cosine.
        temperature: divides squared distances (Eq. 2).
        steps, normalisation: of `engine.model.propagation.propagate`.
    """

    edge_index: Tensor | None
    prototypes: Tensor
    exists: Tensor

    def __init__(
        self,
        backbone: nn.Module | None = None,
        *,
        edge_index: Tensor | None = None,
        lambda_: Tensor | float = LAMBDA,
        attention: EdgeScores | None = None,
        temperature: float = 1.0,
        steps: int = 1,
        normalisation: Normalisation = "softmax",
    ) -> None:
        super().__init__()
        self.backbone = backbone or nn.Identity()
        self.attention = attention or PlainAttention()
        self.lambda_ = lambda_
        self.temperature = temperature
        self.steps = steps
        self.normalisation: Normalisation = normalisation
        self.register_buffer("edge_index", edge_index, persistent=False)
        self.register_buffer("prototypes", torch.zeros(0), persistent=False)
        self.register_buffer("exists", torch.zeros(0, dtype=torch.bool), persistent=False)

    @staticmethod
    def is_transductive() -> bool:
        """Whether queries are classified together: each one is by itself."""
        return False

    def process_support_set(self, support_images: Tensor, support_labels: Tensor) -> None:
        """Make prototypes (Eq. 3 to 6) of C classes, the largest label plus one.

        Args:
            support_images: (n, ...) of one task, or (b, n, ...) of a batch of tasks.
            support_labels: (n,) or (b, n) int64 in [0, C); a class above others may have images,
                too, and takes those of the classes below it where it has none.

        Raises:
            ValueError: labels and images do not fit each other, or the graph has no such class.
        """
        if support_labels.ndim not in (1, BATCHED) or len(support_labels) != len(support_images):
            raise ValueError(
                "expected labels (n,) of images (n, ...) or (b, n) of (b, n, ...),"
                f" got {tuple(support_labels.shape)} of {tuple(support_images.shape)}"
            )
        is_single = support_labels.ndim < BATCHED
        labels = support_labels[None] if is_single else support_labels
        embeddings = self._embeddings(support_images[None] if is_single else support_images)
        tasks, classes = len(labels), self._class_count(labels)
        first = torch.arange(tasks, device=labels.device)[:, None] * classes
        task, class_place, image = self._members(labels, classes)
        initial = initial_prototypes(
            embeddings.flatten(0, 1),
            task * labels.shape[1] + image,
            task * classes + class_place,
            tasks * classes,
        )
        propagation = propagate(
            self.attention,
            initial,
            self._edges(initial.vectors.view(tasks, classes, -1), first),
            torch.as_tensor(self.lambda_, device=labels.device).expand(classes).repeat(tasks),
            steps=self.steps,
            normalisation=self.normalisation,
        )
        shape = (classes,) if is_single else (tasks, classes)
        self.prototypes = propagation.final.vectors.view(*shape, -1)
        self.exists = propagation.final.exists.view(shape)

    def forward(self, query_images: Tensor) -> Tensor:
        """Log-probabilities (n, C), or (b, n, C) of a batch, of queries (n, ...) (Eq. 2).

        Classes with children and without a prototype have minus infinity.

        Raises:
            RuntimeError: there was no support set.
        """
        if not self.prototypes.numel():
            raise RuntimeError("call process_support_set first: there are no prototypes yet")
        if self.prototypes.ndim == BATCHED:
            embeddings = self._embeddings(query_images[None])[0]
            return self._scores(embeddings, self.prototypes, self.exists)
        embeddings = self._embeddings(query_images)
        return torch.stack(list(map(self._scores, embeddings, self.prototypes, self.exists)))

    def _embeddings(self, images: Tensor) -> Tensor:
        """Embeddings (b, n, d) of images (b, n, ...)."""
        embeddings: Tensor = self.backbone(images.flatten(0, 1))
        return embeddings.view(*images.shape[:2], -1)

    def _class_count(self, labels: Tensor) -> int:
        if self.edge_index is None:
            return int(labels.max()) + 1
        return int(torch.cat([labels.flatten(), self.edge_index.flatten()]).max()) + 1

    def _members(self, labels: Tensor, classes: int) -> tuple[Tensor, ...]:
        """Task, class and image of each pair that makes up initial prototypes, by labels (b, n).

        A class without images of its own takes those of the classes below it, as the program has
        it.
        """
        own = labels[:, None] == torch.arange(classes, device=labels.device)[:, None]
        if self.edge_index is None:
            return own.nonzero(as_tuple=True)
        below = _below(self.edge_index, classes)[:, labels].transpose(0, 1)
        return torch.where(own.any(dim=2, keepdim=True), own, below).nonzero(as_tuple=True)

    def _edges(self, initial: Tensor, first: Tensor) -> Tensor:
        """Edges (2, b * E) among the classes of all tasks, by initial prototypes (b, C, d)."""
        tasks, classes = initial.shape[:2]
        if self.edge_index is not None:
            edges = self.edge_index.expand(tasks, -1, -1)
        else:
            distances = torch.cdist(initial, initial).detach()
            distances.diagonal(dim1=1, dim2=2).fill_(float("inf"))
            count = min(NEIGHBOURS, classes - 1)
            parents = distances.topk(count, largest=False).indices.flatten(1)
            children = torch.arange(classes, device=initial.device).repeat_interleave(count)
            edges = torch.stack([parents, children.expand(tasks, -1)], dim=1)
        return (edges + first[..., None]).transpose(0, 1).flatten(1)

    def _scores(self, queries: Tensor, prototypes: Tensor, exists: Tensor) -> Tensor:
        """Log-probabilities (n, C) of queries (n, d) by prototypes (C, d)."""
        is_candidate = exists.clone()
        if self.edge_index is not None:
            is_candidate[self.edge_index[0]] = False
        scores = queries.new_full((len(queries), len(prototypes)), float("-inf"))
        found = log_probabilities(queries, prototypes[is_candidate], self.temperature)
        return scores.masked_scatter(is_candidate, found)


def _below(edge_index: Tensor, classes: int) -> Tensor:
    """(C, C) bool: whether the second class is below the first, by edges (2, E).

    Raises:
        ValueError: a class would be below itself.
    """
    children = torch.zeros((classes, classes), device=edge_index.device)
    children[edge_index[0], edge_index[1]] = 1
    below, deeper = children, children @ children
    while (deeper > 0).any():
        if below.diagonal().any():
            raise ValueError("edge_index has a cycle: a class would be below itself")
        below, deeper = below + deeper, (deeper @ children > 0).float()
    return below > 0
