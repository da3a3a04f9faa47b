"""Why: what a prediction rests on, in numbers that can be followed back to images."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.everyday.back_off import Policy, bars_in_effect, where_bar_is_set
from engine.everyday.model import EverydayModel
from engine.graph.category_graph import CategoryGraph


@dataclass(frozen=True)
class ScoredClass:
    """A class with a probability, weight or similarity in [0, 1]."""

    class_id: int
    score: float


@dataclass(frozen=True)
class Share:
    """Part of a prototype that comes from one class's images."""

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
    """Why an image is of a class.

    Attributes:
        image_id: the image.
        class_id: the class it is explained for.
        score: its probability, given that the image is of one of the candidates.
        own: the share of the prototype that is the class's own shots.
        parents: the shares that its parents propagated. With `own`, `coarse` and `unlabelled` they sum to 1.
        safe: the safe class, None when not even a coarse one is sure.
        is_unknown: it looks like none of the classes.
        coarse: with the collection stage, the shares of the prototype that images with a coarse label make up.
        unlabelled: with the collection stage, the share that unlabelled images make up.
        look_alikes: with the collection stage, the images whose classes the prediction follows; what their weights lack
            to 1 is how far it follows the prototypes.
    """

    image_id: int
    class_id: int
    score: float
    own: Share
    parents: tuple[Share, ...]
    safe: ScoredClass | None
    is_unknown: bool
    coarse: tuple[Share, ...] = ()
    unlabelled: float = 0.0
    look_alikes: tuple[LookAlike, ...] = ()


@dataclass(frozen=True)
class ClassFacts:
    """What is known of a class.

    Attributes:
        shots: images a person labelled with exactly this class.
        lambda_: weight of its own shots in its prototype (Eq. 6).
        parents: parents with their attention weights (Eq. 5); weight 0 where nothing is propagated.
        is_zero_shot: only what ancestors propagate.
        bar: probability that must be passed, in effect.
        own_bar: set on this very class, None when inherited.
        bar_from: the class whose bar it is, None where nobody set one.
    """

    class_id: int
    shots: tuple[int, ...]
    lambda_: float
    parents: tuple[ScoredClass, ...]
    is_zero_shot: bool
    bar: float
    own_bar: float | None
    bar_from: int | None = None


def top_classes(fitted: EverydayModel, chances: NDArray[np.float32], count: int) -> tuple[ScoredClass, ...]:
    """The likeliest candidates, best first, by their probabilities (c,)."""
    order = np.argsort(-chances, kind="stable")[:count]
    return tuple(ScoredClass(int(fitted.candidate_ids[place]), float(chances[place])) for place in order)


def explain(
    fitted: EverydayModel,
    image_id: int,
    embedding: NDArray[np.float32],
    chances: NDArray[np.float32],
    *,
    class_id: int | None = None,
    safe: ScoredClass | None = None,
) -> Explanation | None:
    """Take a prediction apart; for the likeliest class unless another one is asked about.

    Args:
        fitted: the model.
        image_id: the image.
        embedding: (d,) its embedding.
        chances: (c,) its probabilities.
        class_id: a class with a prototype.
        safe: its safe class.
    """
    if len(fitted.candidates) == 0:
        return None
    best = top_classes(fitted, chances, 1)[0]
    asked = best.class_id if class_id is None else class_id
    place = fitted.place_of(asked)
    if place is None:
        return None
    made_of = _made_of(fitted, place)
    return Explanation(
        image_id, asked, _score(fitted, chances, asked), made_of.own, made_of.parents, safe,
        is_unknown=_is_unknown(fitted, image_id, embedding, best.class_id),
        coarse=made_of.coarse, unlabelled=made_of.unlabelled, look_alikes=_look_alikes(fitted, image_id),
    )  # fmt: skip


def _is_unknown(fitted: EverydayModel, image_id: int, embedding: NDArray[np.float32], nearest_class: int) -> bool:
    if (novelty := fitted.novelty) is None:
        return fitted.squared_distance(embedding, nearest_class) > fitted.tuning.unknown_distance
    rows = novelty.basis.rows_of(np.array([image_id]))
    similarity = novelty.similarity_at(rows) if rows[0] >= 0 else novelty.similarity_of_new(embedding[None])
    return bool(similarity[0] < novelty.threshold)


def _score(fitted: EverydayModel, chances: NDArray[np.float32], class_id: int) -> float:
    """Probability of a candidate, or of all candidates below a coarse class."""
    coarse = np.flatnonzero(fitted.back_off.coarse_ids == class_id)
    if len(coarse):
        return float(chances @ fitted.back_off.roll_up[:, coarse[0]])
    return float(chances[fitted.candidate_ids == class_id].sum())


@dataclass(frozen=True)
class _MadeOf:
    own: Share
    parents: tuple[Share, ...]
    coarse: tuple[Share, ...] = ()
    unlabelled: float = 0.0


