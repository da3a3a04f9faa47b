"""The contract of classifiers that learn from a project's labels.

A `Classifier` is fitted to a `FitSnapshot` and gives a `ProjectClassifier`. Its core is
`FittedClassifier`, all that classifying needs; `Explains`, `Exports` and `HoldsOut` add a layer
each. Window, command line and `engine.collection` know these alone; `engine.everyday.in_use`
chooses the implementation. Each passes `tests/engine/everyday/test_every_classifier.py`.

Embeddings are (n, d), of length 1, as float32 or in fixed point. A row is a place in
`FitSnapshot.images.row_ids`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol

from engine.arrays import Flags, Floats, Integers, RowOrder
from engine.everyday.back_off import BackOff, Policy
from engine.everyday.blocks import Embeddings
from engine.everyday.look_alikes import SCREEN, LookAlikes, Opinions
from engine.everyday.scores import HeldOutShots, Scores
from engine.everyday.shots import EmbeddedSnapshot, Shots
from engine.everyday.unseen import ClassesSeen
from engine.graph.category_graph import CategoryGraph

EMBEDDING = "embedding"  # input of an exported classifier: (B, d) float32 of length 1
PROBABILITIES = "probabilities"  # output: (B, c) float32, of each candidate
COARSE = "coarse_probabilities"
"""Output: (B, k) float32, of each coarse class that may be predicted; absent without any."""
DISTANCE = "distance"  # output: (B,) float32, see `Exports.distance`


class Setting(StrEnum):
    """The everyday model with known, guessed or no parents; or logistic regression."""

    PPN_PLUS = "ppn+"
    PPN = "ppn"
    PROTOTYPES = "prototypes"
    REGRESSION = "regression"


@dataclass(frozen=True)
class FitSnapshot:
    """Everything a fit needs, as of one moment."""

    graph: CategoryGraph  # a copy
    images: EmbeddedSnapshot  # with labels and embeddings
    policies: Mapping[int, Policy]  # bars, deepest and broadest classes by class id
    setting: Setting = Setting.PPN_PLUS  # which classifier
    # Whether unlabelled and coarse-labelled images teach, where a classifier uses them
    with_collection: bool = True
    checked: Sequence[int] = ()  # images that were labelled after they had been drawn at random
    # Odds of being wrong of sure predictions, relative to what the model says, by an audit
    error_odds: float = 1.0
    # Ids of an image and of a class that is excluded for it
    excluded: Sequence[tuple[int, int]] = ()
    broadest_level: int = 0  # above which no coarse class is named
    # s of lambda = n / (n + s) (Eq. 6); None: chosen on held-out shots
    shrinkage: float | None = None

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
    """Share of a class's prototype that comes from the images of one class."""

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

    image_id: int
    class_id: int  # the class it is explained for
    score: float  # its probability
    own: Share  # the share of the prototype that is the class's own shots
    # Shares of its parents; with `own`, `coarse` and `unlabelled` they sum to 1
    parents: tuple[Share, ...]
    safe: ScoredClass | None  # the safe class, None when not even a coarse one is sure
    is_unknown: bool  # it looks like none of the classes
    # The rest is empty without the collection stage.
    coarse: tuple[Share, ...] = ()  # shares of images with a coarse label
    unlabelled: float = 0.0  # share of unlabelled images
    # What the prediction follows; the prototypes have the rest of the weight
    look_alikes: tuple[LookAlike, ...] = ()


@dataclass(frozen=True)
class Inheritance:
    """What classes take from their parents (Eq. 5 and 6)."""

    # Weight of own images; 0 for a zero-shot class
    own_shares: Mapping[int, float] = field(default_factory=dict)
    # Attention of each (parent, child)
    edge_weights: Mapping[tuple[int, int], float] = field(default_factory=dict)


@dataclass(frozen=True)
class CollectionFigures:
    """What unlabelled and coarse-labelled images add."""

    is_used: bool  # they do; they do not where they would do worse on held-out shots
    shots: int  # shots that were held out
    hits: int  # of these, right with them
    hits_without: int  # of these, right without
    images: int = 0  # that similarity was learned from
    anchors: int = 0
    familiarity: float = 1.0  # of the shots with the unlabelled images, in (0, 1]
    has_shots_from_elsewhere: bool = False  # the shots look unlike most images


@dataclass(frozen=True)
class FitFigures:
    """How a fit went."""

    shots_checked: int  # shots that were held out, each in turn
    accuracy: float  # of these, the share that is right; NaN without any
    shrinkage: float = 0.0  # s of lambda = n / (n + s) (Eq. 6); 0 where nothing is propagated.
    # What the collection adds; None where it was not used
    collection: CollectionFigures | None = None
    unseen: ClassesSeen | None = None  # leaves with and without examples; None where all have some

    @property
    def uses_collection(self) -> bool:
        """Whether unlabelled and coarse-labelled images taught, too."""
        return self.collection is not None and self.collection.is_used

    @property
    def has_shots_from_elsewhere(self) -> bool:
        """Whether the shots look unlike most images: a few labels among those would help most."""
        return self.collection is not None and self.collection.has_shots_from_elsewhere


