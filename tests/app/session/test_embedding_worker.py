"""The embedding process: kept alive, given only new images, ended when idle."""

from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.session import Session
from app.session.embedding import Embedding
from engine.files import FoundFile
from tests.support.collections import Collection, write_shape
from tests.support.scripted_workers import ScriptedWorkers, ended
from tests.support.sessions import LONG_MS, act, open_project


def add_image(qtbot: QtBot, session: Session, path: Path) -> int:
    """Add a drawn image; returns its id."""
    status = write_shape(path, "Blue disc", seed=77).stat()
    file = FoundFile(path, status.st_size, status.st_mtime_ns)
    (image_id,) = act(qtbot, session, lambda project: project.images.add([file])).images_added
    return image_id


def test_it_stays_and_is_asked_for_new_images_alone(
    qtbot: QtBot, session: Session, collection: Collection, tmp_path: Path
) -> None:
    """Two images added one after the other: one process, one image per request."""
    workers = ScriptedWorkers([[ended("CPU")], [ended("CPU")]])
    embedding = Embedding(session, workers)
    open_project(qtbot, session, collection.project)
    added, process_ids = [], set()
    for name in ("first.png", "second.png"):
        added.append(add_image(qtbot, session, tmp_path / name))
        qtbot.waitUntil(
            lambda: len(workers.requests) == len(added) and embedding.job is None, timeout=LONG_MS
        )
        assert embedding.worker is not None
        process_ids.add(embedding.worker.process_id)
    assert len(process_ids) == 1
    assert 0 not in process_ids
    assert [image.image_id for image in workers.requests[0].images] == added[:1]
    assert added[1] in [image.image_id for image in workers.requests[1].images]


@pytest.mark.slow
def test_it_leaves_when_it_has_nothing_to_do(
    qtbot: QtBot, session: Session, collection: Collection, tmp_path: Path
) -> None:
    """Its memory is released; the next image starts another process."""
    workers = ScriptedWorkers([[ended("CPU")]], [[ended("CPU")]])
    embedding = Embedding(session, workers, idle_ms=1)

    def is_asked(count: int) -> bool:
        return len(workers.requests) == count and embedding.job is None

    open_project(qtbot, session, collection.project)
    for count, name in enumerate(("first.png", "second.png"), 1):
        add_image(qtbot, session, tmp_path / name)
        qtbot.waitUntil(partial(is_asked, count), timeout=LONG_MS)
        qtbot.waitUntil(lambda: embedding.worker is None, timeout=LONG_MS)
        assert workers.started[-1].join(LONG_MS / 1000)
        assert workers.started[-1].process_id == 0
