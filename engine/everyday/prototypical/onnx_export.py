"""The fitted model as ONNX operators: from a new image's embedding to class probabilities.

The formulas are those of `EverydayModel.classify_new`, and an export is compared with it on the
collection's own embeddings (`agreement.py`). Of the collection it holds the anchors alone.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from engine.arrays import Floats
from engine.everyday.back_off import BRANCH_POWER, LEAST_PROBABILITY, BackOff, Branches
from engine.everyday.classifier import COARSE, DISTANCE, EMBEDDING, PROBABILITIES
from engine.everyday.collection_stage.basis import SAME, CollectionBasis
from engine.everyday.collection_stage.calibration import Calibration
from engine.everyday.collection_stage.class_balance import LEAST as LEAST_CHANCE
from engine.everyday.collection_stage.neighbours import FARTHEST, NEIGHBOURS
from engine.everyday.collection_stage.novelty import LONELINESS, Novelty
from engine.everyday.collection_stage.stage import CollectionStage
from engine.everyday.graph_writer import GraphWriter
from engine.everyday.prototypical.classification import LinearClassifier
from engine.everyday.unseen import LEAST_BRANCH, LEAST_SIMILARITY, MOST_KNOWN, UnseenClasses

_TURNED: Final = "turned"  # the value of a whitened embedding before its length is made 1
_WHITENED: Final = "whitened"
_SHORTEST: Final = 1e-6  # what `Whitening.apply` divides by at least
_LEAST_STRENGTH: Final = 1e-30
"""Divides the strengths of links of an image that is like no anchor: all of them are 0."""

Shape = tuple[str | int, ...]


_LEAST_SUM: Final = 1e-9  # divides at least. Chosen: no sum of probabilities is below it but 0.


_LEAST_FOLLOWED: Final = 1e-30
"""Divides weights of links of an image that is like no anchor: all of them are 0."""


@dataclass(frozen=True)
class WrittenLinks:
    """Names of the values of links to anchors."""

    places: str  # (B, k) int64
    weights: str  # (B, k)
    followed: str  # (B, 1) their sums


def _write(
    graph: GraphWriter,
    classifier: LinearClassifier,
    prototypes: Floats,
    rules: BackOff,
    *,
    stage: CollectionStage | None,
    novelty: Novelty | None,
    unseen: UnseenClasses | None,
) -> dict[str, Shape]:
    """Add the operators; shape of each output by its name."""
    links = None
    if stage is not None:
        links = _links(graph, stage.basis)
    elif novelty is not None and unseen is not None:
        links = _links(graph, novelty.basis)
    if stage is None or links is None:
        chances = _by_prototype(graph, EMBEDDING, classifier, "everyday")
    else:
        chances = _staged(graph, stage, links)
    if unseen is not None:
        similarity = (
            None if links is None or novelty is None else write_similarity(graph, links, novelty)
        )
        chances = write_division(graph, chances, similarity, unseen)
    graph.node("Identity", [chances], PROBABILITIES)
    outputs: dict[str, Shape] = {PROBABILITIES: ("batch", len(rules.candidate_ids))}
    if len(rules.coarse_ids):
        graph.node("MatMul", [PROBABILITIES, graph.array("roll_up", rules.roll_up)], COARSE)
        outputs[COARSE] = ("batch", len(rules.coarse_ids))
    best = graph.node("ArgMax", [PROBABILITIES], "predicted", axis=1, keepdims=0)
    nearest = graph.node("Gather", [graph.array("prototypes", prototypes), best], "nearest", axis=0)
    off = graph.node("Sub", [EMBEDDING, nearest], "off")
    graph.reduced(
        "ReduceSum", graph.node("Mul", [off, off], "off.squared"), [1], DISTANCE, keeps=False
    )
    return outputs | {DISTANCE: ("batch",)}


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

    graph = GraphWriter(opset)
    outputs = _write(
        graph, classifier, prototypes, rules, stage=stage, novelty=novelty, unseen=unseen
    )
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


def _by_prototype(graph: GraphWriter, source: str, classifier: LinearClassifier, name: str) -> str:
    """Eq. 2 for embeddings of length 1, whose squares are 1."""
    weights = graph.array(f"{name}.weights", classifier.weights)
    offsets = graph.array(f"{name}.offsets", classifier.offsets + classifier.breadth)
    logits = graph.node("Gemm", [source, weights, offsets], f"{name}.logits", transB=1)
    return graph.node("Softmax", [logits], name, axis=1)


def _links(graph: GraphWriter, basis: CollectionBasis) -> WrittenLinks:
    """As `CollectionBasis.links_of_new`."""
    whitening = basis.whitening
    moved = graph.node("Sub", [EMBEDDING, graph.array("mean", whitening.mean)], "centred")
    turned = graph.node("MatMul", [moved, graph.array("whitening", whitening.matrix)], _TURNED)
    vector = graph.unit(turned, _SHORTEST, _WHITENED)
    places, cosines = _nearest(graph, vector, basis)
    weights, followed = _weights(graph, cosines)
    return WrittenLinks(places, weights, followed)


def _staged(graph: GraphWriter, stage: CollectionStage, links: WrittenLinks) -> str:
    """As `CollectionStage.probabilities`, where all classes have examples."""
    chances = graph.array(
        "anchors.chances", stage.refined.chances.at(np.arange(len(stage.basis.anchors)))
    )
    linked = graph.node("Gather", [chances, links.places], "linked", axis=0)
    axis = graph.array("links.axis", [1], np.int64)
    shares = graph.node(
        "MatMul",
        [graph.node("Unsqueeze", [links.weights, axis], "links.row"), linked],
        "follow.row",
    )
    walked = graph.node("Squeeze", [shares, axis], "follow")
    rest = graph.node("Sub", [graph.array("one", 1.0), links.followed], "rest")
    around, balance = _WHITENED, stage.balance
    if balance.is_moved or balance.compared < 1:
        width, compared = balance.matrix.shape
        turned = graph.picked(_TURNED, range(width - compared, width), "compared")
        shifted = graph.node(
            "Sub", [turned, graph.array("balance.shift", balance.shift)], "balance.shifted"
        )
        around = graph.unit(shifted, _SHORTEST, "balance.vector")
    prototypes = _by_prototype(graph, around, stage.refined.classifier, "refined")
    joined = graph.node(
        "Add", [walked, graph.node("Mul", [rest, prototypes], "rest.prototypes")], "chances"
    )
    return _calibrated(graph, _blended(graph, joined, stage), stage.calibration)


def _blended(graph: GraphWriter, chances: str, stage: CollectionStage) -> str:
    """As `ClassBalance.blend`."""
    if stage.regression is None:
        return chances
    parts = []
    plain = _by_prototype(graph, EMBEDDING, stage.regression, "regression")
    for name, source, power in zip(
        ("stage", "plain"), (chances, plain), stage.balance.powers, strict=True
    ):
        positive = graph.node(
            "Max", [source, graph.array(f"{name}.least", LEAST_CHANCE)], f"{name}.positive"
        )
        logs = graph.node("Log", [positive], f"{name}.log")
        parts.append(
            graph.node("Mul", [logs, graph.array(f"{name}.power", power)], f"{name}.powered")
        )
    return graph.node("Softmax", [graph.node("Add", parts, "blended.logits")], "blended", axis=1)


def _nearest(graph: GraphWriter, vector: str, basis: CollectionBasis) -> tuple[str, str]:
    """Places and cosines of the nearest anchors; an anchor excludes itself."""
    anchors = graph.array("anchors", np.ascontiguousarray(basis.vectors.T))
    alike = graph.node("MatMul", [vector, anchors], "alike")
    count = graph.array("links.count", [NEIGHBOURS + 1], np.int64)
    cosines, places = "nearest.cosines", "nearest.places"
    from onnx import helper

    graph.nodes.append(
        helper.make_node("TopK", [alike, count], [cosines, places], name="nearest.anchors", axis=1)
    )
    itself = graph.node(
        "Greater", [graph.picked(cosines, [0], "first"), graph.array("same", SAME)], "is_itself"
    )
    chosen = []
    for source in (places, cosines):
        others = graph.picked(source, range(1, NEIGHBOURS + 1), f"{source}.others")
        first = graph.picked(source, range(NEIGHBOURS), f"{source}.first")
        chosen.append(graph.node("Where", [itself, others, first], f"{source}.linked"))
    return chosen[0], chosen[1]


def _weights(graph: GraphWriter, cosines: str) -> tuple[str, str]:
    """As `links_to`: the weight of each link, and their sum."""
    alike = graph.node("Max", [cosines, graph.array("zero", 0.0)], "links.cosines")
    square = graph.node("Mul", [alike, alike], "links.squares")
    strong = graph.node("Mul", [square, square], "links.strengths")
    total = graph.reduced("ReduceSum", strong, [1], "links.total")
    divisor = graph.node(
        "Max", [total, graph.array("links.least", _LEAST_STRENGTH)], "links.divisor"
    )
    shares = graph.node("Div", [strong, divisor], "links.shares")
    mean = graph.reduced(
        "ReduceSum", graph.node("Mul", [shares, alike], "links.parts"), [1], "links.mean"
    )
    followed = graph.node("Min", [mean, graph.array("farthest", FARTHEST)], "followed")
    return graph.node("Mul", [shares, followed], "links.weights"), followed


def _calibrated(graph: GraphWriter, chances: str, calibration: Calibration) -> str:
    """As `Calibration.apply`."""
    least = graph.node(
        "Max", [chances, graph.array("chances.least", LEAST_PROBABILITY)], "chances.positive"
    )
    logs = graph.node("Log", [least], "chances.log")
    powered = graph.node("Mul", [logs, graph.array("power", calibration.power)], "chances.powered")
    sharp = graph.node("Softmax", [powered], "sharp", axis=1)
    doubts = graph.array("doubts", calibration.smoothing[:, None])
    doubt = graph.node("MatMul", [sharp, doubts], "doubt")
    flat = graph.node("Sqrt", [sharp], "flat")
    part = graph.node(
        "Div", [doubt, graph.reduced("ReduceSum", flat, [1], "flat.total")], "doubt.part"
    )
    kept = graph.node("Sub", [sharp, graph.node("Mul", [sharp, doubt], "doubted")], "kept")
    leaked = graph.node("Add", [kept, graph.node("Mul", [flat, part], "runners_up")], "leaked")
    leaning = _leaning(graph, leaked, calibration.branches)
    if calibration.priors is None:
        return leaning
    weighed = graph.node(
        "Mul", [leaning, graph.array("priors", calibration.priors)], "priors.weighed"
    )
    return graph.node(
        "Div", [weighed, graph.reduced("ReduceSum", weighed, [1], "priors.total")], "priors.answers"
    )


def _leaning(graph: GraphWriter, claims: str, branches: Branches) -> str:
    """As `Branches.lean`."""
    if branches.roll_up.shape[1] == 0:
        return claims
    means, place = branches.means
    sums = graph.node(
        "MatMul", [claims, graph.array("branches", branches.roll_up)], "branches.sums"
    )
    least = graph.node(
        "Max", [sums, graph.array("branches.least", LEAST_PROBABILITY)], "branches.positive"
    )
    logs = graph.node("Log", [least], "branches.log")
    powers = graph.node(
        "MatMul", [logs, graph.array("branches.means", BRANCH_POWER * means)], "branches.powers"
    )
    factors = graph.picked(
        graph.node("Exp", [powers], "branches.factors"), place.tolist(), "branches.own"
    )
    leaning = graph.node("Mul", [factors, claims], "leaning")
    return graph.node(
        "Div", [leaning, graph.reduced("ReduceSum", leaning, [1], "leaning.total")], "answers"
    )


def write_similarity(graph: GraphWriter, links: WrittenLinks, novelty: Novelty) -> str:
    """As `Novelty.similarity`: (B, 1)."""
    divisor = graph.node(
        "Max", [links.followed, graph.array("similar.least", _LEAST_FOLLOWED)], "similar.divisor"
    )
    shares = graph.node("Div", [links.weights, divisor], "similar.shares")
    means = []
    for name, values in (
        ("spread", novelty.spread),
        ("usual", novelty.basis.anchor_links.followed[:, 0]),
    ):
        linked = graph.node(
            "Gather", [graph.array(f"similar.{name}.all", values), links.places], f"similar.{name}"
        )
        parts = graph.node("Mul", [shares, linked], f"similar.{name}.parts")
        means.append(graph.reduced("ReduceSum", parts, [1], f"similar.{name}.mean"))
    around, usual = means
    divided = graph.node(
        "Max", [usual, graph.array("company.least", _LEAST_FOLLOWED)], "company.divisor"
    )
    company = graph.node("Div", [links.followed, divided], "company")
    at_most = graph.node("Min", [company, graph.array("company.most", 1.0)], "company.limited")
    factor = graph.node("Pow", [at_most, graph.array("loneliness", LONELINESS)], "company.factor")
    return graph.node("Mul", [around, factor], "similarity")


def write_division(
    graph: GraphWriter, probabilities: str, similarity: str | None, unseen: UnseenClasses
) -> str:
    """As `UnseenClasses.divide`: probabilities (B, c) that sum to less than 1."""
    known = _known(graph, probabilities, similarity, unseen)
    is_seen = graph.array("unseen.seen", ~unseen.is_unseen)
    of_seen = graph.node("Mul", [probabilities, is_seen], "seen.parts")
    total = graph.reduced("ReduceSum", of_seen, [1], "seen.total")
    positive = graph.node("Max", [total, graph.array("seen.least", _LEAST_SUM)], "seen.positive")
    seen = graph.node("Div", [of_seen, positive], "seen")
    divided = graph.node("Mul", [seen, known], "seen.known")
    places = np.flatnonzero(unseen.is_unseen)
    if len(places) == 0:
        return divided
    weights = _unseen_weights(graph, seen, places, unseen)
    outside = graph.array("unseen.outside", unseen.outside)
    among = graph.node(
        "Add", [graph.reduced("ReduceSum", weights, [1], "unseen.sum"), outside], "unseen.total"
    )
    shares = graph.node("Div", [weights, among], "unseen.shares")
    rest = graph.node("Sub", [graph.array("unseen.one", 1.0), known], "unseen.rest")
    others = graph.node("Mul", [shares, rest], "unseen.parts")
    column = np.arange(len(unseen.is_unseen))
    column[places] = len(column) + np.arange(len(places))
    return graph.picked(
        graph.node("Concat", [divided, others], "divided.parts", axis=1),
        column.tolist(),
        "divided",
    )


def _known(
    graph: GraphWriter, probabilities: str, similarity: str | None, unseen: UnseenClasses
) -> str:
    """As `UnseenClasses.known`: (B, 1)."""
    offsets = graph.array("known.offsets", unseen.offsets)
    if similarity is None or not unseen.evidence:
        nothing = graph.node(
            "Mul", [probabilities, graph.array("known.zero", 0.0)], "known.nothing"
        )
        evidence = graph.reduced("ReduceSum", nothing, [1], "known.evidence")
    else:
        alike = graph.node(
            "Max", [similarity, graph.array("known.least", LEAST_SIMILARITY)], "known.similarity"
        )
        logs = graph.node("Log", [alike], "known.log")
        evidence = graph.node(
            "Mul", [logs, graph.array("known.power", unseen.evidence)], "known.evidence"
        )
    likely = graph.node(
        "Sigmoid", [graph.node("Add", [evidence, offsets], "known.odds")], "known.parts"
    )
    mean = graph.reduced("ReduceMean", likely, [1], "known.mean")
    limits = graph.array("known.low", 1 - MOST_KNOWN), graph.array("known.high", unseen.most_known)
    return graph.node("Clip", [mean, *limits], "known")


def _unseen_weights(
    graph: GraphWriter, seen: str, places: np.ndarray, unseen: UnseenClasses
) -> str:
    """(B, u) weights of the u candidates without examples: their leaves, by branches' lift."""
    branches, leaves = unseen.branches, graph.array("unseen.leaves", unseen.leaves[places])
    if branches.roll_up.shape[1] == 0:
        flat = graph.node(
            "Mul", [graph.picked(seen, places.tolist(), "unseen.none"), leaves], "unseen.nothing"
        )
        return graph.node("Add", [flat, leaves], "unseen.weights")
    shown = graph.node(
        "MatMul", [seen, graph.array("unseen.branches", branches.roll_up)], "unseen.shown"
    )
    usual = np.float32(unseen.usual_weight) * unseen.usual + LEAST_BRANCH
    above = graph.node("Add", [shown, graph.array("unseen.usual", usual)], "unseen.above")
    below = graph.array(
        "unseen.below", np.float32(1 + unseen.usual_weight) * unseen.usual + LEAST_BRANCH
    )
    logs = graph.node("Log", [graph.node("Div", [above, below], "unseen.ratios")], "unseen.logs")
    means, place = branches.means
    lifts = graph.node(
        "Exp",
        [graph.node("MatMul", [logs, graph.array("unseen.means", means)], "lift.logs")],
        "lift",
    )
    own = graph.picked(lifts, place[places].tolist(), "unseen.lift")
    return graph.node("Mul", [own, leaves], "unseen.weights")
