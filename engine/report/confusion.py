"""The confusion matrix: sparse, each cell with its images, folded along the branches of the class tree.

Rows are true classes, columns predicted ones. Both are cut along the same line: an open class shows the classes below
it and, where images are of exactly it, itself; a closed one stands for its whole branch.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.graph.codes import UNKNOWN
from engine.report.branch_tree import BranchTree

DEFAULT_ROWS: Final = 24
"""Rows that a matrix opens with at most. Chosen: a screen, or half a printed page."""
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Line:
    """A row, and the column of the same classes."""

    class_id: int  # `UNKNOWN` for none of the classes
    depth: int  # classes above it in the tree
    is_open: bool  # its branch is shown below it; then it stands for images of exactly this class
    can_open: bool  # there are classes below it with images


@dataclass(frozen=True)
class Folded:
    """The matrix along one cut."""

    lines: tuple[Line, ...]
    rows: Integers  # (m,) int64, line of the true class of each cell that has images
    columns: Integers  # (m,) line of the predicted class
    counts: Integers  # (m,) images
    row_totals: Integers  # (number of lines,)

    @cached_property
    def branch_totals(self) -> Integers:
        """(number of lines,) images of each row with all rows of its branch."""
        totals, above = self.row_totals.copy(), list[int]()
        for place, line in enumerate(self.lines):
            while above and self.lines[above[-1]].depth >= line.depth:
                above.pop()
            totals[above] += self.row_totals[place]
            above.append(place)
        return totals

    @cached_property
    def cells(self) -> dict[tuple[int, int], int]:
        """Images by row and column."""
        pairs = zip(self.rows.tolist(), self.columns.tolist(), self.counts.tolist(), strict=True)
        return {(row, column): count for row, column, count in pairs}


@dataclass(frozen=True)
class _Nodes:
    """The classes of the tree and none of the classes, by place, for sums of all at once."""

    place_of: Mapping[int, int]
    parents: Integers  # (number of nodes,) places; -1 above a root
    by_depth: tuple[Integers, ...]  # places of each depth, the roots first
    true: Integers  # (m,) places of the true classes of the pairs
    predicted: Integers  # (m,)


@dataclass(frozen=True)
class Confusion:
    """Images by true and predicted class; m different pairs, sorted by the true and then the predicted class."""

    tree: BranchTree
    true: Integers  # (m,) int64 class ids
    predicted: Integers  # (m,)
    starts: Integers  # (m + 1,) where the images of each pair begin in `image_ids`
    image_ids: Integers  # (n,) int64

    @cached_property
    def counts(self) -> Integers:
        """(m,) images of each pair."""
        return np.diff(self.starts)

    @property
    def images(self) -> int:
        return len(self.image_ids)

    def pairs(self) -> Iterator[tuple[int, int, int]]:
        """True class, predicted class, images."""
        return zip(self.true.tolist(), self.predicted.tolist(), self.counts.tolist(), strict=True)

    @cached_property
    def _in_branch(self) -> dict[int, int]:
        """How many images lie in rows and columns of each class or below it."""
        totals: dict[int, int] = {}
        for class_id, count in self._ends.items():
            for above in self.tree.branch(class_id) if class_id in self.tree.names else (class_id,):
                totals[above] = totals.get(above, 0) + count
        return totals

    @cached_property
    def _ends(self) -> dict[int, int]:
        """Images in rows and columns of exactly each class."""
        ends: dict[int, int] = {}
        for true, predicted, count in self.pairs():
            ends[true] = ends.get(true, 0) + count
            ends[predicted] = ends.get(predicted, 0) + count
        return ends

    def can_open(self, class_id: int) -> bool:
        return any(each in self._in_branch for each in self.tree.children(class_id))

    def lines(self, opened: Collection[int]) -> tuple[Line, ...]:
        """Rows along a cut: classes with images from the top down, through the classes that are opened."""
        lines, waiting = list[Line](), [(each, 0) for each in reversed(self.tree.children(None))]
        while waiting:
            class_id, depth = waiting.pop()
            if class_id not in self._in_branch:
                continue
            is_open = class_id in opened and self.can_open(class_id)
            lines.append(Line(class_id, depth, is_open, self.can_open(class_id)))
            if is_open:
                waiting += [(each, depth + 1) for each in reversed(self.tree.children(class_id))]
        if UNKNOWN in self._ends:
            lines.append(Line(UNKNOWN, 0, is_open=False, can_open=False))
        return tuple(lines)

    def folded(self, opened: Collection[int]) -> Folded:
        """Sum the matrix along a cut."""
        lines = self.lines(opened)
        rows, columns = self._places(lines)
        code, at = np.unique(rows * len(lines) + columns, return_inverse=True)
        counts = np.bincount(at, weights=self.counts, minlength=len(code)).astype(np.int64)
        totals = np.bincount(rows, weights=self.counts, minlength=len(lines)).astype(np.int64)
        width = max(len(lines), 1)
        return Folded(lines, code // width, code % width, counts, totals)

    def images_of(self, lines: tuple[Line, ...], row: int, column: int) -> Integers:
        """The images (k,) of a cell of a folded matrix, in ascending id order."""
        rows, columns = self._places(lines)
        pairs = np.flatnonzero((rows == row) & (columns == column))
        parts = [
            self.image_ids[self.starts[pair] : self.starts[pair + 1]] for pair in pairs.tolist()
        ]
        return np.sort(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.int64)

    def _places(self, lines: tuple[Line, ...]) -> tuple[Integers, Integers]:
        """Line (m,) of the true and of the predicted class of each pair: their own, or that of a class above."""
        nodes = self._nodes
        line_of = np.full(
            len(nodes.place_of) + 1, -1, dtype=np.int64
        )  # one more: what stands above a root
        for place, line in enumerate(lines):
            line_of[nodes.place_of[line.class_id]] = place
        for part in nodes.by_depth:
            missing = part[line_of[part] < 0]
            line_of[missing] = line_of[nodes.parents[missing]]
        return line_of[nodes.true], line_of[nodes.predicted]

    @cached_property
    def _nodes(self) -> "_Nodes":
        ids = [*self.tree.names, UNKNOWN]
        place_of = {class_id: place for place, class_id in enumerate(ids)}
        parents = [
            place_of[self.tree.parent[each]] if each in self.tree.parent else -1 for each in ids
        ]
        depths = np.zeros(len(ids), dtype=np.int64)
        for place, parent in enumerate(parents):  # parents come before their children
            depths[place] = depths[parent] + 1 if parent >= 0 else 0
        order = np.argsort(depths, kind="stable")
        by_depth = tuple(np.split(order, np.flatnonzero(np.diff(depths[order])) + 1))
        true, predicted = (
            np.array([place_of[each] for each in part.tolist()])
            for part in (self.true, self.predicted)
        )
        return _Nodes(
            place_of, np.array(parents), by_depth, true.astype(np.int64), predicted.astype(np.int64)
        )

    def first_cut(self, most: int = DEFAULT_ROWS) -> frozenset[int]:
        """Classes to open at first: again and again the one that hides most mistakes, while all rows fit a screen."""
        hidden = self._hidden_mistakes
        opened, shown = (
            set[int](),
            [each for each in self.tree.children(None) if each in self._in_branch],
        )
        count = len(shown)
        while True:
            more = {
                each: [b for b in self.tree.children(each) if b in self._in_branch]
                for each in shown
            }
            fitting = [
                each for each in shown if hidden.get(each) and count + len(more[each]) <= most
            ]
            if not fitting:
                return frozenset(opened)
            chosen = max(fitting, key=lambda each: (hidden[each], -each))
            opened.add(chosen)
            shown = [each for each in shown if each != chosen] + more[chosen]
            count += len(more[chosen])

    @cached_property
    def _hidden_mistakes(self) -> dict[int, int]:
        """Images whose true and predicted class differ and lie both in the branch of each class."""
        hidden: dict[int, int] = {}
        for true, predicted, count in self.pairs():
            if true != predicted and true in self.tree.names and predicted in self.tree.names:
                below = set(self.tree.branch(true))
                for above in self.tree.branch(predicted):
                    if above in below:
                        hidden[above] = hidden.get(above, 0) + count
        return hidden


def confusion_of(
    tree: BranchTree, image_ids: Integers, true: Integers, predicted: Integers
) -> Confusion:
    """Sort images (n,) with their true and predicted classes (n,) into pairs."""
    order = np.lexsort((image_ids, predicted, true))
    pairs = np.stack((true[order], predicted[order]), axis=1)
    is_new = (
        np.any(np.diff(pairs, axis=0, prepend=pairs[:1] - 1), axis=1)
        if len(order)
        else np.zeros(0, dtype=bool)
    )
    starts = np.flatnonzero(is_new)
    return Confusion(
        tree, pairs[starts, 0], pairs[starts, 1], np.append(starts, len(order)), image_ids[order]
    )
