"""Images that show none of the classes, among those that do."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.collection_stage.neighbours import (
    COSINE_ONE,
    all_cosines,
    links_between,
    nearest,
)
from engine.everyday.collection_stage.novelty import LabelledNearness
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph
from tests.support.everyday import PRIOR, WIDTH, Matrix, unit
from tests.support.graphs import graph_of

CLASSES = 6
IMAGES = 60
STRANGE = 2
"""Classes of the collection that nobody labels."""
TRUTH = np.repeat(np.arange(CLASSES + STRANGE), IMAGES)
IDS = np.arange(len(TRUTH))
LEAST_FOUND = {1: 0.0, 5: 0.5, 15: 0.7}


def _images(*, noise: float = 0.5, seed: int = 0, looks: int = 1) -> Matrix:
    """Images of all classes, each of several looks."""
    generator = np.random.default_rng(seed)
    middles = generator.normal(size=(CLASSES + STRANGE, looks, WIDTH))
    look = generator.integers(looks, size=len(TRUTH))
    return unit(middles[TRUTH, look] + noise * generator.normal(size=(len(TRUTH), WIDTH)))


def _graph() -> CategoryGraph:
    return graph_of({f"class {number}": [] for number in range(CLASSES)})


def _basis(images: Matrix, rows: NDArray[np.int64]) -> CollectionBasis:
    found = collection_basis(IDS, images, labelled=rows)
    assert found is not None
    return found


def _fitted(
    session: PropagationSession,
    images: Matrix,
    rows: NDArray[np.int64],
    ignored: NDArray[np.int64] | None = None,
) -> EverydayModel:
    shots = Shots(rows, TRUTH[rows] + 1, images[rows])
    return fit(_graph(), shots, session, PRIOR, basis=_basis(images, rows), ignored=ignored)


def _first(count: int) -> NDArray[np.int64]:
    """Rows of the first images of each known class."""
    return np.concatenate([np.flatnonzero(number == TRUTH)[:count] for number in range(CLASSES)])


def _unknown(model: EverydayModel, images: Matrix) -> NDArray[np.bool_]:
    return model.is_unknown(model.classify(images))


def _shares(is_unknown: NDArray[np.bool_], rows: NDArray[np.int64]) -> tuple[float, float]:
    """Share of unlabelled images of known classes that are unknown, and of strangers."""
    is_scored = ~np.isin(IDS, rows)
    is_known = TRUTH < CLASSES
    return float(is_unknown[is_known & is_scored].mean()), float(is_unknown[~is_known].mean())


@pytest.mark.parametrize("count", LEAST_FOUND)
def test_strangers_are_found_and_hardly_a_known_image_is_one(
    propagation: PropagationSession, count: int
) -> None:
    """Hardly an image of a known class is called unknown, not even after one label.

    Most others are after five.
    """
    images, rows = _images(), _first(count)
    false_unknown, found = _shares(_unknown(_fitted(propagation, images, rows), images), rows)
    assert false_unknown <= 0.04
    assert found >= LEAST_FOUND[count]


def test_one_label_of_each_class_finds_what_is_quite_another_thing(
    propagation: PropagationSession,
) -> None:
    """Many classes with one label each, and images that are the opposite of all of them."""
    generator = np.random.default_rng(0)
    count, each = 20, 12
    middles = 1 + 0.5 * generator.normal(size=(count + 1, WIDTH))
    middles[count] = -1
    truth = np.repeat(np.arange(count + 1), each)
    images = unit(middles[truth] + 0.3 * generator.normal(size=(len(truth), WIDTH)))
    rows = np.arange(0, count * each, each)
    basis = collection_basis(np.arange(len(truth)), images, labelled=rows)
    graph = graph_of({f"class {number}": [] for number in range(count)})
    model = fit(graph, Shots(rows, truth[rows] + 1, images[rows]), propagation, PRIOR, basis=basis)
    is_unknown = model.is_unknown(model.classify(images))
    assert is_unknown[truth == count].all()
    assert is_unknown[truth < count].mean() <= 0.04


def test_a_bulk_accept_makes_nothing_unknown(propagation: PropagationSession) -> None:
    """Two labels of each class and 30 of look-alikes of one.

    Its other looks do not become unknown.
    """
    images = _images(looks=4)
    middle = images[np.flatnonzero(TRUTH == 0)[0]]
    alike = np.flatnonzero(TRUTH == 0)[np.argsort(-(images[TRUTH == 0] @ middle))][:12]
    rows = np.union1d(_first(2), alike)
    false_unknown, _ = _shares(_unknown(_fitted(propagation, images, rows), images), rows)
    assert false_unknown <= 0.06


def test_new_images_are_judged_as_those_of_the_collection(propagation: PropagationSession) -> None:
    """The collection's images, given as new ones, get the same verdict but for a few."""
    images, rows = _images(), _first(5)
    model = _fitted(propagation, images, rows)
    new = model.is_unknown(model.classify_new(images))
    assert (new == _unknown(model, images)).mean() > 0.95
    assert _unknown(model, images).any()


