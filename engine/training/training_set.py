"""Training images with classes on a category graph, and episodes on cached embeddings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from engine.arrays import Pixels
from engine.errors import InputError
from engine.training.settings import at_least, between

Positions = NDArray[np.int64]
LEAST_CLASSES = 2  # A task over fewer classes has nothing to tell apart
LEAST_LEAVES = 3 * LEAST_CLASSES  # training, validation and held-out leaves


@dataclass(frozen=True)
class TrainingSet:
    """Images with their classes on a category graph of C classes."""

    # (n, S, S, 3) uint8 RGB; may be memory-mapped. S beyond the trained side is room for shifts.
    pixels: Pixels
    class_positions: Positions  # (n,) int64 in [0, C), the most specific class known of each image
    edge_index: Positions  # (2, E) int64, row 0 the parent, row 1 the child; without cycles
    # (C,) int64, level of each class; a class competes with the others on its level
    levels: Positions
    # (F,) int64, sorted positions of the few-shot (finest) classes; all others are coarse
    few_shot: Positions
    class_names: tuple[str, ...]  # C names, for messages

    @property
    def class_count(self) -> int:
        return len(self.class_names)

    @property
    def side(self) -> int:
        """Side S of the stored images in pixels."""
        return int(self.pixels.shape[1])

    @cached_property
    def images_by_class(self) -> tuple[Positions, ...]:
        """Ascending positions of the images that each class itself has, for each of C classes."""
        return tuple(_positions_by_class(self.class_positions, self.class_count))

    @cached_property
    def ancestors(self) -> tuple[frozenset[int], ...]:
        return tuple(
            frozenset(nx.ancestors(self._graph, position)) for position in range(self.class_count)
        )

    @cached_property
    def descendants(self) -> tuple[frozenset[int], ...]:
        return tuple(
            frozenset(nx.descendants(self._graph, position)) for position in range(self.class_count)
        )

    @cached_property
    def _graph(self) -> "nx.DiGraph[int]":
        return _graph_of(self.edge_index, self.class_count)


def _positions_by_class(class_positions: Positions, class_count: int) -> list[Positions]:
    order = np.argsort(class_positions, kind="stable")
    bounds = np.cumsum(np.bincount(class_positions, minlength=class_count))[:-1]
    return np.split(order, bounds)


def _graph_of(edge_index: Positions, class_count: int) -> "nx.DiGraph[int]":
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(class_count))
    graph.add_edges_from(edge_index.T.tolist())
    return graph


@dataclass(frozen=True)
class EpisodeSettings:
    """How images are shared out and episodes drawn."""

    ways: int = 5  # few-shot classes in an episode; fewer when there are not as many
    shots: int = 1  # labelled images of each few-shot class (the support set)
    queries: int = 5  # images of each few-shot class to classify
    coarse_queries: int = 10  # images of each coarse class to classify at its level, at most
    # Share of each leaf's images that is labelled with one of its ancestors only
    coarse_share: float = 0.5
    # Share of a coarse class's images that are queries and not part of its prototype
    coarse_query_share: float = 0.2
    # Share of the leaf classes that only select the best iteration
    validation_share: float = 0.2
    held_out_share: float = 0.2  # share of the leaf classes that only the figures are measured on

    def __post_init__(self) -> None:
        at_least(self, ways=LEAST_CLASSES, shots=1, queries=1, coarse_queries=1)
        between(self, coarse_share=(0.0, 0.9), coarse_query_share=(0.0, 1.0))
        between(self, validation_share=(0.0, 0.5), held_out_share=(0.0, 0.5))

    def left_with_leaf(self, images: int) -> int:
        """Of a leaf's images, those that do not become coarse-labelled."""
        return images - int(images * self.coarse_share)


