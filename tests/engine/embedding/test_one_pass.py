"""One read of a photo gives pixels of all views, thumbnail, fingerprint and metadata."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import simplejpeg
from PIL import Image

from engine.config import CacheFolders
from engine.embedding import cores
from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedBatch, EmbedRequest
from engine.embedding.photo_caches import PreviewCaches
from engine.embedding.pipeline import embed_files
from engine.files import FoundFile
from engine.images import opened_file
from engine.images.decode import ImageDecoder, decode_square
from engine.images.fingerprint import fingerprint_of
from engine.images.fingerprint_cache import FingerprintCache
from engine.images.read_file import content_hash, read_file
from engine.images.thumbnail_cache import ThumbnailCache, thumbnail
from engine.runtime.backbone import BackboneSession
from tests.support.backbones import WIDTH
from tests.support.images import encoded, exif_with_orientation, picture

SIDE = 320


@dataclass(frozen=True)
class Caches:
    """Caches of a run."""

    whole: EmbeddingCache
    views: EmbeddingCache
    previews: PreviewCaches
    folders: CacheFolders


@pytest.fixture
def caches(tmp_path: Path) -> Iterator[Caches]:
    folders = CacheFolders(tmp_path / "previews")
    previews = PreviewCaches(folders, SIDE)
    with (
        EmbeddingCache(tmp_path / "whole", "ab" * 32, WIDTH) as whole,
        EmbeddingCache(tmp_path / "views", "cd" * 32, WIDTH) as views,
    ):
        yield Caches(whole, views, previews, folders)
    previews.close()


def photos(folder: Path) -> list[EmbedRequest]:
    """Photos: 16:9, rotated, not JPEG, and files that are no photos."""
    folder.mkdir()
    contents = {
        "wide.jpg": encoded(picture(1280, 720, seed=1), "JPEG", quality=90),
        "turned.jpg": encoded(
            Image.fromarray(picture(640, 480, seed=2)), "JPEG", exif=exif_with_orientation(6)
        ),
        "plain.png": encoded(picture(700, 500, seed=3), "PNG"),
        "ink.jpg": encoded(Image.fromarray(picture(500, 400, seed=4)).convert("CMYK"), "JPEG"),
        "grey.jpg": encoded(Image.fromarray(picture(500, 400, seed=5)).convert("L"), "JPEG"),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [EmbedRequest(number, folder / name) for number, name in enumerate(contents)]


@pytest.mark.slow
def test_one_read_makes_all(
    tmp_path: Path, session: BackboneSession, caches: Caches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit-identical to separate passes."""
    requests = photos(tmp_path / "photos")
    read: list[Path] = []

    def note_and_read(path: Path) -> bytes:
        read.append(path)
        return read_file(path)

    monkeypatch.setattr(opened_file, "read_file", note_and_read)
    done = embed_files(
        requests, session, caches.whole, views=caches.views, previews=caches.previews
    )
    assert (done.embedded, sorted(read)) == (
        len(requests),
        sorted(request.path for request in requests),
    )
    thumbnails, fingerprints = (
        ThumbnailCache(caches.folders.thumbnails),
        FingerprintCache(caches.folders.fingerprints),
    )
    with EmbeddingCache(tmp_path / "alone", "ab" * 32, WIDTH) as alone:
        embed_files(requests, session, alone)
        keys = [content_hash(request.path.read_bytes()) for request in requests]
        np.testing.assert_array_equal(caches.whole.get_many(keys)[0], alone.get_many(keys)[0])
    assert caches.views.missing(keys) == []
    found = fingerprints.get_many(np.array(keys))
    for place, request in enumerate(requests):
        file = FoundFile.at(request.path)
        assert file is not None
        kept = thumbnails.get(file.path, file.size_bytes, file.modified_ns, SIDE)
        assert kept == thumbnail(request.path, SIDE)
        expected = fingerprint_of(request.path)
        assert (int(found.bits[place]), found.sharpness[place]) == (
            expected.bits,
            np.float32(expected.sharpness),
        )
    thumbnails.close()
    fingerprints.close()


def test_a_scale_of_a_jpeg_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other scales are decoded from the same bytes.

    Values equal decoding for each size.
    """
    data, decoded = encoded(picture(500, 300), "JPEG"), list[tuple[int, int]]()
    decode = simplejpeg.decode_jpeg

    def note_and_decode(data: bytes, *others: Any, **sizes: int) -> Any:
        decoded.append((sizes["min_width"], sizes["min_height"]))
        return decode(data, *others, **sizes)

    expected = decode_square(data, 165, 0.875), decode_square(data, 32)
    monkeypatch.setattr(simplejpeg, "decode_jpeg", note_and_decode)
    image = ImageDecoder(data)
    found = [
        image.square(165, 0.875),
        image.square(200, 0.875),
        image.within(SIDE),
        image.square(32),
    ]
    assert decoded == [(500, 300), (63, 38)]
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[3], expected[1])
    assert found[2].shape == (192, SIDE, 3)


def test_another_picture_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other formats are decoded once, unless they are large."""
    data, opened = encoded(picture(400, 300), "PNG"), list[object]()
    expected = decode_square(data, 64), ImageDecoder(data).within(100)
    open_image = Image.open

    def note_and_open(*given: Any, **others: Any) -> Any:
        opened.append(given)
        return open_image(*given, **others)

    monkeypatch.setattr(Image, "open", note_and_open)
    image = ImageDecoder(data)
    np.testing.assert_array_equal(image.square(64), expected[0])
    np.testing.assert_array_equal(image.within(100), expected[1])
    assert len(opened) == 1


def test_what_is_shown_first_is_read_before_anything_is_embedded(
    tmp_path: Path, session: BackboneSession, caches: Caches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thumbnails are reported before the first embedding; in the end each photo has both."""
    monkeypatch.setattr(cores, "READ_FIRST", 6)
    (tmp_path / "photos").mkdir()
    requests = []
    for number in range(20):
        path = tmp_path / "photos" / f"{number:02}.jpg"
        path.write_bytes(encoded(picture(60, 40, seed=number), "JPEG"))
        requests.append(EmbedRequest(number, path))
    news: list[tuple[str, int]] = []

    def take(batch: EmbedBatch) -> None:
        news.extend(("seen", image_id) for image_id in batch.seen)
        news.extend(("embedded", result.image_id) for result in batch.results)

    embed_files(
        requests,
        session,
        caches.whole,
        views=caches.views,
        previews=caches.previews,
        on_batch=take,
        workers=1,
    )
    first = next(place for place, (kind, _image_id) in enumerate(news) if kind == "embedded")
    assert {image_id for _kind, image_id in news[:first]} >= set(range(6))
    for kind in ("seen", "embedded"):
        assert sorted(image_id for each, image_id in news if each == kind) == list(range(20))


def test_a_photo_without_views_is_not_known(
    tmp_path: Path, session: BackboneSession, caches: Caches
) -> None:
    """A content without views is read again, and gets both embeddings."""
    requests = photos(tmp_path / "photos")
    embed_files(requests, session, caches.whole)
    done = embed_files(requests, session, caches.whole, views=caches.views)
    assert (done.embedded, done.from_cache) == (len(requests), 0)
    again = embed_files(requests, session, caches.whole, views=caches.views)
    assert (again.embedded, again.from_cache) == (0, len(requests))
