"""Ways of labelling: at random, in the order of Teach first, or with bulk accepts."""

from collections.abc import Callable, Mapping

import numpy as np

from engine.errors import UsageError
from engine.everyday.back_off import DEFAULT_BAR
from engine.everyday.scores import Scores
from engine.everyday.teaching import teach_first, uncertainty_of
from research.honesty.labelled_part import GivenLabels, LabelledPart, Rows

RANDOM = "random"
TEACH_FIRST = "teach-first"
BULK = "bulk"


def at_random(part: LabelledPart, classes: Rows, shots: int, seed: int) -> GivenLabels:
    """`shots` random images of each class.

    Fewer shots are a subset of more, and one image of each class stays unlabelled.
    """
    order = np.random.default_rng(seed).permutation(len(part.rows))
    ordered = part.truth[order]
    labels: dict[int, int] = {}
    for class_id in classes.tolist():
        own = part.rows[order[ordered == class_id]]
        chosen = own[: min(shots, max(1, len(own) - 1))]
        labels |= dict.fromkeys(chosen.tolist(), class_id)
    return GivenLabels.of(labels)


def by_teach_first(part: LabelledPart, classes: Rows, shots: int, seed: int) -> GivenLabels:
    """`shots` labels per class on average, in the program's order, of these classes alone.

    A round has one label a class.
    """
    most = len(at_random(part, classes, shots, seed).rows)
    labels, nothing = GivenLabels.of({}), np.zeros(0, dtype=np.int64)
    scores, fitted = Scores.empty(len(part.rows)), None
    while len(labels.rows) < most:
        basis = part.basis(labels)
        assert basis is not None, "a collection of several classes"
        order = teach_first(
            basis,
            uncertainty_of(fitted, scores),
            labelled=part.places_of(labels),
            left_out=nothing,
        )
        order = order[np.isin(part.truth[order], classes)]
        new = order[: min(len(classes), most - len(labels.rows))]
        labels = _with_more(part, labels, new.astype(np.int64), part.truth[new])
        fitted = part.fit(labels)
        scores = part.scores(fitted)
    return labels


def in_bulk(part: LabelledPart, classes: Rows, shots: int, seed: int) -> GivenLabels:
    """One image of each class, then bulk accepts above the threshold, errors included.

    It ends with `shots` labels a class on average, or where no more images pass the threshold.
    """
    most = len(at_random(part, classes, shots, seed).rows)
    labels = at_random(part, classes, 1, seed)
    leaves = list(part.embedded.collection.graph.leaves())
    while len(labels.rows) < most:
        fitted = part.fit(labels)
        scores = part.scores(fitted)
        claimed = fitted.candidate_ids[scores.best]
        above = part.is_free(labels) & (scores.best_score >= DEFAULT_BAR)
        above &= np.isin(claimed, leaves) & ~fitted.is_unknown(scores)
        accepted = np.flatnonzero(above)
        if not len(accepted):
            break
        surest = accepted[np.argsort(-scores.best_score[accepted], kind="stable")]
        surest = surest[: most - len(labels.rows)]
        labels = _with_more(part, labels, surest, claimed[surest])
    return labels


def _with_more(
    part: LabelledPart, labels: GivenLabels, places: Rows, class_ids: Rows
) -> GivenLabels:
    known = dict(zip(labels.rows.tolist(), labels.class_ids.tolist(), strict=True))
    more = dict(zip(part.rows[places].tolist(), class_ids.tolist(), strict=True))
    return GivenLabels.of(known | more)


LABELS: Mapping[str, Callable[[LabelledPart, Rows, int, int], GivenLabels]] = {
    RANDOM: at_random,
    TEACH_FIRST: by_teach_first,
    BULK: in_bulk,
}


def check_labels(name: str) -> None:
    """Check the name of a way to label.

    Raises:
        UsageError: there is none.
    """
    if name not in LABELS:
        raise UsageError("--labels does not know this", expected=", ".join(LABELS), found=name)