@final
class ClassArrays:
    """The category graph of C classes by edges (2, E) int64, row 0 the parent, row 1 the child.

    Attributes:
        levels: (C,) int64, longest path from a root; no class shares a level with its own ancestor.
        is_leaf: (C,) bool, classes without children.
    """

    def __init__(self, edge_index: Positions, class_count: int) -> None:
        self.edge_index = edge_index
        self.class_count = class_count
        self._graph = _graph_of(edge_index, class_count)
        self.levels = np.zeros(class_count, dtype=np.int64)
        for level, classes in enumerate(nx.topological_generations(self._graph)):
            self.levels[list(classes)] = level
        self.is_leaf = np.ones(class_count, dtype=np.bool_)
        self.is_leaf[edge_index[0]] = False

    def ancestors(self, class_position: int) -> Positions:
        """Sorted positions of all classes above one class."""
        return np.array(sorted(nx.ancestors(self._graph, class_position)), dtype=np.int64)

    def descendants(self, class_position: int) -> Positions:
        """Sorted positions of all classes below one class."""
        return np.array(sorted(nx.descendants(self._graph, class_position)), dtype=np.int64)


@dataclass(frozen=True)
class ImageShares:
    """Which images play which part; none plays two."""

    # Images of each leaf for support sets and queries; empty for coarse classes
    few_shot: tuple[Positions, ...]
    coarse: tuple[Positions, ...]  # images behind each coarse class's prototype; empty for leaves
    coarse_queries: tuple[Positions, ...]  # images of each coarse class to classify at its level


def share_out(
    hierarchy: ClassArrays,
    class_positions: Positions,
    settings: EpisodeSettings,
    generator: np.random.Generator,
) -> ImageShares:
    """Give every image one part: few-shot image of its leaf, or coarse-labelled.

    A share of each leaf's images loses its fine label and keeps one ancestor, drawn at random, as
    its only label: in the paper, weak labels are what the propagation learns from. Images of coarse
    classes are coarse-labelled anyway. `class_positions` (n,) int64 are the most specific classes
    known.
    """
    few_shot: list[Positions] = []
    coarse: list[list[int]] = [[] for _ in range(hierarchy.class_count)]
    by_class = _positions_by_class(class_positions, hierarchy.class_count)
    for position, images in enumerate(by_class):
        shuffled = generator.permutation(images)
        ancestors = hierarchy.ancestors(position)
        if not hierarchy.is_leaf[position]:
            coarse[position].extend(shuffled.tolist())
            few_shot.append(shuffled[:0])
            continue
        given_away = len(shuffled) - settings.left_with_leaf(len(shuffled)) if len(ancestors) else 0
        for image in shuffled[:given_away].tolist():
            coarse[int(generator.choice(ancestors))].append(image)
        few_shot.append(shuffled[given_away:])
    kept, queries = [], []
    for images_of_class in coarse:
        shuffled = generator.permutation(np.array(images_of_class, dtype=np.int64))
        query_count = int(len(shuffled) * settings.coarse_query_share)
        queries.append(shuffled[:query_count])
        kept.append(shuffled[query_count:])
    return ImageShares(tuple(few_shot), tuple(kept), tuple(queries))


@dataclass(frozen=True)
class LeafSplit:
    """Positions of leaves, at least two in each part, each in one only."""

    training: Positions
    validation: Positions
    held_out: Positions


def split_leaves(
    shares: ImageShares, settings: EpisodeSettings, generator: np.random.Generator
) -> LeafSplit:
    """Split the leaves that have enough images for an episode.

    Raises:
        InputError: fewer than six leaves have enough images.
    """
    needed = settings.shots + settings.queries
    able = np.array(
        [place for place, images in enumerate(shares.few_shot) if len(images) >= needed],
        dtype=np.int64,
    )
    if len(able) < LEAST_LEAVES:
        raise too_little(settings, len(able))
    spare = len(able) - LEAST_LEAVES
    validation = LEAST_CLASSES + int(spare * settings.validation_share)
    held_out = LEAST_CLASSES + int(spare * settings.held_out_share)
    parts = np.split(generator.permutation(able), [validation, validation + held_out])
    return LeafSplit(
        training=np.sort(parts[2]), validation=np.sort(parts[0]), held_out=np.sort(parts[1])
    )


