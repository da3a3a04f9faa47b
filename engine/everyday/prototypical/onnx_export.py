"""The fitted model as ONNX operators: from a new image's embedding to class probabilities.

The formulas are those of `EverydayModel.classify_new`, and an export is compared with it on the
collection's own embeddings (`agreement.py`). Of the collection it holds the anchors alone.
"""

from typing import Any, NamedTuple

import numpy as np

from engine.arrays import Floats, Integers
from engine.everyday.back_off import BRANCH_POWER, LEAST_PROBABILITY, BackOff, Branches
from engine.everyday.classifier import COARSE, DISTANCE, EMBEDDING, PROBABILITIES
from engine.everyday.collection_stage.basis import SAME, CollectionBasis
from engine.everyday.collection_stage.calibration import Calibration
from engine.everyday.collection_stage.class_balance import LEAST as LEAST_CHANCE
from engine.everyday.collection_stage.neighbours import FARTHEST, NEIGHBOURS
from engine.everyday.collection_stage.novelty import LONELINESS, Novelty
from engine.everyday.collection_stage.stage import CollectionStage
from engine.everyday.graph_writer import GraphWriter, Value
from engine.everyday.prototypical.classification import LinearClassifier
from engine.everyday.unseen import LEAST_BRANCH, LEAST_SIMILARITY, MOST_KNOWN, UnseenClasses

_SHORTEST = 1e-6  # what `Whitening.apply` divides by at least
_LEAST_STRENGTH = 1e-30
"""Divides weights and strengths of links of an image that is like no anchor: all of them are 0."""
_LEAST_SUM = 1e-9  # divides at least. Chosen: no sum of probabilities is below it but 0.


class _Links(NamedTuple):
    """Whitened embeddings (B, d) and their links to anchors."""

    turned: Value  # (B, d) before the length is made 1
    vector: Value  # (B, d) of length 1
    places: Value  # (B, k) int64
    weights: Value  # (B, k)
    followed: Value  # (B, 1) their sums


def answers_model(
    classifier: LinearClassifier,
    prototypes: Floats,
    rules: BackOff,
    opset: int,
    *,
    stage: CollectionStage | None = None,
    novelty: Novelty | None = None,
    unseen: UnseenClasses | None = None,
) -> Any:
    """The operators as an `onnx.ModelProto`; distances are to the prototypes (c, d)."""
    from onnx import TensorProto, helper

    graph = GraphWriter(opset, "answers/")
    embedding = graph.value(EMBEDDING)
    links = None
    if stage is not None:
        links = _links(embedding, stage.basis)
        chances = _staged(embedding, stage, links)
    else:
        chances = _by_prototype(embedding, classifier)
    if unseen is not None:
        similarity = None
        if novelty is not None:
            similarity = _similarity(links or _links(embedding, novelty.basis), novelty)
        chances = _divided(chances, similarity, unseen)
    probabilities = chances.apply("Identity", name=PROBABILITIES)
    outputs: dict[str, tuple[str | int, ...]] = {PROBABILITIES: ("batch", len(rules.candidate_ids))}
    if len(rules.coarse_ids):
        probabilities.apply("MatMul", rules.roll_up, name=COARSE)
        outputs[COARSE] = ("batch", len(rules.coarse_ids))
    best = probabilities.apply("ArgMax", axis=1, keepdims=0)
    off = embedding - graph.add("Gather", prototypes, best, axis=0)
    (off * off).reduced("ReduceSum", keeps=False, name=DISTANCE)
    outputs[DISTANCE] = ("batch",)
    width = classifier.weights.shape[1]
    body = helper.make_graph(
        graph.nodes,
        "answers",
        [helper.make_tensor_value_info(EMBEDDING, TensorProto.FLOAT, ["batch", width])],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in outputs.items()
        ],
        graph.arrays,
    )
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def _by_prototype(source: Value, classifier: LinearClassifier) -> Value:
    """Eq. 2 for embeddings of length 1, whose squares are 1."""
    offsets = classifier.offsets + classifier.breadth
    return source.apply("Gemm", classifier.weights, offsets, transB=1).apply("Softmax", axis=1)


def _links(embedding: Value, basis: CollectionBasis) -> _Links:
    """As `CollectionBasis.links_of_new`: the nearest anchors; an anchor excludes itself."""
    graph = embedding.graph
    turned = (embedding - basis.whitening.mean) @ basis.whitening.matrix
    vector = turned.unit(_SHORTEST)
    further = ["answers/nearest"]
    cosines = (vector @ basis.vectors.T).apply(
        "TopK", [NEIGHBOURS + 1], more_outputs=further, axis=1
    )
    places = graph.value(*further)
    is_itself = cosines.columns([0]) > SAME
    places, cosines = (
        is_itself.apply(
            "Where", each.columns(range(1, NEIGHBOURS + 1)), each.columns(range(NEIGHBOURS))
        )
        for each in (places, cosines)
    )
    alike = cosines.apply("Max", 0.0)
    squares = alike * alike
    strengths = squares * squares
    shares = strengths / strengths.sum().apply("Max", _LEAST_STRENGTH)
    followed = (shares * alike).sum().apply("Min", FARTHEST)
    return _Links(turned, vector, places, shares * followed, followed)


