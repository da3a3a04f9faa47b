"""Recommend what would help the predictions of an open project most.

Classes without examples come first: their images cannot be recognised. Then come labels of images
unlike the labelled ones, then a better backbone or training it, then more examples of single
classes; measured on circuit boards and on Grocery Store (decision 83).
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from engine.backbones import bundled
from engine.backbones.bundled import BackboneChoice, OfferedBackbone
from engine.collection.graph_suggestions.suggestion import (
    FEWEST_HELPED,
    MORE_SHOTS,
    helped_by_class,
)
from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS, CollectionState
from engine.collection.training.settings import can_train, is_likely_to_help, labels_trained_on
from engine.everyday.classifier import HoldsOut, ProjectClassifier
from engine.everyday.scores import share_interval
from engine.everyday.unseen import ClassesSeen, seen_classes
from engine.graph.category_graph import CategoryGraph
from engine.texts import Message, enumerated, marked

# upper bound of the 95% interval of held-out accuracy, below which the backbone is blamed. Chosen
SEPARATED = 0.9
SHARE_HELPED = 0.05  # of the unlabelled images must gain by more examples. Chosen
MOST_NAMED = 3  # classes
MOST_GIVEN = 2  # recommendations at a time. Chosen: a third would not be followed first


class RecommendationKind(StrEnum):
    """Kinds of recommendations, the most helpful first."""

    LABEL_CLASSES = "label_classes"
    LABEL_OTHERS = "label_others"
    ACCURATE_BACKBONE = "accurate_backbone"
    TRAIN_BACKBONE = "train_backbone"
    MORE_EXAMPLES = "more_examples"


TEXTS = {
    RecommendationKind.LABEL_CLASSES: marked(
        "{seen:,} of {leaves:,} classes have examples. "
        "Label {count} images of each; next: {classes}."
    ),
    RecommendationKind.LABEL_OTHERS: marked(
        "Your labelled images look different from most others here. "
        "Labelling a few of those would help most."
    ),
    RecommendationKind.ACCURATE_BACKBONE: marked(
        "The fast backbone often confuses these: {classes}. The accurate one would likely help."
    ),
    RecommendationKind.TRAIN_BACKBONE: marked(
        "The backbone often confuses these: {classes}. Training it would likely help."
    ),
    RecommendationKind.MORE_EXAMPLES: marked(
        "{count} more examples of each would help about {images:,} images: {classes}."
    ),
}
TEXTS_OF_ONE = {
    RecommendationKind.LABEL_CLASSES: marked(
        "1 of {leaves:,} classes has examples. Label {count} images of each; next: {classes}."
    ),
    RecommendationKind.MORE_EXAMPLES: marked(
        "{count} more examples of {classes} would help about {images:,} images."
    ),
}


@dataclass(frozen=True)
class Recommendation:
    """A recommendation."""

    kind: RecommendationKind
    # confused classes, or those that need examples, the worst first
    class_ids: tuple[int, ...] = ()
    # estimated number of images that `MORE_SHOTS` more examples of each would settle
    images: int = 0
    # numbers of leaves with and without examples, if some have none
    unseen: ClassesSeen | None = None

    def text(self, name_of: Callable[[int], str]) -> Message:
        """One or two sentences, with names of classes."""
        names = enumerated(map(name_of, self.class_ids))
        fields: dict[str, object] = {"classes": names, "count": MORE_SHOTS, "images": self.images}
        is_one = len(self.class_ids) == 1
        if self.unseen is not None:
            seen, leaves = self.unseen.seen, self.unseen.seen + self.unseen.unseen
            fields |= {"seen": seen, "leaves": leaves}
            is_one = seen == 1
        several = TEXTS[self.kind]
        return Message(TEXTS_OF_ONE.get(self.kind, several) if is_one else several, fields)


@dataclass(frozen=True)
class RecommendationInput:
    """Input of recommendations."""

    fitted: ProjectClassifier
    graph: CategoryGraph
    state: CollectionState
    has_accurate: bool = False  # whether the accurate backbone can replace the fast one
    can_train: bool = True  # whether this program can train the project's backbone
    trained_on: int = 0  # number of labelled images, see `labels_trained_on`


def recommendations_of(live: LiveCollection) -> tuple[Recommendation, ...]:
    """Recommendations for an open project; none before the first fit."""
    fitted, project = live.fitted, live.project
    if fitted is None or len(fitted.candidate_ids) == 0:
        return ()
    return find_recommendations(
        RecommendationInput(
            fitted,
            project.classes.graph,
            live.state,
            has_accurate=accurate_offer(live) is not None,
            can_train=project.is_writable and can_train(),
            trained_on=labels_trained_on(project),
        )
    )


def find_recommendations(given: RecommendationInput) -> tuple[Recommendation, ...]:
    """The most helpful recommendations, at most `MOST_GIVEN`."""
    found = (
        next_class(given.fitted, given.graph, given.state),
        _others(given.fitted),
        _other_backbone(given),
        _more_examples(given.graph, given.state),
    )
    return tuple(each for each in found if each is not None)[:MOST_GIVEN]


def accurate_offer(live: LiveCollection) -> OfferedBackbone | None:
    """The accurate backbone, if the project uses the unmodified fast one and has labels."""
    if bundled.is_chosen_elsewhere():
        return None
    project, offered = live.project, {one.choice: one for one in bundled.offered_backbones()}
    fast, accurate = offered.get(BackboneChoice.FAST), offered.get(BackboneChoice.ACCURATE)
    uses_fast = (
        fast is not None
        and not project.models.current.is_trained_here
        and project.models.current.backbone_name == fast.name
    )
    if (
        accurate is None
        or not uses_fast
        or not project.is_writable
        or (live.state.label_class == NO_CLASS).all()
    ):
        return None
    return accurate


def next_class_of(live: LiveCollection) -> Recommendation | None:
    """Class without examples to label next in an open project; see `next_class`."""
    return (
        None
        if live.fitted is None
        else next_class(live.fitted, live.project.classes.graph, live.state)
    )


def next_class(
    fitted: ProjectClassifier, graph: CategoryGraph, state: CollectionState
) -> Recommendation | None:
    """Class without examples to label next: the one with most predicted images.

    Without predicted images, one of the parent with most images, else the first by name. None if
    all classes have examples.
    """
    if fitted.figures.unseen is None:
        return None
    seen, counts = seen_classes(graph, fitted.shots.counts()), state.image_counts

    def order(class_id: int) -> tuple[int, int, str]:
        around = max((counts.get(each, 0) for each in graph.parents(class_id)), default=0)
        return -counts.get(class_id, 0), -around, graph.name(class_id)

    unseen = [leaf for leaf in graph.leaves() if leaf not in seen]
    if not unseen:
        return None
    return Recommendation(
        RecommendationKind.LABEL_CLASSES, (min(unseen, key=order),), unseen=fitted.figures.unseen
    )


def _others(fitted: ProjectClassifier) -> Recommendation | None:
    return (
        Recommendation(RecommendationKind.LABEL_OTHERS)
        if fitted.figures.has_shots_from_elsewhere
        else None
    )


def _other_backbone(given: RecommendationInput) -> Recommendation | None:
    """Another backbone, or training it, if held-out shots are often confused."""
    shots, mistakes = _mistakes(given.fitted, given.graph)
    right = shots - mistakes.total()
    if not shots or share_interval(right, shots)[1] >= SEPARATED:
        return None
    confused: Counter[int] = Counter()
    for pair, count in mistakes.items():
        confused.update(dict.fromkeys(pair, count))
    class_ids = tuple(each for each, _count in confused.most_common() if each in given.graph)[
        :MOST_NAMED
    ]
    if not class_ids:
        return None
    if given.has_accurate:
        return Recommendation(RecommendationKind.ACCURATE_BACKBONE, class_ids)
    labels = given.state.label_class[given.state.label_class >= 0]
    will_help = is_likely_to_help(
        np.bincount(labels).tolist(),
        trained_on=given.trained_on,
        model_name=given.state.model_name,
        accuracy=right / shots,
    )
    return (
        Recommendation(RecommendationKind.TRAIN_BACKBONE, class_ids)
        if given.can_train and will_help
        else None
    )


def _mistakes(fitted: HoldsOut, graph: CategoryGraph) -> tuple[int, Counter[tuple[int, int]]]:
    """Number of held-out shots, and of confusions by pair of classes."""
    held_out = fitted.held_out
    if held_out is None or held_out.probabilities.size == 0:
        return 0, Counter()
    answers = fitted.candidate_ids[held_out.top_class()[0]].tolist()
    fitting = held_out.fitting(graph)
    pairs = zip(held_out.class_ids.tolist(), answers, strict=True)
    return len(answers), Counter(
        (label, given) for label, given in pairs if given not in fitting.get(label, ())
    )


def _more_examples(graph: CategoryGraph, state: CollectionState) -> Recommendation | None:
    helped = helped_by_class(graph, state)
    if sum(helped.values()) < SHARE_HELPED * np.count_nonzero(state.label_class == NO_CLASS):
        return None
    most = sorted(helped, key=lambda each: (-helped[each], each))[:MOST_NAMED]
    images = round(sum(helped[each] for each in most))
    return (
        Recommendation(RecommendationKind.MORE_EXAMPLES, tuple(most), images)
        if images >= FEWEST_HELPED
        else None
    )
