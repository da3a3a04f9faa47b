"""The contract of classifiers: what the program asks of whatever learns classes from a person's labels.

A `Classifier` is fitted to a `FitSnapshot` and gives a `FittedClassifier`. Window, command line and `engine.collection`
know these alone; `engine.everyday.in_use` says which classifier answers. What all of them share is beside this module:
bars and roll-up (`back_off`), scores, blocks of rows, embeddings in fixed point, the order to label in (`teaching`).
Every classifier passes `tests/engine/everyday/test_every_classifier.py`.

Embeddings are (n, d), of length 1, as float32 or in fixed point. A row is a place in `FitSnapshot.images.row_ids`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.everyday.back_off import BackOff, Policy
from engine.everyday.fixed_point import Embeddings
from engine.everyday.scores import HeldOutShots, Scores
from engine.everyday.shots import Shots
from engine.everyday.snapshot import EmbeddedSnapshot
from engine.graph.category_graph import CategoryGraph

EMBEDDING: Final = "embedding"
"""Input of an exported classifier: (B, d) float32 of length 1."""
PROBABILITIES: Final = "probabilities"
"""Output: (B, c) float32, of each candidate."""
COARSE: Final = "coarse_probabilities"
"""Output: (B, k) float32, of each class above candidates that may be named; not there where there is none."""
DISTANCE: Final = "distance"
"""Output: (B,) float32, see `FittedClassifier.distance`."""

Matrix = NDArray[np.float32]


class Setting(StrEnum):
    """The everyday model with known parents, guessed ones, or none; or logistic regression, which knows no graph."""

    PPN_PLUS = "ppn+"
    PPN = "ppn"
    PROTOTYPES = "prototypes"
    REGRESSION = "regression"


@dataclass(frozen=True)
class FitSnapshot:
    """Everything a fit needs, as it was when it was asked for; nobody changes it."""

    graph: CategoryGraph  # a copy
    images: EmbeddedSnapshot  # with labels and embeddings
    policies: Mapping[int, Policy]  # bars and deepest classes by class id
    setting: Setting = Setting.PPN_PLUS  # which classifier
    # whether unlabelled and coarse-labelled images teach, too, where the classifier can use them
    with_collection: bool = True

    @cached_property
    def shots(self) -> Shots:
        """The labelled images that have an embedding."""
        return self.images.shots(self.graph)


@dataclass(frozen=True)
class ScoredClass:
    """A class with a probability, weight or similarity in [0, 1]."""

    class_id: int
    score: float


@dataclass(frozen=True)
class Share:
    """Part of what stands for a class that comes from one class's images."""

    class_id: int
    share: float
    image_ids: tuple[int, ...]


@dataclass(frozen=True)
class LookAlike:
    """An image and how far another one's prediction follows it, in [0, 1]."""

    image_id: int
    weight: float


@dataclass(frozen=True)
class Explanation:
    """Why an image is of a class."""

    image_id: int  # the image
    class_id: int  # the class it is explained for
    score: float  # its probability, given that the image is of one of the candidates
    own: Share  # the share of the prototype that is the class's own shots
    # the shares that its parents propagated. With `own`, `coarse` and `unlabelled` they sum to 1.
    parents: tuple[Share, ...]
    safe: ScoredClass | None  # the safe class, None when not even a coarse one is sure
    is_unknown: bool  # it looks like none of the classes
    # with the collection stage, the shares of the prototype that images with a coarse label make up
    coarse: tuple[Share, ...] = ()
    unlabelled: float = 0.0  # with the collection stage, the share that unlabelled images make up
    # with the collection stage, the images whose classes the prediction follows; what their weights lack to 1 is how
    # far it follows the prototypes
    look_alikes: tuple[LookAlike, ...] = ()


@dataclass(frozen=True)
class Inheritance:
    """What classes take from their parents (Eq. 5 and 6)."""

    # weight of its own images in what stands for a class; 0 for one that only ancestors describe
    own_shares: Mapping[int, float] = field(default_factory=dict)
    # attention weight of each edge (parent, child) that something is propagated over
    edge_weights: Mapping[tuple[int, int], float] = field(default_factory=dict)


@dataclass(frozen=True)
class CollectionFigures:
    """What unlabelled and coarse-labelled images add."""

    is_used: bool  # they do; they do not where they would do worse on held-out shots
    shots: int  # shots that were held out
    # hits, hits_without: how many of these are right with them, and without
    hits: int
    hits_without: int
    images: int = 0  # that their likeness was learned from
    anchors: int = 0  # images that stand for all
    familiarity: float = 1.0  # how alike shots are to the unlabelled images, in (0, 1]
    has_shots_from_elsewhere: bool = False  # the shots look unlike most images


