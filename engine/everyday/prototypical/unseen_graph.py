"""Classes without examples as ONNX operators: the similarity of an image, and how probabilities are divided by it."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.everyday.collection_stage.novelty import LONELINESS, Novelty
from engine.everyday.graph_writer import GraphWriter
from engine.everyday.unseen import LEAST_BRANCH, LEAST_SIMILARITY, MOST_KNOWN, UnseenClasses

_LEAST_SUM: Final = 1e-9  # divides at least. Chosen: no sum of probabilities is below it but 0.
_LEAST_FOLLOWED: Final = (
    1e-30  # divides weights of links of an image that is like no anchor: all of them are 0
)


@dataclass(frozen=True)
class WrittenLinks:
    """Names of the values of links to anchors."""

    places: str  # (B, k) int64
    weights: str  # (B, k)
    followed: str  # (B, 1) their sums


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
    weights = _weights(graph, seen, places, unseen)
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
        1,
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


def _weights(graph: GraphWriter, seen: str, places: np.ndarray, unseen: UnseenClasses) -> str:
    """(B, u) what the u candidates without examples weigh: their leaves, by how likely their branches are."""
    branches, leaves = unseen.branches, graph.array("unseen.leaves", unseen.leaves[places])
    if branches.roll_up.shape[1] == 0:
        flat = graph.node(
            "Mul", [graph.picked(seen, places.tolist(), 1, "unseen.none"), leaves], "unseen.nothing"
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
    own = graph.picked(lifts, place[places].tolist(), 1, "unseen.lift")
    return graph.node("Mul", [own, leaves], "unseen.weights")
