"""A class that was put at the top level is suggested where its images say it belongs, and nowhere else."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.drawn_embeddings import DrawnEmbeddings, Vector, drawn_embeddings

WIDTH = 12
DEPTH = 6
ALIKE, APART = 0.5, 0.15
"""How far classes of one family lie from its centre, and images of one class from its centre."""


class Drawn:
    """Classes level 1 to level 6, each the only child of the one before; three leaves below the last, three below M."""

    def __init__(self, folder: Path) -> None:
        self.made: DrawnEmbeddings = drawn_embeddings(folder, width=WIDTH)
        self.project = self.made.project
        self._count = 0
        above: list[int] = []
        for level in range(1, DEPTH + 1):
            above = [self.project.add_class(f"level {level}", above)[1]]
        self.deepest = above[0]
        self.other = self.project.add_class("M")[1]
        for family, parent in enumerate((self.deepest, self.other)):
            for leaf in range(3):
                self.add(f"leaf {family}.{leaf}", [parent], family=family, images=3)

    def add(self, name: str, parents: list[int], *, family: int, images: int) -> int:
        """A class with images around a centre of its own beside the family's centre."""
        class_id = self.project.add_class(name, parents)[1]
        self.made.live.load()
        self._count += 1
        centre = _drawn(1000 + family) + ALIKE * _drawn(2000 + self._count)
        ids = self.made.add_images(images)
        self.made.embed({i: _unit(centre + APART * _drawn(i)) for i in ids})
        self.made.act(self.project.label(ids, class_id))
        return class_id

    def suggested(self, class_id: int) -> list[int]:
        """Ids of the suggested parents."""
        return [one.class_id for one in self.made.live.suggested_parents(class_id)]


def _drawn(seed: int) -> Vector:
    return _unit(np.random.default_rng(seed).normal(size=WIDTH))


def _unit(vector: NDArray[np.floating]) -> Vector:
    return (vector / np.linalg.norm(vector)).astype(np.float32)


@pytest.fixture
def drawn(tmp_path: Path) -> Iterator[Drawn]:
    """Two families, one of them at the end of a chain."""
    made = Drawn(tmp_path)
    yield made
    made.made.live.close()


def test_of_classes_inside_one_another_one_is_suggested(drawn: Drawn) -> None:
    """The deepest of the chain, not each of its six classes."""
    assert drawn.suggested(drawn.add("dropped", [], family=0, images=3)) == [drawn.deepest]


def test_the_other_family_is_suggested_to_who_is_like_it(drawn: Drawn) -> None:
    """The score is its share in the likeness to all families."""
    dropped = drawn.add("dropped", [], family=1, images=3)
    suggested = drawn.made.live.suggested_parents(dropped)
    assert [one.class_id for one in suggested] == [drawn.other]
    assert 0.5 < suggested[0].score < 1


def test_nothing_is_suggested_for_the_head_of_a_branch(drawn: Drawn) -> None:
    """A class at the top level with children of its own stands where it belongs."""
    head = drawn.add("head", [], family=0, images=3)
    assert drawn.suggested(head)
    drawn.add("below", [head], family=0, images=2)
    assert drawn.suggested(head) == []


def test_nothing_is_suggested_on_weak_evidence(drawn: Drawn) -> None:
    """One image, or images unlike those of every family, are not enough."""
    assert drawn.suggested(drawn.add("one image", [], family=0, images=1)) == []
    assert drawn.suggested(drawn.add("something else", [], family=2, images=4)) == []


def test_parents_and_what_is_above_them_are_not_suggested(drawn: Drawn) -> None:
    """Nor after a class was linked to what was suggested for it."""
    dropped = drawn.add("dropped", [], family=0, images=3)
    drawn.made.act(drawn.project.link(drawn.deepest, dropped))
    assert drawn.suggested(dropped) == []
    (leaf,) = (c for c in drawn.project.graph.children(drawn.other) if drawn.project.graph.name(c) == "leaf 1.0")
    assert drawn.suggested(leaf) == []
