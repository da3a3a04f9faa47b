"""Sparse confusion matrix with the images of each cell, folded along the branches of the classes.

Rows are true classes, columns predicted ones, both along the same cut through the tree: an open
class shows its children and, where images are of exactly it, itself; a closed one its whole branch.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.arrays import Integers
from engine.graph.codes import UNKNOWN
from engine.report.branch_tree import BranchTree

DEFAULT_ROWS = 24
"""Maximum number of rows at first. Chosen: a screen, or half a printed page."""


@dataclass(frozen=True)
class Line:
    """A row, and the column of the same classes."""

    class_id: int  # `UNKNOWN` for none of the classes
    depth: int  # number of ancestors in the tree
    is_open: bool  # its branch is shown below it, and the line has images of exactly this class
    can_open: bool  # there are classes below it with images


@dataclass(frozen=True)
class Folded:
    """The matrix along one cut."""

    lines: tuple[Line, ...]
    rows: Integers  # (m,) line of the true class of each cell that has images
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
        pairs = zip(self.rows.tolist(), self.columns.tolist(), strict=True)
        return dict(zip(pairs, self.counts.tolist(), strict=True))


@dataclass(frozen=True)
class Confusion:
    """Images by true and predicted class: m distinct pairs, sorted by true and predicted class."""

    tree: BranchTree
    true: Integers  # (m,) class ids
    predicted: Integers  # (m,)
    starts: Integers  # (m + 1,) where the images of each pair begin in `image_ids`
    image_ids: Integers  # (n,)

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
    def _used(self) -> frozenset[int]:
        """Classes with images of their own or of a class below them, in rows or columns."""
        classes = {*self.true.tolist(), *self.predicted.tolist()}
        return frozenset(above for each in classes for above in self.tree.branch(each))

    def _used_children(self, class_id: int | None) -> list[int]:
        return [each for each in self.tree.children(class_id) if each in self._used]

    def lines(self, opened: Collection[int]) -> tuple[Line, ...]:
        """Rows along a cut: classes with images from the roots down, through the open ones."""
        lines, waiting = list[Line](), [(each, 0) for each in self._used_children(None)[::-1]]
        while waiting:
            class_id, depth = waiting.pop()
            below = self._used_children(class_id)
            is_open = bool(below) and class_id in opened
            lines.append(Line(class_id, depth, is_open, bool(below)))
            if is_open:
                waiting += [(each, depth + 1) for each in reversed(below)]
        if UNKNOWN in self._used:
            lines.append(Line(UNKNOWN, 0, is_open=False, can_open=False))
        return tuple(lines)

    def folded(self, opened: Collection[int]) -> Folded:
        """Sum the matrix along a cut."""
        lines = self.lines(opened)
        rows, columns = self._places(lines)
        width = max(len(lines), 1)
        code, at = np.unique(rows * width + columns, return_inverse=True)
        counts = np.bincount(at, weights=self.counts, minlength=len(code)).astype(np.int64)
        totals = np.bincount(rows, weights=self.counts, minlength=len(lines)).astype(np.int64)
        return Folded(lines, code // width, code % width, counts, totals)

    def images_of(self, lines: tuple[Line, ...], row: int, column: int) -> Integers:
        """The images (k,) of a cell of a folded matrix, in ascending id order."""
        rows, columns = self._places(lines)
        in_cell = np.repeat((rows == row) & (columns == column), self.counts)
        return np.sort(self.image_ids[in_cell])

    def _places(self, lines: tuple[Line, ...]) -> tuple[Integers, Integers]:
        """Line (m,) of the true and of the predicted class: its own, or its nearest ancestor's."""
        line_of = {line.class_id: place for place, line in enumerate(lines)}
        for class_id, parent in self.tree.parent.items():  # parents before their children
            line_of.setdefault(class_id, line_of.get(parent, -1))
        ids = np.fromiter(sorted(line_of), dtype=np.int64)
        places = np.array([line_of[each] for each in ids.tolist()], dtype=np.int64)
        true, predicted = (
            places[np.searchsorted(ids, part)] for part in (self.true, self.predicted)
        )
        return true, predicted

    def first_cut(self, max_rows: int = DEFAULT_ROWS) -> frozenset[int]:
        """Classes to open at first.

        While the rows fit a screen, the class that hides the most mistakes is opened.
        """
        hidden = self._hidden_mistakes
        opened, shown = set[int](), self._used_children(None)
        while True:
            below = {each: self._used_children(each) for each in shown}
            fitting = [
                each for each in shown if hidden[each] and len(shown) + len(below[each]) <= max_rows
            ]
            if not fitting:
                return frozenset(opened)
            chosen = max(fitting, key=lambda each: (hidden[each], -each))
            opened.add(chosen)
            shown = [each for each in shown if each != chosen] + below[chosen]

    @cached_property
    def _hidden_mistakes(self) -> Counter[int]:
        """Mistakes whose true and predicted class are both in the branch of a class."""
        hidden = Counter[int]()
        for true, predicted, count in self.pairs():
            if true != predicted:
                shared = set(self.tree.branch(true)).intersection(self.tree.branch(predicted))
                hidden.update(dict.fromkeys(shared, count))
        return hidden


def confusion_of(
    tree: BranchTree, image_ids: Integers, true: Integers, predicted: Integers
) -> Confusion:
    """Group images (n,) by their true and predicted classes (n,)."""
    order = np.lexsort((image_ids, predicted, true))
    true, predicted = true[order], predicted[order]
    is_first = np.r_[True, (np.diff(true) != 0) | (np.diff(predicted) != 0)][: len(order)]
    starts = np.flatnonzero(is_first)
    ends = np.append(starts, len(order))
    return Confusion(tree, true[starts], predicted[starts], ends, image_ids[order])
