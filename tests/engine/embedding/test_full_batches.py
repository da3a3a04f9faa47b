"""A device gets batches of one size, and each image its own embedding."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.embedding.cache import EmbeddingCache
from engine.embedding.full_batches import BATCHES, FullBatches
from engine.embedding.messages import EmbedRequest
from engine.embedding.pipeline import embed_files
from engine.errors import Cancelled, ModelError
from engine.events import CancelToken, Progress
from engine.images.read_file import content_hash
from engine.runtime.backbone import BackboneSession
from tests.support.backbones import WIDTH
from tests.support.images import write_jpeg

BATCH = 8
Embed = Callable[[NDArray[np.uint8]], NDArray[np.float32]]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[EmbeddingCache]:
    with EmbeddingCache(tmp_path / "cache", "ab" * 32, WIDTH) as cache:
        yield cache


class Device:
    """A session as if on a GPU, which records batch sizes."""

    def __init__(self, session: BackboneSession, monkeypatch: pytest.MonkeyPatch) -> None:
        self.session, self.sizes, self.embed = session, list[int](), session.embed
        monkeypatch.setattr(session, "batch_size", BATCH)
        monkeypatch.setattr(type(session), "is_on_gpu", True)
        self.run_by(self.embed, monkeypatch)

    def run_by(self, embed: Embed, monkeypatch: pytest.MonkeyPatch) -> None:
        """Replace the recorded run by another function."""

        def note_and_embed(images: NDArray[np.uint8]) -> NDArray[np.float32]:
            self.sizes.append(len(images))
            return embed(images)

        monkeypatch.setattr(self.session, "embed", note_and_embed)


@pytest.fixture
def device(session: BackboneSession, monkeypatch: pytest.MonkeyPatch) -> Device:
    return Device(session, monkeypatch)


def images(session: BackboneSession, count: int) -> NDArray[np.uint8]:
    """With different contents."""
    side = session.card.input_side
    return np.random.default_rng(count).integers(0, 256, (count, side, side, 3), dtype=np.uint8)


def photos(folder: Path, count: int) -> list[EmbedRequest]:
    folder.mkdir(exist_ok=True)
    return [
        EmbedRequest(number, write_jpeg(folder / f"{number}.jpg", seed=number))
        for number in range(count)
    ]


def test_images_that_were_added_together_may_run_apart(device: Device) -> None:
    """Three, twenty and one: three full batches, the last one padded."""
    given = [images(device.session, count) for count in (3, 20, 1)]
    with FullBatches(device.session) as batches:
        futures = [batches.add(each) for each in given]
        assert not futures[-1].done()
        batches.flush()
        found = [future.result(20) for future in futures]
    assert device.sizes == [BATCH] * 3
    for each, vectors in zip(given, found, strict=True):
        np.testing.assert_allclose(vectors, device.embed(each), rtol=1e-4)


def test_there_is_room_until_all_batches_are_full(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Submitting blocks only if all batches are full."""
    go_on = threading.Event()

    def when_allowed(given: NDArray[np.uint8]) -> NDArray[np.float32]:
        assert go_on.wait(20)
        return device.embed(given)

    device.run_by(when_allowed, monkeypatch)
    with FullBatches(device.session) as batches:
        futures = []
        for _ in range(BATCHES):
            assert batches.has_room
            futures.append(batches.add(images(device.session, BATCH)))
        assert not batches.has_room
        go_on.set()
        assert all(len(future.result(20)) == BATCH for future in futures)


def test_a_failure_reaches_all_whose_images_were_in_the_batch(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_images: NDArray[np.uint8]) -> NDArray[np.float32]:
        raise ModelError("the device is gone")

    device.run_by(fail, monkeypatch)
    with FullBatches(device.session) as batches:
        futures = [batches.add(images(device.session, count)) for count in (3, 10)]
        batches.flush()
        for future in futures:
            with pytest.raises(ModelError, match="gone"):
                future.result(20)


def test_what_has_not_begun_is_dropped(device: Device) -> None:
    with FullBatches(device.session) as batches:
        future = batches.add(images(device.session, 3))
    assert not future.done()
    assert device.sizes == []


@pytest.mark.slow
@pytest.mark.parametrize("with_views", [False, True])
def test_every_file_gets_its_own_embedding(
    tmp_path: Path,
    device: Device,
    cache: EmbeddingCache,
    monkeypatch: pytest.MonkeyPatch,
    *,
    with_views: bool,
) -> None:
    """As on the CPU, for every view.

    All batches but the last are full of requested images.
    """
    requests = photos(tmp_path / "photos", 45)
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    requests += [
        EmbedRequest(100, tmp_path / "broken.jpg"),
        EmbedRequest(101, tmp_path / "gone.jpg"),
    ]
    requests.append(EmbedRequest(102, requests[3].path))
    progress = list[Progress]()
    views = EmbeddingCache(tmp_path / "views", "ef" * 32, WIDTH) if with_views else None
    summary = embed_files(requests, device.session, cache, views=views, on_progress=progress.append)
    assert (summary.embedded, summary.from_cache, summary.failure_count) == (45, 1, 2)
    assert progress[-1].done == len(requests)
    assert device.sizes == [BATCH] * -(-45 * (5 if with_views else 1) // BATCH)
    other, other_views = (
        EmbeddingCache(tmp_path / name, "cd" * 32, WIDTH) for name in ("other", "other views")
    )
    monkeypatch.setattr(type(device.session), "is_on_gpu", False)
    on_cores = embed_files(
        requests, device.session, other, views=other_views if with_views else None
    )
    keys = [content_hash(request.path.read_bytes()) for request in requests[:45]]
    np.testing.assert_array_equal(cache.get_many(keys)[0], other.get_many(keys)[0])
    if views is not None:
        np.testing.assert_array_equal(views.get_many(keys)[0], other_views.get_many(keys)[0])
    assert cache.picture_hashes(keys) == other.picture_hashes(keys)
    assert on_cores.embedded == 45


def test_a_second_run_reads_nothing(tmp_path: Path, device: Device, cache: EmbeddingCache) -> None:
    requests = photos(tmp_path / "photos", 20)
    embed_files(requests, device.session, cache)
    device.sizes.clear()
    assert embed_files(requests, device.session, cache).from_cache == 20
    assert device.sizes == []


def test_a_cancel_keeps_what_was_embedded(
    tmp_path: Path, device: Device, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled in the third batch, the next run embeds the rest."""
    requests, cancel = photos(tmp_path / "photos", 60), CancelToken()

    def cancel_then(given: NDArray[np.uint8]) -> NDArray[np.float32]:
        if len(device.sizes) == 3:
            cancel.cancel()
        return device.embed(given)

    device.run_by(cancel_then, monkeypatch)
    with pytest.raises(Cancelled):
        embed_files(requests, device.session, cache, cancel=cancel)
    done = 60 - len(
        cache.missing([content_hash(request.path.read_bytes()) for request in requests])
    )
    assert 0 < done < 60
    assert embed_files(requests, device.session, cache).embedded == 60 - done


def test_a_device_that_fails_stops_the_run_and_keeps_the_rest(
    tmp_path: Path, device: Device, cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_later(given: NDArray[np.uint8]) -> NDArray[np.float32]:
        if len(device.sizes) == 3:
            raise ModelError("the device is gone")
        return device.embed(given)

    device.run_by(fail_later, monkeypatch)
    requests = photos(tmp_path / "photos", 60)
    with pytest.raises(ModelError, match="gone"):
        embed_files(requests, device.session, cache)
    missing = cache.missing([content_hash(request.path.read_bytes()) for request in requests])
    assert 0 < len(missing) < 60
