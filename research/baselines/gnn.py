"""Few-shot learning with graph neural networks (Garcia and Bruna, ICLR 2018), as a baseline."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.errors import InputError
from engine.training.level_wise import LevelTask, LevelWiseSampler
from engine.training.loop import IterationDraw
from engine.training.training_set import Positions
from research.baselines.baseline import Baseline
from research.baselines.graph_network import GraphNetwork, GraphNetworkSettings

PAIRS_AT_ONCE = 1 << 14
"""Node pairs per batch of edge features in prediction; four times as many took twice as long."""


@dataclass(frozen=True)
class GnnSettings:
    """Settings of the baseline.

    Attributes:
        max_ways: classes of a task, at most; the ways of the test tasks.
        queries_per_class: queries of each class in an iteration, at most; the authors' code takes
            one query in a task and many tasks in an iteration.
        network: sizes of the graph network.
    """

    max_ways: int = 5
    queries_per_class: int = 1
    network: GraphNetworkSettings = field(default_factory=GraphNetworkSettings)


@dataclass(frozen=True)
class GnnDraw(IterationDraw):
    """One task with its images only.

    Attributes:
        support: (K, k) int64, rows of the draw's images.
        queries: (q,) int64, rows of the draw's images.
        targets: (q,) int64 in [0, K).
        slots: (K,) int64 in [0, max_ways), the position of each class in a one-hot label.
    """

    support: Positions
    queries: Positions
    targets: Positions
    slots: Positions


@final
class FewShotGnn(Baseline):
    """A graph network on the support images and one query.

    Paper: section 4. In the `*` variant an iteration trains on one level's task, chosen at random,
    so that its cost does not grow with the number of levels. The length of the label is fixed:
    classes get random positions in it, scores of unused positions are ignored, and `max_ways`
    classes are drawn from a larger level.

    Args:
        backbone: maps images (B, 3, H, W) to embeddings (B, d).
        embedding_width: d.
        sampler: from `baseline_sampler`: plain episodes, or one task for each level for the `*`
            variant.
        settings: constants.
        seed: of the initial weights.
    """

    def __init__(
        self,
        backbone: nn.Module,
        embedding_width: int,
        sampler: LevelWiseSampler,
        settings: GnnSettings | None = None,
        *,
        seed: int = 0,
    ) -> None:
        super().__init__(backbone)
        self.settings = settings or GnnSettings()
        self._sampler = sampler
        generator = torch.Generator().manual_seed(seed)
        self.network = GraphNetwork(
            embedding_width, self.settings.max_ways, self.settings.network, generator
        )

    def draw(self, generator: np.random.Generator) -> GnnDraw:
        """Draw an episode and one of its tasks, without the images of the others."""
        episode = self._sampler.draw(generator)
        task = episode.tasks[generator.integers(len(episode.tasks))]
        ways = min(len(task.classes), self.settings.max_ways)
        classes = generator.choice(len(task.classes), ways, replace=False)
        queries = [self._queries_of(task, place) for place in classes.tolist()]
        rows = np.concatenate([task.support[classes].ravel(), *queries])
        support = np.arange(task.support[classes].size).reshape(ways, -1)
        slots = generator.choice(self.settings.max_ways, ways, replace=False)
        targets = np.repeat(np.arange(ways), [len(of_class) for of_class in queries])
        return GnnDraw(
            episode.images[rows], support, np.arange(support.size, len(rows)), targets, slots
        )

    def _queries_of(self, task: LevelTask, place: int) -> Positions:
        return task.queries[task.targets == place][: self.settings.queries_per_class]

    def loss(self, embeddings: Tensor, draw: GnnDraw) -> Tensor:
        """Mean cross entropy of the queries.

        Args:
            embeddings: (B, d) float32.
            draw: the corresponding draw.

        Returns:
            Scalar float32, at least 0.
        """
        support, queries, targets = (
            torch.from_numpy(part).to(embeddings.device)
            for part in (draw.support, draw.queries, draw.targets)
        )
        return functional.cross_entropy(
            self.logits(embeddings[support], embeddings[queries], draw.slots), targets
        )

    def logits(self, support: Tensor, queries: Tensor, slots: Positions) -> Tensor:
        """Class scores of the queries of one task.

        Args:
            support: (K, k, d) float32.
            queries: (q, d) float32.
            slots: (K,) int64, distinct, in [0, max_ways).

        Returns:
            (q, K) float32.
        """
        ways, shots, _ = support.shape
        places = torch.from_numpy(slots).to(support.device)
        one_hot = functional.one_hot(places, self.settings.max_ways).float()
        labels = one_hot.repeat_interleave(shots, dim=0)
        results: Tensor = self.network(
            support.flatten(0, 1), labels, queries, one_hot.sum(dim=0) / ways
        )
        return results[:, places]

    def scores(
        self,
        support: Tensor,
        queries: Tensor,
        generators: Sequence[np.random.Generator],  # noqa: ARG002 (nothing is random)
    ) -> Tensor:
        """Class scores; shapes as in `Baseline.scores`.

        Raises:
            InputError: the tasks have more classes than the network was made for.
        """
        ways, nodes = support.shape[1], support.shape[1] * support.shape[2] + 1
        if ways > self.settings.max_ways:
            raise InputError(
                "the graph network was made for fewer classes",
                expected=f"at most {self.settings.max_ways}",
                found=str(ways),
                remedy="train one for as many classes as the test tasks have",
            )
        at_once = max(1, PAIRS_AT_ONCE // (nodes * (nodes - 1) // 2))
        slots = np.arange(ways)
        return torch.stack(
            [
                torch.cat(
                    [self.logits(of_support, some, slots) for some in of_queries.split(at_once)]
                )
                for of_support, of_queries in zip(support, queries, strict=True)
            ]
        )
