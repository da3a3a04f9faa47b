"""Views of an image and their mean embedding."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedRequest
from engine.embedding.pipeline import embed_files
from engine.embedding.read_photo import network_input
from engine.embedding.views import (
    MOST_IN_ALL_VIEWS,
    MOST_PER_CLASS,
    VIEWS,
    first_of_each,
    mean_of_views,
    those_to_view,
    unit_length,
    views_hash,
    views_of_side,
)
from engine.images.read_file import content_hash
from engine.runtime.backbone import BackboneSession
from tests.support.backbones import WIDTH
from tests.support.images import write_jpeg


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[EmbeddingCache]:
    """The cache of views."""
    with EmbeddingCache(tmp_path / "cache", views_hash("ab" * 32), WIDTH) as cache:
        yield cache


def quarters(side: int) -> NDArray[np.uint8]:
    """A picture with four different quarters."""
    picture = np.zeros((2, 2, 3), dtype=np.uint8)
    picture[0, 1], picture[1, 0], picture[1, 1] = (255, 0, 0), (0, 255, 0), (0, 0, 255)
    return picture.repeat(side, axis=0).repeat(side, axis=1)


def test_the_whole_comes_first_and_each_corner_shows_more_of_its_own(
    tmp_path: Path, session: BackboneSession
) -> None:
    """Upper left, upper right, lower left, lower right, slightly enlarged."""
    Image.fromarray(quarters(90)).save(tmp_path / "quarters.png")
    data = (tmp_path / "quarters.png").read_bytes()
    views = views_of_side(data, session.card.input_side, session.card.resize_share)
    side = session.card.input_side
    assert views.shape == (VIEWS, side, side, 3)
    assert (views[0] == network_input(data, session.card)).all()
    shares = [
        (view == quarters(1)[row, column]).all(axis=2).mean()
        for view, (row, column) in zip(views[1:], ((0, 0), (0, 1), (1, 0), (1, 1)), strict=True)
    ]
    assert shares == pytest.approx([(9 / 14) ** 2] * 4, abs=0.05)


def test_the_cache_gets_the_mean_over_views(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    """Normalised to length 1 and independent of the chunk."""
    requests = [
        EmbedRequest(number, write_jpeg(tmp_path / f"{number}.jpg", seed=number))
        for number in range(23)
    ]
    with EmbeddingCache(tmp_path / "whole", "cd" * 32, cache.width) as whole:
        summary = embed_files(requests, session, whole, views=cache)
    assert (summary.embedded, summary.failed) == (23, ())
    contents = [request.path.read_bytes() for request in requests]
    vectors, found = cache.get_many([content_hash(data) for data in contents])
    assert found.all()
    for data, vector in zip(contents, vectors, strict=True):
        alone = unit_length(
            session.embed(views_of_side(data, session.card.input_side, session.card.resize_share))
        ).mean(axis=0)
        assert vector == pytest.approx(alone / np.linalg.norm(alone), abs=1e-3)


def test_every_view_counts_the_same() -> None:
    """Embeddings are normalised before averaging."""
    embeddings = np.zeros((2 * VIEWS, 2), dtype=np.float32)
    embeddings[:VIEWS, 0], embeddings[0] = 3, (0, 70)
    embeddings[VIEWS:, 1] = 2
    assert mean_of_views(embeddings) == pytest.approx(np.array([[4, 1], [0, 17**0.5]]) / 17**0.5)


def test_a_backbone_and_its_views_have_different_caches(tmp_path: Path) -> None:
    """Embeddings of one view and of all views are separate."""
    assert views_hash("ab" * 32) not in {"ab" * 32, views_hash("cd" * 32)}
    with (
        EmbeddingCache(tmp_path, "ab" * 32, 4) as one,
        EmbeddingCache(tmp_path, views_hash("ab" * 32), 4) as all_views,
    ):
        assert one.path != all_views.path


def test_the_first_images_of_every_class_are_chosen() -> None:
    """The number of images per class is limited."""
    class_ids = np.array([7] * (MOST_PER_CLASS + 3) + [5] + [7] + [9, 9])
    chosen = first_of_each(class_ids).tolist()
    assert chosen == [
        *range(MOST_PER_CLASS),
        MOST_PER_CLASS + 3,
        MOST_PER_CLASS + 5,
        MOST_PER_CLASS + 6,
    ]
    assert first_of_each(class_ids[:0]).tolist() == []


def test_labelled_images_come_first_and_others_where_they_are_not_too_many() -> None:
    """All images of a small collection, labelled ones first; only these of a large one."""
    labels = np.array([-1, 3, -2, 3, -1, 0])
    assert those_to_view(labels).tolist() == [1, 3, 5, 0, 2, 4]
    many = np.concatenate([labels, np.full(MOST_IN_ALL_VIEWS, -1)])
    assert those_to_view(many).tolist() == [1, 3, 5]
