"""Reads of new photos, from the drop to the last prediction."""

import sys
from pathlib import Path

import numpy as np
import pytest

from app.images import thumbnails
from engine.collection.state import ImageStatus
from engine.images.fingerprint_cache import FingerprintCache
from engine.images.read_file import content_hash
from research.file_opens import FileOpenCounter
from tests.support.desk import Desk
from tests.support.images import write_jpeg
from tests.support.new_project import begin_with

PHOTOS = 24


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="inotify counts")
def test_each_photo_is_opened_once(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Embedding, views, fingerprint, metadata and thumbnail share a single read of the file."""
    monkeypatch.setattr(thumbnails, "AWAITED_S", 60.0)  # for a busy machine
    folder = tmp_path / "field trip"
    folder.mkdir()
    for number in range(PHOTOS):
        write_jpeg(folder / f"{number:02}.jpg", width=640, height=360, seed=number)
    opened = FileOpenCounter(folder)
    begin_with(desk, [folder])
    desk.wait(lambda: desk.window.session.state is not None and len(desk.state.image_ids) == PHOTOS)
    desk.wait_until_read()
    grid = desk.window.workspace.grid
    sources = [desk.window.workspace.model.card(row).source for row in grid.places_in_view()]
    desk.wait(
        lambda: all(desk.window.thumbnails.placeholder(source) is not None for source in sources)
    )
    assert (desk.state.status == ImageStatus.READY).all()
    assert len(desk.state.without_views) == 0
    assert opened.counts() == [PHOTOS]
    cache = FingerprintCache(desk.window.session.caches.fingerprints)
    keys = np.array([content_hash(path.read_bytes()) for path in sorted(folder.iterdir())])
    assert cache.get_many(keys).is_known.all()
    cache.close()
