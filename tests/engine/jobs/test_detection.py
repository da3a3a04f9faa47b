"""Detection in the worker and on the command line."""

from pathlib import Path

import pytest

from engine.collection.importing.import_images import import_images
from engine.collection.object_detection import (
    FindInProject,
    ThingsFound,
    add_known,
    find_in_project,
)
from engine.config import CacheFolders
from engine.errors import Cancelled
from engine.events import CancelToken, Progress
from engine.file_parts import file_part
from engine.images.read_file import file_hash
from engine.project import Project
from tests.support.detector_networks import picture_of_discs, write_detector
from tests.support.images import encoded
from tests.support.projects import new_project
from tests.support.served import served

DISC, SIZE = (60.0, 50.0, 12.0, True), (160, 100)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two photos of a disc, one without, and an invalid file."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, discs in (("a", [DISC]), ("b", [DISC, (120.0, 40.0, 10.0, False)]), ("c", [])):
        (folder / f"{name}.png").write_bytes(encoded(picture_of_discs(SIZE, discs), "PNG"))
    (folder / "d.png").write_bytes(b"no image")
    project = new_project(tmp_path)
    import_images(project, [folder])
    return project


@pytest.mark.slow
def test_things_are_found_and_added_by_threshold(project: Project, tmp_path: Path) -> None:
    """The worker caches boxes, and the project adds those above a threshold."""
    model, caches = write_detector(tmp_path / "discs.onnx"), CacheFolders(tmp_path / "cache")
    answer = served(FindInProject(project.path, caches.root, model, "cpu"))
    assert answer.status == 0
    assert isinstance(answer.ending, ThingsFound)
    assert (answer.ending.pictures, answer.ending.failure_count) == (3, 1)
    assert answer.ending.counts[20] == (3, 2)
    assert answer.ending.counts[100][0] <= answer.ending.counts[20][0]
    project.images.record_scan(
        (each.image_id, _hash(project, each.path), None)
        for each in project.images.records()
        if not each.path.endswith("d.png")
    )
    change = add_known(project, caches, model, 0.2)
    assert len(change.images_added) == 3
    boxes = [file_part(part).box for part in project.images.table().parts if part]
    assert all(box is not None for box in boxes)
    assert {each.category for each in project.images.detections().values()} >= {"red"}
    assert add_known(project, caches, model, 0.2).images_added == ()
    project.history.undo()
    assert not project.images.table().has_parts


@pytest.mark.slow
def test_a_stopped_run_goes_on_where_it_was(project: Project, tmp_path: Path) -> None:
    model, caches = write_detector(tmp_path / "discs.onnx"), CacheFolders(tmp_path / "cache")
    cancel = CancelToken()

    def stop_after_one(progress: Progress) -> None:
        if progress.done:
            cancel.cancel()

    with pytest.raises(Cancelled):
        find_in_project(
            project, caches, model, device="cpu", on_progress=stop_after_one, cancel=cancel
        )
    project.images.record_scan(
        (each.image_id, _hash(project, each.path), None)
        for each in project.images.records()
        if not each.path.endswith("d.png")
    )
    rest = find_in_project(project, caches, model, device="cpu")
    assert rest.searched < 4
    assert rest.count(0.2) == (3, 2)
    assert find_in_project(project, caches, model, device="cpu").searched == 1  # the invalid file


def _hash(project: Project, path: str) -> bytes:
    return file_hash(project.path.parent / path)
