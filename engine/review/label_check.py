"""Search for label errors in a project, by look-alikes and a model fitted without the label."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from engine.collection.live import LiveCollection
from engine.config import CacheFolders
from engine.events import CancelToken
from engine.everyday.classifier import Space
from engine.everyday.label_errors.find import LOOKED_AT, LabelErrors, find_label_errors
from engine.everyday.label_errors.labelled import labelled_images
from engine.everyday.shots import EmbeddedSnapshot
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import UNKNOWN
from engine.project import Project

FEWEST_LABELS = 10  # minimum number of labels
FEWEST_CLASSES = 2
MOST_LISTED = 200  # the most probable errors; the next ones follow when these are settled
MOST_SHOWN = 12  # look-alikes of each class
CLEAR_VOTE = 0.6  # share of the nearest look-alikes that is a clear majority


class SuspectReason(StrEnum):
    """Strongest evidence against a label."""

    TWIN = "twin"  # nearly the same image has another label
    NEIGHBOURS = "neighbours"  # most labelled look-alikes are of another class
    MODEL = "model"  # a model fitted without the label predicts another class


@dataclass(frozen=True)
class SuspectLabel:
    """A probable label error. Classes are ids, or `UNKNOWN` for none of the classes."""

    image_id: int
    label: int
    proposed: int  # the class that is probably correct
    probability: float  # that the label is wrong
    score: float  # probability of `proposed`, by a model without the label
    reason: SuspectReason
    votes: tuple[tuple[int, int], ...]  # labels of the nearest look-alikes, with counts, most first
    twin_id: int | None  # nearly the same image with a contradicting label
    same: tuple[int, ...]  # the most alike images of its own label
    others: tuple[int, ...]  # the most alike images of the proposed class, the twin first
    most_likely: tuple[int, ...]  # the most likely classes without the label, best first


@dataclass(frozen=True)
class LabelCheck:
    """Result of a check."""

    suspects: tuple[SuspectLabel, ...] = ()  # most probable first, at most `MOST_LISTED`
    labels: int = 0
    classes: int = 0  # distinct labels
    probably_wrong: int = 0  # also labels that are not listed
    judged: int = 0  # of `labels`; the others cannot be judged
    too_few: tuple[int, ...] = ()  # classes with too few labels to be judged

    @property
    def labels_missing(self) -> int:
        """Number of labels that a check still needs."""
        return max(0, FEWEST_LABELS - self.labels)

    @property
    def has_enough(self) -> bool:
        return self.labels_missing == 0 and self.classes >= FEWEST_CLASSES


@dataclass(frozen=True)
class LabelCheckInput:
    """Snapshot for a check, for any thread."""

    graph: CategoryGraph  # a copy
    images: EmbeddedSnapshot
    space: Space | None  # in which images are compared; None to learn it
    confirmed: frozenset[int]  # images with a confirmed label


def label_check_input(live: LiveCollection) -> LabelCheckInput:
    """Take a snapshot."""
    fitted, project = live.fitted, live.project
    return LabelCheckInput(
        project.classes.graph.copy(),
        live.embedded.snapshot().without(live.state.hidden),
        None if fitted is None else fitted.space,
        frozenset(project.labels.confirmed()),
    )


def check_labels(
    given: LabelCheckInput, cancel: CancelToken | None = None, *, most: int = MOST_LISTED
) -> LabelCheck:
    """Find probable label errors; on any thread.

    Raises:
        Cancelled: `cancel` was set.
    """
    (cancel or CancelToken()).raise_if_cancelled()
    images = labelled_images(given.images, given.graph, given.space, given.confirmed)
    found = LabelCheck((), len(images), len(images.class_ids))
    if not found.has_enough:
        return found
    errors = find_label_errors(given.graph, images, cancel)
    rows = errors.suspects
    suspects = tuple(_suspect(errors, given.graph, row) for row in rows[:most].tolist())
    unjudged = np.unique(images.labels[~errors.is_judged]).tolist()
    return LabelCheck(
        suspects,
        found.labels,
        found.classes,
        len(rows),
        judged=int(np.count_nonzero(errors.is_judged)),
        too_few=tuple(class_id for class_id in unjudged if class_id != UNKNOWN),
    )


def check_project(
    project: Project, caches: CacheFolders, most: int, cancel: CancelToken | None = None
) -> LabelCheck:
    """Check the labels of a project without a window; see `check_labels`.

    Raises:
        ModelError: the files of the current model version are missing.
    """
    live = LiveCollection(project, caches)
    try:
        live.load(fits=False)
        return check_labels(label_check_input(live), cancel, most=most)
    finally:
        live.embedded.close()


def _suspect(errors: LabelErrors, graph: CategoryGraph, row: int) -> SuspectLabel:
    images, twin = errors.images, int(errors.twin[row])
    label, proposed = int(images.labels[row]), int(errors.proposed[row])
    inside = _at_or_below(graph, proposed)
    near = errors.neighbours.positions[row, :LOOKED_AT]
    votes = Counter(images.labels[near].tolist())
    others = errors.nearest_of(row, inside, MOST_SHOWN).tolist()
    if twin >= 0:
        others = [twin, *(each for each in others if each != twin)][:MOST_SHOWN]
    is_clear = sum(count for each, count in votes.items() if each in inside) >= CLEAR_VOTE * max(
        1, len(near)
    )
    same = errors.nearest_of(row, _at_or_below(graph, label), MOST_SHOWN)
    return SuspectLabel(
        image_id=int(images.image_ids[row]),
        label=label,
        proposed=proposed,
        probability=float(errors.probability[row]),
        score=float(errors.score[row]),
        reason=SuspectReason.TWIN
        if twin >= 0
        else SuspectReason.NEIGHBOURS
        if is_clear
        else SuspectReason.MODEL,
        votes=tuple(votes.most_common()),
        twin_id=int(images.image_ids[twin]) if twin >= 0 else None,
        same=tuple(images.image_ids[same].tolist()),
        others=tuple(images.image_ids[np.array(others, dtype=np.int64)].tolist()),
        most_likely=tuple(errors.most_likely[row].tolist()),
    )


def _at_or_below(graph: CategoryGraph, class_id: int) -> frozenset[int]:
    return (
        frozenset({class_id}) if class_id == UNKNOWN else graph.descendants(class_id) | {class_id}
    )
