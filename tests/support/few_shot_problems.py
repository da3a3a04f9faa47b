"""Generated few-shot problems: classes are colours, coarse classes groups of them."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.training.loop import Objective
from engine.training.training_set import TrainingSet

SIDE = 16
NOISE = 25.0
IMAGES_OF_A_CLASS = 12
ROOTS, MIDDLES, LEAVES = 2, 4, 12
LEVELS = np.array([3] * ROOTS + [4] * MIDDLES + [5] * LEAVES)
FIRST_LEAF = ROOTS + MIDDLES


def colours(count: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Distinct colours of the colour cube in random order, `count` at most 26."""
    steps = np.stack(np.meshgrid(*[[40.0, 128.0, 215.0]] * 3), axis=-1).reshape(-1, 3)
    return generator.permutation(steps[np.abs(steps - 128).sum(axis=1) > 0])[:count]


def images(of_colours: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.uint8]:
    """One noisy image (16, 16, 3) of each of (n, 3) colours."""
    noise = generator.normal(0, NOISE, (len(of_colours), SIDE, SIDE, 3))
    return np.clip(of_colours[:, None, None] + noise, 0, 255).astype(np.uint8)


def colour_training_set(seed: int = 0) -> TrainingSet:
    """2 classes on level 3, 4 on level 4 and 12 few-shot classes on level 5, 12 images each."""
    generator = np.random.default_rng(seed)
    of_leaves = colours(LEAVES, generator)
    parents = np.concatenate([np.arange(MIDDLES) // 2, ROOTS + np.arange(LEAVES) // 3])
    edge_index = np.stack([parents, np.arange(ROOTS, FIRST_LEAF + LEAVES)])
    members = [np.arange(root * 6, root * 6 + 6) for root in range(ROOTS)]
    members += [np.arange(middle * 3, middle * 3 + 3) for middle in range(MIDDLES)]
    members += [np.array([leaf]) for leaf in range(LEAVES)]
    leaves_of_images = np.concatenate([generator.choice(own, IMAGES_OF_A_CLASS) for own in members])
    return TrainingSet(
        pixels=images(of_leaves[leaves_of_images], generator),
        class_positions=np.repeat(np.arange(len(members)), IMAGES_OF_A_CLASS),
        edge_index=edge_index,
        levels=LEVELS,
        few_shot=np.arange(FIRST_LEAF, FIRST_LEAF + LEAVES),
        class_names=tuple(f"class {position}" for position in range(len(members))),
    )


def as_input(pixels: NDArray[np.uint8]) -> Tensor:
    """Images (n, 3, 16, 16) float32 around 0 for a backbone."""
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 64 - 2


def train(
    objective: Objective,
    training_set: TrainingSet,
    iterations: int,
    *,
    learning_rate: float = 1e-2,
    seed: int = 0,
) -> list[float]:
    """Train with Adam and return the loss of each iteration."""
    generator = np.random.default_rng(seed)
    optimiser = torch.optim.Adam(objective.parameters(), learning_rate)
    objective.train()
    losses = []
    for _ in range(iterations):
        draw = objective.draw(generator)
        loss = objective(as_input(training_set.pixels[draw.images]), draw)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


@dataclass(frozen=True)
class Tasks:
    """Embedded test tasks: support (T, N, k, d), queries (T, q, d), answers (q,) of every task."""

    support: NDArray[np.float32]
    queries: NDArray[np.float32]
    targets: NDArray[np.int64]


def colour_tasks(
    objective: Objective, *, ways: int = 4, shots: int = 1, count: int = 20, seed: int = 1
) -> Tasks:
    """Tasks of random colours with three queries of each class, embedded in evaluation mode."""
    generator = np.random.default_rng(seed)
    objective.eval()
    support, queries = [], []
    targets = np.repeat(np.arange(ways), 3)
    for _ in range(count):
        of_classes = colours(ways, generator)
        of_images = of_classes[np.concatenate([np.repeat(np.arange(ways), shots), targets])]
        with torch.no_grad():
            embeddings = objective.embed(as_input(images(of_images, generator))).numpy()
        support.append(embeddings[: ways * shots].reshape(ways, shots, -1))
        queries.append(embeddings[ways * shots :])
    return Tasks(np.stack(support), np.stack(queries), targets)