class Space(Protocol):
    """A space in which images of one class are close."""

    def apply(self, embeddings: Embeddings, /) -> Floats:
        """Vectors (n, e) float32 of length 1."""


class FittedClassifier(Protocol):
    """The core, which classifies images; immutable, safe to use from several threads.

    It chooses among c candidates, none of which is an ancestor of another; without candidates it
    classifies nothing.
    """

    @property
    def candidate_ids(self) -> Integers:
        """(c,) int64 class ids."""

    @property
    def back_off(self) -> BackOff:
        """Roll-up and bars over the candidates."""

    def classify(self, embeddings: Embeddings, rows: Integers | None = None) -> Scores:
        """Classify images (n, d) of the snapshot, at these rows (n,) or all, on all cores.

        `stopped_by` cancels it.
        """

    def classify_new(self, embeddings: Embeddings) -> Scores:
        """Classify images (n, d) that need not be in the snapshot."""

    def probabilities(self, embeddings: Embeddings, rows: Integers | None = None) -> Floats:
        """Probability (n, c) of each candidate for up to some thousand images, at rows or new ones.

        They sum to less than 1 where a class without examples is not a candidate, see
        `engine.everyday.unseen`.
        """

    def is_unknown(self, scores: Scores) -> Flags:
        """(n,) bool: the image shows none of the classes."""


class Explains(FittedClassifier, Protocol):
    """Gives reasons for its answers."""

    def explain(
        self,
        image_id: int,
        embedding: Floats,
        chances: Floats,
        *,
        class_id: int,
        safe: ScoredClass | None,
    ) -> Explanation | None:
        """Explain an image's class by embedding (d,) and probabilities (c,); or None."""

    def prototype(self, class_id: int) -> Floats | None:
        """(d,) of a class, None where it has none."""

    @property
    def inheritance(self) -> Inheritance:
        """What classes take from their parents; empty where the classifier uses no graph."""

    @property
    def space(self) -> Space | None:
        """The space for comparing images, learned from the collection; None: the backbone's."""


class Exports(FittedClassifier, Protocol):
    """Can be written as an ONNX model."""

    def export(self, opset: int) -> Any:
        """Return `classify_new` as an `onnx.ModelProto`.

        Its input is `EMBEDDING`, its outputs are `PROBABILITIES`, `COARSE` and `DISTANCE`.
        """

    def distance(self, scores: Scores) -> Floats:
        """(n,) float32, squared distance to the prototype of the most probable candidate."""

    def unknown_distance(self, scores: Scores, is_free: Flags) -> float:
        """The distance beyond which an image is unknown without a collection to compare.

        It is derived from the scores of a collection's n images, of which `is_free` (n,) have no
        label.
        """


class HoldsOut(FittedClassifier, Protocol):
    """Knows how it does on labelled images that it did not learn from."""

    @property
    def held_out(self) -> HeldOutShots | None:
        """Its scores of shots that it did not learn from; None where none was held out."""

    def hold_out_each(self, graph: CategoryGraph) -> Flags:
        """(m,) bool: whether each shot that can be predicted without itself is right."""


class ProjectClassifier(Explains, Exports, HoldsOut, Protocol):
    """All that a project asks of a fitted classifier."""

    @property
    def setting(self) -> Setting: ...

    @property
    def shots(self) -> Shots:
        """The labelled images it was fitted to."""

    @property
    def figures(self) -> FitFigures: ...

    @property
    def has_links(self) -> Flags | None:
        """(r,) bool, rows of the snapshot classified by look-alikes; None without any."""


class ImageLinks(Protocol):
    """Which of n images look like which; immutable, safe to use from several threads."""

    @property
    def image_ids(self) -> Integers:
        """(n,) int64, ascending."""

    def rows_of(self, image_ids: Integers, /) -> Integers:
        """Rows (k,) of images; -1 for those that it does not know or that have no embedding."""

    def groups(
        self, opinions: Opinions, rows: Integers, *, most: int = SCREEN
    ) -> tuple[LookAlikes, ...]:
        """Put each image of these rows (k,) with an embedding into one group, best for a key first.

        Raises:
            Cancelled: the token of `stopped_by` was set.
        """


class Classifier(Protocol):
    """A way to learn; keeps what the next fit can use. One fit at a time."""

    def fit(self, snapshot: FitSnapshot) -> ProjectClassifier:
        """Learn from the labels; without any there is no candidate.

        Raises:
            Cancelled: the token of `stopped_by` was set; the next fit is not affected.
            ModelError: a file of the backbone cannot be loaded.
        """

    def look_alikes(self, snapshot: FitSnapshot) -> ImageLinks | None:
        """Links between similar images of the snapshot; None where there are too few images."""

    def teach_first(
        self, snapshot: FitSnapshot, fitted: FittedClassifier, scores: Scores
    ) -> RowOrder | None:
        """Rows of the unlabelled images, most informative first; None where that is unknown."""
