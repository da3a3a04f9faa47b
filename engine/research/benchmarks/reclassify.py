"""How long classifying a whole collection takes, beside the one matrix product it cannot do without."""

import itertools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.everyday.back_off import BackOff
from engine.everyday.classification import classify_all, linear_classifier, reclassify
from engine.everyday.fixed_point import to_fixed
from engine.research.benchmarks.synthetic import synthetic_embeddings

TEMPERATURE = 0.05
SHOTS = 5
BAR = 0.8
QUIET_S = 0.2
"""Before each timing: threads of the matrix library keep a core busy for a while after a product."""


@dataclass(frozen=True)
class ReclassifyFigures:
    """Medians over rounds in which all three were timed in turn; seconds, and ratios to the product of that round.

    Attributes:
        product_s: one matrix product, float embeddings by prototypes.
        full_s: logits, likeliest class, probability, roll-up and safe class for every image.
        one_class_s: bringing all that up to date after one class got, or lost, a shot.
        full_ratio, one_class_ratio: over the product.
        one_class_of_full: `one_class_s` over `full_s`.
        limit_full, limit_one_class: what the project promises.
    """

    images: int
    classes: int
    width: int
    product_s: float
    full_s: float
    one_class_s: float
    full_ratio: float
    one_class_ratio: float
    one_class_of_full: float
    limit_full: float = 1.5
    limit_one_class: float = 0.1


def measure_reclassify(
    images: int = 100_000, classes: int = 200, *, width: int = 384, rounds: int = 15
) -> ReclassifyFigures:
    """Time a full pass and the update of one class on synthetic embeddings of known spread."""
    drawn = synthetic_embeddings(images, width, classes=classes)
    members = [np.flatnonzero(drawn.classes == position) for position in range(classes)]
    prototypes = np.stack([drawn.embeddings[rows[:SHOTS]].mean(axis=0) for rows in members])
    moved = prototypes.copy()
    moved[0] = drawn.embeddings[members[0][: SHOTS + 1]].mean(axis=0)
    kept = to_fixed(drawn.embeddings)
    squares = np.ones(images, dtype=np.float32)
    before, after = linear_classifier(prototypes, TEMPERATURE), linear_classifier(moved, TEMPERATURE)
    rules = _rules(classes)
    scores = classify_all(before, rules, kept, squares)
    ways = itertools.cycle([(before, after), (after, before)])
    out = np.empty((images, classes), dtype=np.float32)
    jobs: dict[str, Callable[[], object]] = {
        "product": lambda: np.matmul(drawn.embeddings, prototypes.T, out=out),
        "full": lambda: classify_all(before, rules, kept, squares),
        "one": lambda: reclassify(scores, *next(ways), rules, kept, squares=squares),
    }
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            time.sleep(QUIET_S)
            started_s = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - started_s)
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratios = {name: _ratio(values, times["product"]) for name, values in times.items()}
    return ReclassifyFigures(
        images, classes, width, medians["product"], medians["full"], medians["one"],
        ratios["full"], ratios["one"], _ratio(times["one"], times["full"]),
    )  # fmt: skip


def _ratio(times: list[float], products: list[float]) -> float:
    return statistics.median(time_s / product_s for time_s, product_s in zip(times, products, strict=True))


def _rules(classes: int, family: int = 10, group: int = 50) -> BackOff:
    """Two coarse levels: families of 10 and groups of 50."""
    leaf = np.arange(classes)
    families, groups = leaf // family, leaf // group
    roll_up = np.zeros((classes, families[-1] + groups[-1] + 2), dtype=np.float32)
    roll_up[leaf, families] = 1
    roll_up[leaf, families[-1] + 1 + groups] = 1
    coarse = roll_up.shape[1]
    return BackOff(
        candidate_ids=leaf,
        candidate_bars=np.full(classes, BAR, dtype=np.float32),
        coarse_ids=classes + np.arange(coarse),
        coarse_bars=np.full(coarse, BAR, dtype=np.float32),
        coarse_levels=np.where(np.arange(coarse) <= families[-1], 1, 0),
        roll_up=roll_up,
    )