@dataclass(frozen=True)
class FitFigures:
    """How a fit went."""

    shots_checked: int  # shots that were held out, each in turn
    accuracy: float  # of these, the share that is right; NaN without any
    shrinkage: float = 0.0  # s of lambda = n / (n + s) (Eq. 6); 0 where nothing is propagated.
    collection: CollectionFigures | None = None  # what the collection adds; None where it was not asked

    @property
    def uses_collection(self) -> bool:
        """Whether unlabelled and coarse-labelled images taught, too."""
        return self.collection is not None and self.collection.is_used

    @property
    def has_shots_from_elsewhere(self) -> bool:
        """Whether the shots look unlike most images, so that a few labels among those would teach most."""
        return self.collection is not None and self.collection.has_shots_from_elsewhere


class Space(Protocol):
    """A space in which images of one thing lie together."""

    def apply(self, embeddings: Embeddings, /) -> Matrix:
        """Vectors (n, e) float32 of length 1."""


class FittedClassifier(Protocol):
    """Answers about images and classes; from several threads at once, and never changed.

    It chooses among c candidates, none of which lies above another; with no candidate nothing is asked of images.
    """

    @property
    def setting(self) -> Setting:
        """Which classifier it is."""

    @property
    def shots(self) -> Shots:
        """The labelled images it was fitted to."""

    @property
    def candidate_ids(self) -> NDArray[np.int64]:
        """(c,) int64 class ids."""

    @property
    def back_off(self) -> BackOff:
        """Roll-up and bars over the candidates."""

    @property
    def held_out(self) -> HeldOutShots | None:
        """What it says of shots that it did not learn from; None where none was held out."""

    @property
    def figures(self) -> FitFigures:
        """How the fit went."""

    def classify(self, embeddings: Embeddings, rows: NDArray[np.int64] | None = None) -> Scores:
        """Classify images (n, d) of the snapshot, at these rows (n,) or all; on all cores, stopped by `stopped_by`."""

    def classify_new(self, embeddings: Embeddings) -> Scores:
        """Classify images (n, d) that need not be in the snapshot."""

    def probabilities(self, embeddings: Embeddings, rows: NDArray[np.int64] | None = None) -> Matrix:
        """Probability (n, c) of each candidate, with sums of 1, for at most a few thousand images.

        Args:
            embeddings: (n, d).
            rows: (n,) in the snapshot; None for images that need not be in it.
        """

    def is_unknown(self, scores: Scores) -> NDArray[np.bool_]:
        """(n,) bool: the image shows none of the classes."""

    def explain(
        self, image_id: int, embedding: Matrix, chances: Matrix, *, class_id: int, safe: ScoredClass | None
    ) -> Explanation | None:
        """Take a prediction apart; None where nothing is known of the class.

        Args:
            embedding: (d,) its embedding.
            chances: (c,) its probabilities.
            class_id: the class that it is explained for.
            safe: its safe class.
        """

    def prototype(self, class_id: int) -> Matrix | None:
        """(d,) what a class's images look like on the whole, None where nothing is known of it."""

    def distance(self, scores: Scores) -> Matrix:
        """(n,) float32, squared distance to the prototype of the likeliest candidate."""

    def unknown_distance(self, scores: Scores, is_free: NDArray[np.bool_]) -> float:
        """The distance from which on an image is unknown where there is no collection to compare it with.

        Args:
            scores: of the n images of the collection.
            is_free: (n,) bool, those without a label.
        """

    def hold_out_each(self, graph: CategoryGraph) -> NDArray[np.bool_]:
        """(m,) bool, in the order of the shots: each one whose leaf can be told without it, is it told rightly?"""

    def export(self, opset: int) -> Any:
        """`classify_new` as an `onnx.ModelProto`, from `EMBEDDING` to `PROBABILITIES`, `COARSE` and `DISTANCE`."""

    @property
    def inheritance(self) -> Inheritance:
        """What classes take from their parents; nothing where the classifier knows no graph."""

    @property
    def space(self) -> Space | None:
        """Where images are compared with one another, learned from the collection; None where they are as they are."""

    @property
    def has_links(self) -> NDArray[np.bool_] | None:
        """(r,) bool, rows of the snapshot that are classified by their look-alikes; None where it needs none."""


class Classifier(Protocol):
    """A way to learn; keeps what the next fit can use. One fit at a time."""

    def fit(self, snapshot: FitSnapshot) -> FittedClassifier:
        """Learn from the labels; without any, nothing is a candidate.

        Raises:
            Cancelled: the token of `stopped_by` says so; the next fit is none the worse.
            ModelError: a file of the backbone cannot be loaded.
        """

    def teach_first(self, snapshot: FitSnapshot, fitted: FittedClassifier, scores: Scores) -> NDArray[np.int64] | None:
        """Rows of the unlabelled images in the order in which labels would teach most; None where nothing can be said.

        Args:
            scores: of each row.
        """
