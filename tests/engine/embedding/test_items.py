"""Boxes are embedded from one read of their photo, each with its own hash."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.config import CacheFolders
from engine.embedding.cache import EmbeddingCache
from engine.embedding.embed_chunk import read_chunk
from engine.embedding.messages import EmbedBatch, EmbedRequest
from engine.embedding.photo_caches import PreviewCaches
from engine.embedding.photo_messages import WantedPixels
from engine.embedding.pipeline import embed_files
from engine.events import CancelToken
from engine.file_parts import BoundingBox, FilePart, file_part, part_content
from engine.images import opened_file
from engine.images.decode import ImageDecoder
from engine.images.read_file import content_hash, read_file
from engine.images.thumbnail_cache import ThumbnailCache
from engine.runtime.backbone import BackboneSession
from tests.support.images import write_jpeg

BOXES = [FilePart(box=BoundingBox.of(0.1 * each, 0.2, 0.3, 0.4)).text for each in range(4)]


@pytest.fixture
def cache(tmp_path: Path, session: BackboneSession) -> EmbeddingCache:
    return EmbeddingCache(tmp_path / "cache", "items", session.card.embedding_width)


def requests_of(folder: Path, photos: int) -> list[EmbedRequest]:
    """Photos with boxes, each photo first."""
    paths = [
        write_jpeg(folder / f"{number}.jpg", width=400, height=300, seed=number)
        for number in range(photos)
    ]
    parts = ["", *BOXES]
    return [
        EmbedRequest(100 * photo + place, path, None, part)
        for photo, path in enumerate(paths)
        for place, part in enumerate(parts)
    ]


def test_a_file_is_read_once_for_all_its_boxes(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests, opened = requests_of(tmp_path, 3), list[Path]()

    def note_and_read(path: Path) -> bytes:
        opened.append(path)
        return read_file(path)

    monkeypatch.setattr(opened_file, "read_file", note_and_read)
    results: list[EmbedBatch] = []
    summary = embed_files(requests, session, cache, on_batch=results.append)
    assert (summary.embedded, summary.failure_count, len(opened)) == (15, 0, 3)
    hashes = {each.image_id: each.content_hash for batch in results for each in batch.results}
    assert {hashes[image_id] for image_id in range(5)} == {
        content_hash(requests[0].path.read_bytes())
    }
    again = embed_files(requests, session, cache)
    assert (again.from_cache, len(opened)) == (15, 3)


def test_a_file_is_never_left_halfway(tmp_path: Path) -> None:
    """Boxes of a slow file are cropped from one read and looked up together."""
    requests, asked = requests_of(tmp_path, 2), list[int]()

    def note(contents: Sequence[bytes]) -> Sequence[bytes]:
        asked.append(len(contents))
        return contents

    wanted = WantedPixels(32, 1.0)
    chunk = read_chunk(requests, wanted, note, CancelToken(), patience_s=-1.0)
    assert [photo.has_pixels for photo in chunk.photos] == [True] * 5
    assert asked == [5]
    assert len({photo.picture_hash for photo in chunk.photos}) == 1


@pytest.mark.slow
def test_the_picture_of_a_box_alone_is_hashed_as_a_whole(tmp_path: Path) -> None:
    whole, box, *_ = requests_of(tmp_path, 1)
    hashes = [
        read_chunk(
            [request], WantedPixels(96, 1.0), lambda keys: keys, CancelToken(), patience_s=1.0
        )
        .photos[0]
        .picture_hash
        for request in (whole, box)
    ]
    assert hashes[0] == hashes[1] != 0


def test_each_box_has_the_embedding_of_its_square(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    requests = requests_of(tmp_path, 1)
    embed_files(requests, session, cache)
    data = requests[0].path.read_bytes()
    keys = [part_content(content_hash(data), request.part) for request in requests]
    vectors, found = cache.get_many(keys)
    assert found.all()
    card = session.card
    squares = [
        ImageDecoder(data).square(card.input_side, card.resize_share, file_part(request.part).box)
        for request in requests
    ]
    expected = session.embed(np.stack(squares))
    assert np.abs(vectors.astype(np.float32) - expected).max() < 0.02 * np.abs(expected).max()
    assert len({vector.tobytes() for vector in vectors}) == len(requests)


def test_a_box_that_moved_is_embedded_again_and_one_that_came_back_is_not(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    first, *_ = requests_of(tmp_path, 1)
    at = [EmbedRequest(1, first.path, None, part) for part in (BOXES[0], BOXES[1], BOXES[0])]
    counts = [embed_files([request], session, cache).embedded for request in at]
    assert counts == [1, 1, 0]


def test_boxes_have_thumbnails_of_their_own(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    requests, caches = requests_of(tmp_path, 1), CacheFolders(tmp_path / "all")
    embed_files(requests, session, cache, previews=PreviewCaches(caches, 320))
    thumbnails, status = ThumbnailCache(caches.thumbnails), requests[0].path.stat()
    state = requests[0].path, status.st_size, status.st_mtime_ns, 320
    pictures = [thumbnails.get(*state, request.part) for request in requests]
    assert all(pictures)
    assert len(set(pictures)) == len(requests)


def test_boxes_of_a_missing_or_damaged_file_fail_each(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    (tmp_path / "broken.jpg").write_bytes(b"not an image")
    paths = (tmp_path / "broken.jpg", tmp_path / "gone.jpg")
    requests = [
        EmbedRequest(number, path, None, part)
        for path in paths
        for number, part in enumerate(BOXES)
    ]
    summary = embed_files(requests, session, cache)
    assert (summary.failure_count, summary.embedded) == (8, 0)


def test_many_boxes_of_one_file(
    tmp_path: Path, session: BackboneSession, cache: EmbeddingCache
) -> None:
    path = write_jpeg(tmp_path / "crowd.jpg", width=400, height=300)
    parts = [FilePart(box=BoundingBox.of(each / 200, 0.1, 0.2, 0.2)).text for each in range(150)]
    requests = [EmbedRequest(number, path, None, part) for number, part in enumerate(parts)]
    assert embed_files(requests, session, cache).embedded == 150