def _made_of(fitted: EverydayModel, place: int) -> _MadeOf:
    """What a prototype is made of; the shares sum to 1."""
    table = fitted.table
    keep = float(table.lambda_[place])
    edges = np.flatnonzero(table.edges[1] == place)
    own = Share(int(table.class_ids[place]), keep, _images_of(fitted, place))
    parents = tuple(
        Share(int(table.class_ids[parent]), (1 - keep) * float(weight), _images_of(fitted, int(parent)))
        for parent, weight in zip(table.edges[0, edges], table.edge_weights[edges], strict=True)
    )
    made_of = _MadeOf(own, tuple(sorted(parents, key=lambda share: -share.share)))
    candidate = np.flatnonzero(fitted.candidates == place)
    return made_of if fitted.stage is None or not len(candidate) else _refined(fitted, made_of, int(candidate[0]))


def _refined(fitted: EverydayModel, start: _MadeOf, candidate: int) -> _MadeOf:
    """What the collection stage made of it: the propagated prototype keeps a share, the shots have theirs once more."""
    assert fitted.stage is not None, "asked only with the stage on"
    refined = fitted.stage.refined
    kept, unlabelled = float(refined.start[candidate]), float(refined.unlabelled[candidate])
    shots = 1 - kept - unlabelled - float(refined.coarse[candidate])
    return _MadeOf(
        replace(start.own, share=kept * start.own.share + shots),
        tuple(replace(parent, share=kept * parent.share) for parent in start.parents),
        _coarse_shares(fitted, candidate, float(refined.coarse[candidate])),
        unlabelled,
    )


def _coarse_shares(fitted: EverydayModel, candidate: int, total: float) -> tuple[Share, ...]:
    """The part that images with a coarse label have, by the class they are labelled with."""
    assert fitted.stage is not None, "asked only with the stage on"
    stage, labels = fitted.stage, fitted.stage.labels
    positions = labels.sharing(candidate)
    parts = stage.refined.chances.at(positions)[:, candidate]
    if total <= 0 or parts.sum() <= 0:
        return ()
    image_ids = stage.basis.image_ids[stage.basis.anchors[positions]]
    order = np.argsort(fitted.shots.image_ids, kind="stable")
    label_of = fitted.shots.class_ids[order][np.searchsorted(fitted.shots.image_ids[order], image_ids)]
    shares = [
        Share(
            int(label), total * float(parts[label_of == label].sum() / parts.sum()),
            tuple(image_ids[label_of == label].tolist()),
        )
        for label in np.unique(label_of)
    ]  # fmt: skip
    return tuple(sorted(shares, key=lambda share: -share.share))


def _look_alikes(fitted: EverydayModel, image_id: int) -> tuple[LookAlike, ...]:
    """The images whose classes this one's probabilities follow, the strongest link first."""
    if fitted.stage is None:
        return ()
    basis = fitted.stage.basis
    row = int(basis.rows_of(np.array([image_id]))[0])
    if row < 0:
        return ()
    links = basis.links_at(np.array([row]))
    positions, weights = links.positions[0], links.weights[0]
    linked = np.flatnonzero(weights > 0)
    ids = basis.image_ids[basis.anchors[positions[linked]]]
    return tuple(LookAlike(int(other), float(weight)) for other, weight in zip(ids, weights[linked], strict=True))


def _images_of(fitted: EverydayModel, place: int) -> tuple[int, ...]:
    members = fitted.table.membership
    positions = members.image_positions[members.class_positions == place]
    return tuple(fitted.shots.image_ids[positions].tolist())


def class_facts(
    fitted: EverydayModel | None,
    graph: CategoryGraph,
    policies: Mapping[int, Policy],
    class_id: int,
    *,
    shots: tuple[int, ...],
) -> ClassFacts:
    """Collect what is known of a class; it need not have a prototype."""
    place = None if fitted is None else fitted.place_of(class_id)
    weights: dict[int, float] = {}
    keep, is_zero_shot = 1.0 if shots else 0.0, not shots
    if fitted is not None and place is not None:
        keep, is_zero_shot = float(fitted.table.lambda_[place]), bool(fitted.table.is_zero_shot[place])
        edges = np.flatnonzero(fitted.table.edges[1] == place)
        parents = fitted.table.class_ids[fitted.table.edges[0, edges]].tolist()
        weights = dict(zip(parents, fitted.table.edge_weights[edges].tolist(), strict=True))
    own = policies[class_id].bar if class_id in policies else None
    return ClassFacts(
        class_id, shots, keep,
        tuple(ScoredClass(parent, weights.get(parent, 0.0)) for parent in graph.parents(class_id)),
        is_zero_shot, bars_in_effect(graph, policies, [class_id])[class_id], own,
        where_bar_is_set(graph, policies, class_id),
    )  # fmt: skip
