"""Fingerprints are computed with pauses and cached."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.collection.folding import fingerprints
from engine.collection.folding.fingerprints import (
    Pictures,
    cached_fingerprints,
    compute_fingerprints,
    without_fingerprint,
)
from engine.config import CacheFolders
from engine.errors import Cancelled
from engine.events import CancelToken

COUNT = 5


@pytest.fixture
def pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pictures:
    """Five files: one never read, two with the same bytes; fingerprinted one at a time."""
    monkeypatch.setattr(fingerprints, "AT_ONCE", 1)
    for number in range(COUNT):
        noise = np.random.default_rng(number).integers(0, 255, (40, 60, 3), dtype=np.uint8)
        Image.fromarray(noise).save(tmp_path / f"{number}.png")
    keys = np.array([b"a\x00", b"b\x01", b"", b"b\x01", b"c\x02"])
    caches = CacheFolders(tmp_path / "cache")
    return without_fingerprint(
        [f"{number}.png" for number in range(COUNT)], (), keys, cached_fingerprints(keys, caches)
    )


def test_each_content_once_and_none_without(pictures: Pictures) -> None:
    """Hashes are stored completely, also one that ends with a zero byte."""
    assert list(pictures) == [
        ("0.png", "", b"a\x00"),
        ("1.png", "", b"b\x01"),
        ("4.png", "", b"c\x02"),
    ]
    assert [path for path, _, _ in pictures.without(np.array([b"b\x01"]))] == ["0.png", "4.png"]


def test_what_was_seen_is_known(pictures: Pictures, tmp_path: Path) -> None:
    """Cached fingerprints apply to all images of the same bytes."""
    caches = CacheFolders(tmp_path / "cache")
    assert compute_fingerprints(pictures, tmp_path, caches) == 3
    prints = cached_fingerprints(pictures.keys, caches)
    assert prints.is_known.tolist() == [True, True, False, True, True]
    assert not without_fingerprint(pictures.paths, (), pictures.keys, prints)


def test_it_rests_before_the_next_pictures(pictures: Pictures, tmp_path: Path) -> None:
    """The scan rests as long as a pause is requested, then continues."""
    rests: Iterator[float] = iter([0.01, 0.02, 0.0, 0.01, 0.0, 0.0])
    assert (
        compute_fingerprints(
            pictures, tmp_path, CacheFolders(tmp_path / "cache"), pause_s=lambda: next(rests)
        )
        == 3
    )
    assert list(rests) == []


def test_a_cancel_ends_the_rest_and_keeps_what_was_seen(pictures: Pictures, tmp_path: Path) -> None:
    caches, cancel, asked = CacheFolders(tmp_path / "cache"), CancelToken(), list[int]()

    def pause_s() -> float:
        asked.append(0)
        if len(asked) == 1:
            return 0.0
        cancel.cancel()
        return 3600.0

    with pytest.raises(Cancelled):
        compute_fingerprints(pictures, tmp_path, caches, pause_s=pause_s, cancel=cancel)
    assert cached_fingerprints(pictures.keys, caches).is_known.sum() == 1
