"""The fitted model as ONNX operators: from the embedding of a new image to the probability of every class.

The formulas are those of `EverydayModel.classify_new`, and an export is compared with it on the collection's own
embeddings (`agreement.py`). Of the collection it holds the anchors alone.
"""

from typing import Any, Final

import numpy as np

from engine.everyday.back_off import BackOff
from engine.everyday.blocks import Floats
from engine.everyday.branches import LEAST, POWER, Branches
from engine.everyday.classifier import COARSE, DISTANCE, EMBEDDING, PROBABILITIES
from engine.everyday.collection_stage.basis import SAME, CollectionBasis
from engine.everyday.collection_stage.calibration import Calibration
from engine.everyday.collection_stage.class_balance import LEAST as LEAST_CHANCE
from engine.everyday.collection_stage.neighbours import FARTHEST, NEIGHBOURS
from engine.everyday.collection_stage.novelty import Novelty
from engine.everyday.collection_stage.stage import CollectionStage
from engine.everyday.graph_writer import GraphWriter
from engine.everyday.prototypical.classification import LinearClassifier
from engine.everyday.prototypical.unseen_graph import WrittenLinks, write_division, write_similarity
from engine.everyday.unseen import UnseenClasses

_TURNED: Final = "turned"  # the value of a whitened embedding before its length is made 1
_WHITENED: Final = "whitened"
_SHORTEST: Final = 1e-6  # what `Whitening.apply` divides by at least
_LEAST_STRENGTH: Final = (
    1e-30  # divides the strengths of links of an image that is like no anchor: all of them are 0
)

Shape = tuple[str | int, ...]


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
        turned = graph.picked(_TURNED, range(width - compared, width), 1, "compared")
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
    """Places and cosines of the nearest anchors; an image that is an anchor itself is none of its own."""
    anchors = graph.array("anchors", np.ascontiguousarray(basis.vectors.T))
    alike = graph.node("MatMul", [vector, anchors], "alike")
    count = graph.array("links.count", [NEIGHBOURS + 1], np.int64)
    cosines, places = "nearest.cosines", "nearest.places"
    from onnx import helper

    graph.nodes.append(
        helper.make_node("TopK", [alike, count], [cosines, places], name="nearest.anchors", axis=1)
    )
    itself = graph.node(
        "Greater", [graph.picked(cosines, [0], 1, "first"), graph.array("same", SAME)], "is_itself"
    )
    chosen = []
    for source in (places, cosines):
        others = graph.picked(source, range(1, NEIGHBOURS + 1), 1, f"{source}.others")
        first = graph.picked(source, range(NEIGHBOURS), 1, f"{source}.first")
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
    least = graph.node("Max", [chances, graph.array("chances.least", LEAST)], "chances.positive")
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
    least = graph.node("Max", [sums, graph.array("branches.least", LEAST)], "branches.positive")
    logs = graph.node("Log", [least], "branches.log")
    powers = graph.node(
        "MatMul", [logs, graph.array("branches.means", POWER * means)], "branches.powers"
    )
    factors = graph.picked(
        graph.node("Exp", [powers], "branches.factors"), place.tolist(), 1, "branches.own"
    )
    leaning = graph.node("Mul", [factors, claims], "leaning")
    return graph.node(
        "Div", [leaning, graph.reduced("ReduceSum", leaning, [1], "leaning.total")], "answers"
    )
