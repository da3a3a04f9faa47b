"""Suggestions for an open project: parents of a dropped class and its images; accepting them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.collection.graph_suggestions.find import (
    find_suggestions,
    suggested_parents,
    suggestion_input,
)
from engine.collection.graph_suggestions.pairs import kinds_of
from engine.collection.graph_suggestions.suggestion import (
    GraphSuggestions,
    PossibleParents,
    accept,
    dismiss,
)
from engine.errors import Cancelled
from engine.events import CancelToken
from tests.support.drawn_embeddings import DrawnEmbeddings, Vector, drawn_embeddings
from tests.support.projects import named

pytestmark = pytest.mark.slow

WIDTH = 64
DEPTH = 6
ALIKE, APART = 0.5, 0.15
"""Distance of a family's classes from its centre, and of a class's images from theirs."""


class Drawn:
    """A chain of classes, level 1 to level 6, with three leaves; three other leaves below M."""

    def __init__(self, folder: Path) -> None:
        self.made: DrawnEmbeddings = drawn_embeddings(folder, width=WIDTH)
        self.project = self.made.project
        self._count = 0
        above: list[int] = []
        for level in range(1, DEPTH + 1):
            above = [self.project.classes.add(f"level {level}", above)[1]]
        self.deepest = above[0]
        self.other = self.project.classes.add("M")[1]
        for family, parent in enumerate((self.deepest, self.other)):
            for leaf in range(3):
                self.add(f"leaf {family}.{leaf}", [parent], family=family, images=3)

    def add(self, name: str, parents: list[int], *, family: int, images: int) -> int:
        """Add a class with images around a centre offset from the family's centre."""
        class_id = self.project.classes.add(name, parents)[1]
        self.made.live.load()
        self._count += 1
        centre = _drawn(1000 + family) + ALIKE * _drawn(2000 + self._count)
        ids = self.made.add_images(images)
        self.made.embed({i: _unit(centre + APART * _drawn(i)) for i in ids})
        self.made.act(self.project.labels.set(ids, class_id))
        return class_id

    def suggested(self, class_id: int) -> list[int]:
        """Ids of the suggested parents."""
        return [one.class_id for one in suggested_parents(self.made.live, class_id)]

    def found(self) -> GraphSuggestions:
        """All suggestions."""
        given = suggestion_input(self.made.live)
        assert given is not None
        return find_suggestions(given)


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


def test_a_dropped_class_is_suggested_under_the_family_it_is_like(drawn: Drawn) -> None:
    """The deepest similar class ranks first, then maybe its ancestors; never the other family."""
    first, *others = drawn.suggested(drawn.add("dropped", [], family=0, images=3))
    assert first == drawn.deepest
    assert drawn.other not in others
    assert drawn.suggested(drawn.add("another", [], family=1, images=3)) == [drawn.other]


def test_a_class_that_has_a_parent_is_not_asked_about(drawn: Drawn) -> None:
    """Classes with a parent, removed classes and classes with one image get no suggestion."""
    dropped = drawn.add("dropped", [], family=0, images=3)
    drawn.made.act(drawn.project.classes.link(drawn.deepest, [dropped]))
    assert drawn.suggested(dropped) == []
    assert drawn.suggested(drawn.add("one image", [], family=0, images=1)) == []
    assert drawn.suggested(12_345) == []


def test_the_tops_of_both_families_stay_where_they_are(drawn: Drawn) -> None:
    """A top-level class without similar classes gets no suggestion, with or without children."""
    stranger = drawn.add("something else", [], family=2, images=4)
    assert {stranger} < set(drawn.project.classes.graph.roots())
    assert not any(drawn.suggested(each) for each in drawn.project.classes.graph.roots())
    assert drawn.found().found == ()


def test_everything_in_one_list(drawn: Drawn) -> None:
    """A dropped class and a twin are listed with their images; dismissed ones are only counted."""
    dropped = drawn.add("dropped", [], family=0, images=3)
    place, *_ = found = drawn.found().found
    assert isinstance(place.subject, PossibleParents)
    assert place.subject.class_id == dropped
    assert [each.class_id for each in place.evidence] == [
        dropped,
        *(one.class_id for one in place.subject.parents),
    ]
    labels = drawn.project.labels.by_image()
    assert {labels[image_id].class_id for image_id in place.evidence[0].image_ids} == {dropped}
    assert not {labels[image_id].class_id for image_id in place.evidence[1].image_ids} & {dropped}
    drawn.made.act(dismiss(drawn.project, [place.key], named("Dismissed")))
    after = drawn.found()
    assert after.found == tuple(each for each in found if each is not place)
    assert after.dismissed == 1


def test_accepting_a_place_moves_the_class(drawn: Drawn) -> None:
    """It is one undoable step; any suggested parent can be chosen."""
    dropped = drawn.add("dropped", [], family=1, images=3)
    place = drawn.found().found[0]
    drawn.made.act(accept(drawn.project, place.subject))
    assert drawn.project.classes.graph.parents(dropped) == (drawn.other,)
    assert drawn.found().found == ()
    drawn.made.act(drawn.project.history.undo())
    assert drawn.project.classes.graph.parents(dropped) == ()


def test_stopping(drawn: Drawn) -> None:
    """Cancelling stops the search."""
    given, cancel = suggestion_input(drawn.made.live), CancelToken()
    assert given is not None
    cancel.cancel()
    with pytest.raises(Cancelled):
        find_suggestions(given, cancel)


def test_kinds_of_a_class(drawn: Drawn) -> None:
    """Images of two families in one class form two kinds; a class without images has none."""
    mixed = drawn.add("mixed", [], family=0, images=5)
    first = [i for i, label in drawn.project.labels.by_image().items() if label.class_id == mixed]
    other = drawn.add("other", [], family=1, images=4)
    second = [i for i, label in drawn.project.labels.by_image().items() if label.class_id == other]
    drawn.made.act(drawn.project.labels.set(second, mixed))
    assert kinds_of(drawn.made.live, mixed) == (tuple(first), tuple(second))
    assert kinds_of(drawn.made.live, other) == kinds_of(drawn.made.live, 12_345) == ()
