"""Graph network of Garcia and Bruna (ICLR 2018): images are nodes, edge weights are learned."""

from dataclasses import dataclass
from itertools import pairwise
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional

from research.baselines.initial_weights import uniform_linear

EDGE_WIDTH_FACTORS = (2, 2, 1, 1)
"""Widths of the four edge layers, in edge widths; from the authors' code."""


@dataclass(frozen=True)
class GraphNetworkSettings:
    """The sizes of the graph network.

    Attributes:
        projected_width: length of an embedding in a node; 128 in the authors' code, 64 here for
            speed on a CPU.
        edge_width: width of the last two edge layers, half of that of the first two and twice what
            a block adds to a node; 96 in the authors' code.
        hidden_blocks: blocks before the one that classifies; 2 in the authors' code.
    """

    projected_width: int = 64
    edge_width: int = 96
    hidden_blocks: int = 2


@final
class AdjacencyScores(nn.Module):
    """Scores of edges: a network on the absolute difference of two nodes' features.

    Args:
        width_in: length of a node.
        edge_width: as in `GraphNetworkSettings`.
        generator: source of the initial weights.
    """

    def __init__(self, width_in: int, edge_width: int, generator: torch.Generator) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after in pairwise(
            (width_in, *(factor * edge_width for factor in EDGE_WIDTH_FACTORS))
        ):
            layers += [
                uniform_linear(before, after, generator),
                nn.BatchNorm1d(after),
                nn.LeakyReLU(inplace=True),
            ]
        self.layers = nn.Sequential(*layers, uniform_linear(edge_width, 1, generator))

    def forward(self, differences: Tensor) -> Tensor:
        """Scores (..., P) of absolute differences (..., P, f)."""
        scores: Tensor = self.layers(differences.flatten(0, -2))
        return scores.view(differences.shape[:-1])


@final
class GraphBlock(nn.Module):
    """Graph convolution: a linear layer of a node's features and the mean of its neighbours'.

    Args:
        width_in: length of a node.
        width_out: length of the result.
        edge_width: as in `GraphNetworkSettings`.
        generator: source of the initial weights.
    """

    def __init__(
        self, width_in: int, width_out: int, edge_width: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.edge_scores = AdjacencyScores(width_in, edge_width, generator)
        self.linear = uniform_linear(2 * width_in, width_out, generator)

    def forward(self, own: Tensor, adjacency: Tensor, nodes: Tensor) -> Tensor:
        """Results of some nodes of each graph.

        Args:
            own: (g, r, f) float32, the nodes to compute.
            adjacency: (g, r, n) float32, their weights of `nodes`.
            nodes: (g, n, f) float32.

        Returns:
            (g, r, width_out) float32.
        """
        result: Tensor = self.linear(torch.cat([own, adjacency @ nodes], dim=2))
        return result


@final
class GraphNetwork(nn.Module):
    """Classify one query at a time by a complete graph of the support images and that query.

    The query is the last node. The operators of a convolution are the identity and the adjacency.
    Three computations of the authors' code are shared; results are equal, except that the batch
    norms of the edges count each pair once, and a node's distance to itself not at all: scores are
    symmetric, so only one of (i, j) and (j, i) is scored; in the first block all queries share the
    edges between support images; the last block computes the query's edges only.

    Args:
        width_in: length of an embedding.
        max_ways: length of a one-hot label and number of results.
        settings: sizes.
        generator: source of the initial weights.
    """

    def __init__(
        self,
        width_in: int,
        max_ways: int,
        settings: GraphNetworkSettings,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        edge_width, grown = settings.edge_width, settings.edge_width // 2
        widths = [
            settings.projected_width + max_ways + grown * i
            for i in range(settings.hidden_blocks + 1)
        ]
        # The authors use batch normalisation here; layer normalisation does not depend on the few
        # images of an iteration.
        self.projection = nn.Sequential(
            uniform_linear(width_in, settings.projected_width, generator),
            nn.LayerNorm(settings.projected_width),
        )
        self.hidden = nn.ModuleList(
            GraphBlock(width, grown, edge_width, generator) for width in widths[:-1]
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(grown) for _ in widths[:-1])
        self.last = GraphBlock(widths[-1], max_ways, edge_width, generator)

    def forward(
        self, support: Tensor, labels: Tensor, queries: Tensor, query_label: Tensor
    ) -> Tensor:
        """Class scores of each query.

        Args:
            support: (n, d) float32, embeddings.
            labels: (n, max_ways) float32, one-hot.
            queries: (q, d) float32.
            query_label: (max_ways,) float32, the label of every query: even over the classes of the
                task, as in the paper; zero in the authors' code.

        Returns:
            (q, max_ways) float32.
        """
        support_nodes = torch.cat([self.projection(support), labels], dim=1)
        query_nodes = torch.cat(
            [self.projection(queries), query_label.expand(len(queries), -1)], dim=1
        )
        nodes = torch.cat([support_nodes.expand(len(queries), -1, -1), query_nodes[:, None]], dim=1)
        for place, (block, norm) in enumerate(zip(self.hidden, self.norms, strict=True)):
            assert isinstance(block, GraphBlock)
            scores = (
                _scores_with_shared_support(block.edge_scores, support_nodes, query_nodes)
                if place == 0
                else _scores_of_all_pairs(block.edge_scores, nodes)
            )
            added = block(nodes, adjacency(scores, nodes.shape[1]), nodes)
            added = norm(added.flatten(0, 1)).view_as(added)
            nodes = torch.cat([nodes, functional.leaky_relu(added)], dim=2)
        others, query = nodes[:, :-1], nodes[:, -1:]
        weights = self.last.edge_scores((others - query).abs()).softmax(dim=1)
        results: Tensor = self.last(query, weights[:, None], others)
        return results[:, 0]


def node_pairs(count: int, device: torch.device | None = None) -> Tensor:
    """All pairs of `count` nodes: (2, P) int64, row 0 < row 1; pairs of the last node last."""
    second, first = torch.tril_indices(count, count, offset=-1, device=device)
    return torch.stack([first, second])


def adjacency(scores: Tensor, count: int) -> Tensor:
    """Symmetric scores as weights that each node gives to the others.

    Args:
        scores: (g, P) float32, of `node_pairs(count)`.
        count: nodes of each graph, n, at least 2.

    Returns:
        (g, n, n) float32 in [0, 1]; rows sum to one, the diagonal is zero.
    """
    first, second = node_pairs(count, scores.device)
    square = scores.new_full((len(scores), count, count), float("-inf"))
    square[:, first, second] = scores
    square[:, second, first] = scores
    return square.softmax(dim=2)


def _scores_of_all_pairs(edge_scores: nn.Module, nodes: Tensor) -> Tensor:
    first, second = node_pairs(nodes.shape[1], nodes.device)
    scores: Tensor = edge_scores((nodes[:, first] - nodes[:, second]).abs())
    return scores


def _scores_with_shared_support(edge_scores: nn.Module, support: Tensor, queries: Tensor) -> Tensor:
    first, second = node_pairs(len(support), support.device)
    shared = (support[first] - support[second]).abs()
    own = (queries[:, None] - support).abs()
    scores: Tensor = edge_scores(torch.cat([shared, own.flatten(0, 1)]))
    of_shared, of_own = scores[: len(shared)], scores[len(shared) :]
    return torch.cat([of_shared.expand(len(queries), -1), of_own.view(len(queries), -1)], dim=1)