def too_little(settings: EpisodeSettings, able: int) -> InputError:
    """The error for too few leaves that have enough images."""
    needed = settings.shots + settings.queries
    images = needed
    while settings.left_with_leaf(images) < needed:
        images += 1
    return InputError(
        "there is too little to learn propagation from",
        expected="at least {least_leaves} leaf classes with {images} labelled images each",
        found=f"{able}",
        remedy="label more images, or ask for fewer shots and queries",
        least_leaves=LEAST_LEAVES,
        images=images,
    )


@dataclass(frozen=True)
class Task:
    """One classification: queries among classes that do not contain one another."""

    candidates: Positions  # (K,) int64, places in the episode's `classes`
    images: Positions  # (q,) int64, image positions
    targets: Positions  # (q,) int64 in [0, K), the place of each image's class in `candidates`
    is_coarse: bool  # whether the candidates are coarse classes


@dataclass(frozen=True)
class Episode:
    """A sampled subgraph with its support set and one task for each level."""

    # (S,) int64, ascending positions of the few-shot classes and all their ancestors
    classes: Positions
    edge_index: Positions  # (2, E) int64, edges among them, as places in `classes`
    support_images: Positions  # (ways * shots,) int64
    support_places: Positions  # (ways * shots,) int64, places in `classes`
    tasks: tuple[Task, ...]  # first the few-shot classes, then each level of coarse classes


def draw_episode(
    hierarchy: ClassArrays,
    shares: ImageShares,
    leaves: Positions,
    settings: EpisodeSettings,
    generator: np.random.Generator,
) -> Episode:
    """Draw few-shot classes, their subgraph, support set and queries.

    Paper: Algorithm 1, lines 8 and 13. The few-shot classes are one task whatever their depth, as
    the program classifies over all leaves; in the paper they share the deepest level. Coarse
    classes are one task for each level, those without queries left out.
    """
    fine = np.sort(generator.choice(leaves, min(settings.ways, len(leaves)), replace=False))
    above = np.unique(np.concatenate([hierarchy.ancestors(int(leaf)) for leaf in fine]))
    classes = np.union1d(fine, above)
    inside = np.isin(hierarchy.edge_index[1], classes)
    drawn = [
        generator.choice(shares.few_shot[leaf], settings.shots + settings.queries, replace=False)
        for leaf in fine
    ]
    tasks = [_task(classes, fine, [images[settings.shots :] for images in drawn], is_coarse=False)]
    for level in np.unique(hierarchy.levels[above]):
        level_classes = above[hierarchy.levels[above] == level]
        candidates = np.array(
            [place for place in level_classes if len(shares.coarse_queries[place])], dtype=np.int64
        )
        own = [shares.coarse_queries[place] for place in candidates]
        queries = [
            generator.choice(each, min(settings.coarse_queries, len(each)), replace=False)
            for each in own
        ]
        if len(candidates) >= LEAST_CLASSES:
            tasks.append(_task(classes, candidates, queries, is_coarse=True))
    edges = np.searchsorted(classes, hierarchy.edge_index[:, inside])
    support = np.concatenate([images[: settings.shots] for images in drawn])
    places = np.repeat(np.searchsorted(classes, fine), settings.shots)
    return Episode(classes, edges, support, places, tuple(tasks))


def _task(
    classes: Positions, candidates: Positions, images: Sequence[Positions], *, is_coarse: bool
) -> Task:
    targets = np.repeat(np.arange(len(candidates)), [len(of_class) for of_class in images])
    return Task(np.searchsorted(classes, candidates), np.concatenate(images), targets, is_coarse)