def test_without_the_stage_strangers_are_found_all_the_same(
    propagation: PropagationSession,
) -> None:
    """Where the stage would not pay and is dropped, similarity still says who is a stranger."""
    images, rows = _images(), _first(5)
    model = _fitted(propagation, images, rows)
    dropped = replace(model, stage=None)
    assert dropped.novelty is not None
    assert np.array_equal(_unknown(dropped, images), _unknown(model, images))
    again = dropped.is_unknown(dropped.classify_new(images))
    assert (again == _unknown(model, images)).mean() > 0.95


def test_few_images_say_nothing(propagation: PropagationSession) -> None:
    """Of a handful of unlabelled images nobody is called a stranger by similarity."""
    chosen = np.sort(
        np.concatenate([np.flatnonzero(number == TRUTH)[:6] for number in range(CLASSES)])
    )
    images, truth = _images()[chosen], TRUTH[chosen]
    rows = np.flatnonzero(np.arange(len(truth)) % 6 < 2)
    basis = collection_basis(np.arange(len(truth)), images, labelled=rows)
    model = fit(
        _graph(), Shots(rows, truth[rows] + 1, images[rows]), propagation, PRIOR, basis=basis
    )
    assert model.novelty is None
    assert np.isnan(model.classify(images).similarity).all()


def test_images_that_show_none_of_the_classes_make_their_like_unknown(
    propagation: PropagationSession,
) -> None:
    """With images labelled as unknown, more of their look-alikes are unknown."""
    images, rows = _images(noise=1.2), _first(3)
    strange = np.flatnonzero(TRUTH == CLASSES)
    before = _unknown(_fitted(propagation, images, rows), images)
    after = _unknown(_fitted(propagation, images, rows, ignored=strange[:10]), images)
    assert after[strange[10:]].mean() > before[strange[10:]].mean()
    assert after[TRUTH < CLASSES].mean() <= 0.04


def test_more_anchors_than_are_compared_with_one_another(
    propagation: PropagationSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The threshold comes from a part of them then, and finds strangers as well."""
    for limit in ("basis.MOST_COMPARED", "novelty.MOST_COMPARED", "novelty.MOST_LABELS"):
        monkeypatch.setattr(f"engine.everyday.collection_stage.{limit}", 300)
    images, rows = _images(), _first(5)
    model = _fitted(propagation, images, rows)
    assert model.novelty is not None
    assert model.novelty.basis.cosines is None
    false_unknown, found = _shares(_unknown(model, images), rows)
    assert false_unknown <= 0.04
    assert found >= 0.3


def test_many_labels_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """With cosines stored and without, and with part of the labels, it is nearly equal."""
    images = _images()
    links = links_between(nearest(images, images, own=IDS))
    rows = _first(20)
    kept = LabelledNearness(images, links, all_cosines(images, images)).spread(rows, TRUTH[rows])
    multiplied = LabelledNearness(images, links, None).spread(rows, TRUTH[rows])
    assert np.abs(kept - multiplied).max() < 1e-4
    monkeypatch.setattr("engine.everyday.collection_stage.novelty.MOST_LABELS", 60)
    sampled = LabelledNearness(images, links, None).spread(rows, TRUTH[rows])
    assert np.corrcoef(kept, sampled)[0, 1] > 0.98


def test_cosines_grow_with_the_anchors() -> None:
    """A label on an image that was no anchor.

    What was compared before is taken over, and all is as if made anew.
    """
    generator = np.random.default_rng(1)
    images = unit(generator.normal(size=(50, WIDTH)))
    some = collection_basis(np.arange(50), images, labelled=np.arange(5))
    assert some is not None
    fewer = replace(some, anchors=some.anchors[:40], vectors=some.vectors[:40], found=some.found)
    assert fewer.cosines is not None
    grown = fewer.with_anchors(images, np.array([45, 48]))
    assert grown.cosines is not None
    assert np.allclose(grown.cosines / COSINE_ONE, grown.vectors @ grown.vectors.T, atol=1e-4)
    assert np.array_equal(grown.cosines[:40, :40], fewer.cosines)
