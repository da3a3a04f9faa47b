"""Labels as Python programs have them, and the classes of a graph that they name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets

from engine.errors import ProtoleafError
from engine.everyday.classifier import Explanation
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS
from protoleaf.graph import category_graph

if TYPE_CHECKING:
    from protoleaf.graph import GraphSource

Label = Any  # a class as in `y`: a text or a number
UNLABELLED = -1  # as in `sklearn.semi_supervised`; None in arrays of objects


@dataclass(frozen=True)
class ClassExplanation:
    """Why an embedding was classified as it was; rows are those of `X` in `fit`.

    Attributes:
        label: the most probable class, which is explained.
        probability: of it, in [0, 1].
        safe_label: the deepest class above the threshold; None where there is none.
        is_unknown: whether the embedding looks like none of the classes.
        own_share: share of the class's own rows in its prototype (Eq. 6); with `parent_shares`,
            `coarse_shares` and `unlabelled_share` it sums to 1.
        own_rows: the labelled rows of the class.
        parent_shares: share of each parent in the prototype (Eq. 5).
        coarse_shares: share of rows with a coarse label, by label.
        unlabelled_share: share of unlabelled rows.
        neighbours: rows of similar embeddings that the prediction follows, with their weights;
            empty for an embedding that was not in `fit`.
    """

    label: Label
    probability: float
    safe_label: Label | None
    is_unknown: bool
    own_share: float
    own_rows: tuple[int, ...]
    parent_shares: Mapping[Label, float]
    coarse_shares: Mapping[Label, float]
    unlabelled_share: float
    neighbours: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class NamedClasses:
    """The classes of a graph and their labels, as `y` has them."""

    graph: CategoryGraph
    label_of: Mapping[int, Label]  # by class id

    def labels_of(self, class_ids: NDArray[np.integer]) -> NDArray[Any]:
        """Labels (k,) of classes (k,); objects where some are numbers and some texts."""
        labels = [self.label_of[each] for each in class_ids.tolist()]
        return np.array(labels, dtype=object if len(set(map(type, labels))) > 1 else None)

    def order_of(self, class_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Places (c,) of classes in the order of their labels, numbers before texts."""
        labels = [self.label_of[each] for each in class_ids.tolist()]
        places = sorted(
            range(len(labels)), key=lambda place: (isinstance(labels[place], str), labels[place])
        )
        return np.array(places, dtype=np.int64)

    def explanation(self, found: Explanation) -> ClassExplanation:
        """The engine's explanation with labels in place of class ids."""
        label_of = self.label_of
        return ClassExplanation(
            label_of[found.class_id],
            found.score,
            None if found.safe is None or found.is_unknown else label_of[found.safe.class_id],
            found.is_unknown,
            found.own.share,
            found.own.image_ids,
            {label_of[each.class_id]: each.share for each in found.parents},
            {label_of[each.class_id]: each.share for each in found.coarse},
            found.unlabelled,
            tuple((each.image_id, each.weight) for each in found.look_alikes),
        )


def known_classes(
    source: GraphSource | None, y: NDArray[Any]
) -> tuple[NamedClasses, NDArray[np.int32]]:
    """The classes, and the class id of each label (n,), `NO_CLASS` for unlabelled rows.

    Without a graph, -1 and 1 alone are two classes.

    Raises:
        ValueError: the graph cannot be used, a label is none of its classes, or there is no label.
    """
    is_labelled = _is_labelled(y)
    if source is None and y.dtype.kind in "if" and set(y.tolist()) == {UNLABELLED, 1}:
        is_labelled[:] = True
    labels = np.array(y[is_labelled].tolist())
    if not len(labels):
        raise ValueError(f"y has no labelled row, only {UNLABELLED} or None")
    if y.dtype == object and len({isinstance(each, str) for each in y[is_labelled]}) > 1:
        raise ValueError("y has both texts and numbers: use one of them")
    check_classification_targets(labels)
    distinct, place = np.unique(labels, return_inverse=True)
    try:
        graph, ids = _flat(distinct) if source is None else _found(category_graph(source), distinct)
    except ProtoleafError as error:
        raise ValueError(str(error)) from error
    label_of = {} if source is None else _names(graph, labels.dtype.kind in "iu")
    codes = np.full(len(y), NO_CLASS, dtype=np.int32)
    codes[is_labelled] = np.array(ids, dtype=np.int32)[place]
    return NamedClasses(graph, label_of | dict(zip(ids, distinct.tolist(), strict=True))), codes


def _flat(labels: NDArray[Any]) -> tuple[CategoryGraph, list[int]]:
    graph = CategoryGraph()
    return graph, [graph.add_class(f"class {place}") for place in range(len(labels))]


def _found(graph: CategoryGraph, labels: NDArray[Any]) -> tuple[CategoryGraph, list[int]]:
    return graph, [graph.find(str(label)) for label in labels.tolist()]


def _names(graph: CategoryGraph, is_whole: bool) -> dict[int, Label]:
    """The label of each class: its name, or its path where another class has that name.

    Args:
        is_whole: whether names that are whole numbers become numbers.
    """
    counts = Counter(map(graph.name, graph.classes()))
    names = {
        each: graph.name(each) if counts[graph.name(each)] == 1 else graph.path_text(each)
        for each in graph.classes()
    }
    return {
        each: int(name) if is_whole and name.isdecimal() else name for each, name in names.items()
    }


def _is_labelled(y: NDArray[Any]) -> NDArray[np.bool_]:
    if y.dtype == object:
        return np.array([each is not None and each != UNLABELLED for each in y], dtype=bool)
    return y != UNLABELLED if y.dtype.kind in "if" else np.ones(len(y), dtype=bool)


def with_missing_marked(y: ArrayLike | None) -> ArrayLike | None:
    """Labels with None for what pandas takes for missing in columns of objects."""
    if y is None or (given := np.asarray(y)).dtype != object:
        return y
    is_missing = list(map(_is_missing, given.flat))
    marked = given.copy()
    marked[np.reshape(is_missing, given.shape)] = None
    return marked


def _is_missing(label: object) -> bool:
    """None, NaN, or what pandas takes for missing, which compares to nothing."""
    return label is None or type(label).__name__ == "NAType" or bool(label != label)  # noqa: PLR0124
