"""100,000 images: complete, compact, and small steps are cheap."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.project import Prediction, Project
from tests.support.projects import found_files, new_project

COUNT = 100_000
LARGEST_FILE_BYTES = 60_000_000


def seconds_of(work: Callable[..., object], *arguments: object) -> float:
    """CPU time, independent of other programs."""
    start_s = time.process_time()
    work(*arguments)
    return time.process_time() - start_s


@pytest.mark.slow
def test_a_big_collection(tmp_path: Path) -> None:
    """Adding, labelling, predicting, undo and reopening at full size; the history is compact."""
    project = new_project(tmp_path)
    _, gull = project.classes.add("Gull")
    files = found_files(Path("/photos"), COUNT)
    images = project.images.add(files).images_added
    assert len(images) == COUNT
    assert project.images.add(files).is_empty
    assert len(project.images.table().ids) == COUNT
    assert len(project.images.records()) == COUNT
    many_s = seconds_of(project.labels.set, images[:5000], gull)
    one_s = min(
        seconds_of(project.labels.set, images[place : place + 1], gull)
        for place in range(6000, 6005)
    )
    undo_s = min(seconds_of(project.history.undo) for _ in range(4))
    assert max(one_s, undo_s) < many_s / 20
    project.images.record_scan((each, bytes(16), None) for each in images)
    rows = [Prediction(each, gull, 0.5, None, 0.0) for each in images]
    project.models.store_predictions(rows, version_id=1, setting="ppn+")
    assert len(project.models.predictions("ppn+")) == COUNT
    project.close()
    assert project.path.stat().st_size < LARGEST_FILE_BYTES
    with Project.open(project.path) as reopened:
        assert len(reopened.labels.by_image()) == 5001
        for _ in range(3):
            reopened.history.undo()
        assert reopened.images.count == 0
        reopened.history.redo()
        assert reopened.images.count == COUNT
