"""100,000 images: times are printed, sizes and counts are held."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from engine.project import Prediction, Project
from tests.support.projects import found_files, new_project

T = TypeVar("T")

COUNT = 100_000
LARGEST_FILE_BYTES = 60_000_000


def _timed(what: str, use: Callable[[], T]) -> T:
    start_s = time.perf_counter()
    answer = use()
    print(f"{what}: {(time.perf_counter() - start_s) * 1000:.1f} ms")  # noqa: T201 (read with pytest -s)
    return answer


@pytest.mark.slow
def test_a_big_collection(tmp_path: Path) -> None:
    """Adding, labelling, predicting, undoing and reopening work at full size, and the history stays compact."""
    project = new_project(tmp_path)
    _, gull = project.add_class("Gull")
    files = found_files(Path("/photos"), COUNT)
    images = _timed("add 100,000 images", lambda: project.add_images(files)).images_added
    assert len(images) == COUNT
    assert _timed("add them again", lambda: project.add_images(files)).is_empty
    assert len(_timed("image table", project.image_table).ids) == COUNT
    assert len(_timed("image records", project.images)) == COUNT
    _timed("label 5,000 images", lambda: project.label(images[:5000], gull))
    _timed("label one image", lambda: project.label(images[6000:6001], gull))
    _timed("record 100,000 scans", lambda: project.record_scan((each, bytes(16), None) for each in images))
    rows = [Prediction(each, gull, 0.5, None, 0.0) for each in images]
    _timed("store 100,000 predictions", lambda: project.store_predictions(rows, version_id=1, setting="ppn+"))
    assert len(_timed("read them", lambda: project.predictions("ppn+"))) == COUNT
    project.close()
    assert project.path.stat().st_size < LARGEST_FILE_BYTES
    with _timed("open", lambda: Project.open(project.path)) as reopened:
        assert len(_timed("labels", reopened.labels)) == 5001
        for _ in range(3):
            _timed("undo", reopened.undo)
        assert reopened.image_count == 0
        _timed("redo", reopened.redo)
        assert reopened.image_count == COUNT
