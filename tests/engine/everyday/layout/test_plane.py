"""Places in the plane: look-alikes together, the same each time, and new ones among the others."""

import numpy as np
import pytest

from engine.arrays import Floats
from engine.errors import Cancelled
from engine.events import CancelToken
from engine.everyday.blocks import stopped_by
from engine.everyday.layout.neighbours import NeighbourIndex
from engine.everyday.layout.plane import EXTENT, ROUNDS, centred, lay_out, place_among, sample_of
from engine.everyday.layout.space import MapSpace, map_space

GROUPS = 4


def grouped(count: int, width: int = 12) -> tuple[Floats, np.ndarray]:
    """Unit vectors around four directions, and which one each is of."""
    generator = np.random.default_rng(2)
    groups = np.arange(count) % GROUPS
    vectors = 3 * np.eye(width)[groups] + generator.standard_normal((count, width)) / 2
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), groups


@pytest.fixture(scope="module")
def laid() -> tuple[Floats, np.ndarray, Floats]:
    """Vectors, groups and places."""
    vectors, groups = grouped(240)
    return vectors, groups, lay_out(vectors, threads=1)


def nearest_group(places: Floats, groups: np.ndarray, of: Floats) -> np.ndarray:
    """The group of the place nearest to each of some places."""
    squares = ((of[:, None] - places[None]) ** 2).sum(axis=2)
    squares[squares == 0] = np.inf
    return groups[squares.argmin(axis=1)]


@pytest.mark.slow
def test_look_alikes_lie_together(laid: tuple[Floats, np.ndarray, Floats]) -> None:
    """Nearly every image's neighbour in the map is of its group, and all lie around zero."""
    _vectors, groups, places = laid
    assert np.mean(nearest_group(places, groups, places) == groups) > 0.97
    assert np.ptp(np.percentile(places, (1, 99), axis=0), axis=0).max() == pytest.approx(
        EXTENT, rel=1e-3
    )
    assert np.isfinite(places).all()


@pytest.mark.slow
def test_the_same_images_give_the_same_map(laid: tuple[Floats, np.ndarray, Floats]) -> None:
    vectors, _groups, places = laid
    assert np.array_equal(lay_out(vectors, threads=1), places)


@pytest.mark.slow
def test_new_images_come_to_their_look_alikes(laid: tuple[Floats, np.ndarray, Floats]) -> None:
    """Each lies within its group; one that is there already lies close to itself."""
    vectors, groups, places = laid
    new, of = grouped(400)
    found = place_among(NeighbourIndex.of(vectors), places, new[240:])
    assert np.mean(nearest_group(places, groups, found) == of[240:]) > 0.97
    known = place_among(NeighbourIndex.of(vectors), places, vectors[:20])
    assert np.median(np.linalg.norm(known - places[:20], axis=1)) < 0.02 * EXTENT


def test_a_new_image_between_two_groups_comes_to_one_of_them() -> None:
    """A mean of both would lie where nobody is."""
    vectors = np.array([[1, 0], [1.01, 0], [0, 1], [0, 1.01], [0, 1.02]] * 3, dtype=np.float32)
    places = np.where(vectors[:, :1] > 0.5, np.array([[-40, 0]]), np.array([[40, 0]])).astype(
        np.float32
    )
    found = place_among(
        NeighbourIndex.of(vectors), places, np.array([[0.5, 0.52]], dtype=np.float32)
    )
    assert abs(abs(found[0, 0]) - 40) < 1


def test_few_images_and_copies() -> None:
    """One, some, and many that are the same photo.

    A finite place for each, and no division by nothing.
    """
    for count in (0, 1, 2, 19):
        assert np.isfinite(lay_out(grouped(count)[0], threads=1)).all()
    same = np.repeat(grouped(1)[0], 60, axis=0)
    assert np.isfinite(lay_out(same, threads=1)).all()
    assert centred(np.zeros((3, 2), dtype=np.float32)).tolist() == [[0, 0]] * 3


def test_rounds_are_reported_and_a_cancel_stops_between_them() -> None:
    reported: list[tuple[int, int]] = []
    token = CancelToken()

    def on_round(done: int, total: int) -> None:
        reported.append((done, total))
        if done == 3:
            token.cancel()

    with stopped_by(token), pytest.raises(Cancelled):
        lay_out(grouped(60)[0], on_round, threads=1)
    assert reported == [(1, ROUNDS), (2, ROUNDS), (3, ROUNDS)]


def test_a_sample_stands_for_very_many() -> None:
    rows = sample_of(1_000, 100)
    assert len(rows) == 100
    assert (np.diff(rows) > 0).all()
    assert sample_of(5, 100).tolist() == [0, 1, 2, 3, 4]


def test_a_space_comes_back_from_its_arrays() -> None:
    """Also of images that are all the same, which nothing tells apart."""
    for embeddings in (grouped(80)[0], np.repeat(grouped(1)[0], 9, axis=0)):
        space = map_space(embeddings)
        again = MapSpace.of_arrays(space.arrays())
        assert np.array_equal(again.apply(embeddings), space.apply(embeddings))
        assert space.takes(12)
        assert not space.takes(13)
        assert np.isfinite(space.apply(embeddings)).all()