def _staged(embedding: Value, stage: CollectionStage, links: _Links) -> Value:
    """As `CollectionStage.probabilities`, where all classes have examples."""
    chances_of_anchors = stage.refined.chances.at(np.arange(len(stage.basis.anchors)))
    linked = embedding.graph.add("Gather", chances_of_anchors, links.places, axis=0)
    walked = (links.weights.apply("Unsqueeze", [1]) @ linked).apply("Squeeze", [1])
    around, balance = links.vector, stage.balance
    if balance.is_moved or balance.compared < 1:
        width, compared = balance.matrix.shape
        turned = links.turned.columns(range(width - compared, width))
        around = (turned - balance.shift).unit(_SHORTEST)
    by_prototype = _by_prototype(around, stage.refined.classifier)
    chances = walked + (1.0 - links.followed) * by_prototype
    if stage.regression is not None:
        regression = _by_prototype(embedding, stage.regression)
        chances = _blended(chances, regression, balance.powers)
    return _calibrated(chances, stage.calibration)


def _blended(chances: Value, regression: Value, powers: tuple[float, float]) -> Value:
    """As `ClassBalance.blend`."""
    own, other = (
        source.apply("Max", LEAST_CHANCE).apply("Log") * power
        for source, power in zip((chances, regression), powers, strict=True)
    )
    return (own + other).apply("Softmax", axis=1)


def _calibrated(chances: Value, calibration: Calibration) -> Value:
    """As `Calibration.apply`."""
    logs = chances.apply("Max", LEAST_PROBABILITY).apply("Log")
    sharp = (logs * calibration.power).apply("Softmax", axis=1)
    doubt = sharp @ calibration.smoothing[:, None]
    flat = sharp.apply("Sqrt")
    leaked = sharp - sharp * doubt + flat * (doubt / flat.sum())
    leaning = _leaning(leaked, calibration.branches)
    if calibration.priors is None:
        return leaning
    weighed = leaning * calibration.priors
    return weighed / weighed.sum()


def _leaning(claims: Value, branches: Branches) -> Value:
    """As `Branches.lean`."""
    if branches.roll_up.shape[1] == 0:
        return claims
    means, place = branches.means
    logs = (claims @ branches.roll_up).apply("Max", LEAST_PROBABILITY).apply("Log")
    factors = (logs @ (BRANCH_POWER * means)).apply("Exp")
    leaning = factors.columns(place) * claims
    return leaning / leaning.sum()


def _similarity(links: _Links, novelty: Novelty) -> Value:
    """As `Novelty.similarity`: (B, 1)."""
    graph = links.weights.graph
    shares = links.weights / links.followed.apply("Max", _LEAST_STRENGTH)
    around, usual = (
        (shares * graph.add("Gather", values, links.places)).sum()
        for values in (novelty.spread, novelty.basis.anchor_links.followed[:, 0])
    )
    company = links.followed / usual.apply("Max", _LEAST_STRENGTH)
    return around * company.apply("Min", 1.0).apply("Pow", LONELINESS)


def _divided(probabilities: Value, similarity: Value | None, unseen: UnseenClasses) -> Value:
    """As `UnseenClasses.divide`: probabilities (B, c) that sum to less than 1."""
    known = _known(probabilities, similarity, unseen)
    of_seen = probabilities * ~unseen.is_unseen
    seen = of_seen / of_seen.sum().apply("Max", _LEAST_SUM)
    divided = seen * known
    places = np.flatnonzero(unseen.is_unseen)
    if len(places) == 0:
        return divided
    weights = _unseen_weights(seen, places, unseen)
    shares = weights / (weights.sum() + unseen.outside)
    column = np.arange(len(unseen.is_unseen))
    column[places] = len(column) + np.arange(len(places))
    return divided.apply("Concat", shares * (1.0 - known), axis=1).columns(column)


def _known(probabilities: Value, similarity: Value | None, unseen: UnseenClasses) -> Value:
    """As `UnseenClasses.known`: (B, 1)."""
    if similarity is None or not unseen.evidence:
        evidence = (probabilities * 0.0).sum()
    else:
        evidence = similarity.apply("Max", LEAST_SIMILARITY).apply("Log") * unseen.evidence
    mean = (evidence + unseen.offsets).apply("Sigmoid").reduced("ReduceMean")
    return mean.apply("Clip", 1 - MOST_KNOWN, unseen.most_known)


def _unseen_weights(seen: Value, places: Integers, unseen: UnseenClasses) -> Value:
    """(B, u) weights of the u candidates without examples: their leaves, by branches' lift."""
    branches, leaves, usual_weight = unseen.branches, unseen.leaves[places], unseen.usual_weight
    if branches.roll_up.shape[1] == 0:
        return seen.columns(places) * leaves + leaves
    above = seen @ branches.roll_up + (np.float32(usual_weight) * unseen.usual + LEAST_BRANCH)
    below = np.float32(1 + usual_weight) * unseen.usual + LEAST_BRANCH
    means, place = branches.means
    lifts = ((above / below).apply("Log") @ means).apply("Exp")
    return lifts.columns(place[places]) * leaves
