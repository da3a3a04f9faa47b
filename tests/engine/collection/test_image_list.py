"""The list of an open project's images: only what changed is read again, and nothing differs from reading all."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.collection.image_list import ImageList
from engine.collection.importing.import_images import import_images
from engine.embedding.messages import EmbedResult
from engine.project import Project
from tests.support.collections import Collection, class_ids
from tests.support.images import write_jpeg


@pytest.fixture
def project(collection: Collection) -> Iterator[Project]:
    """The small collection, open for writing."""
    with Project.open(collection.project) as opened:
        yield opened


def assert_as_read_anew(images: ImageList, project: Project) -> None:
    """What is in memory is what stands in the file."""
    anew = ImageList(project)
    anew.read()
    assert images.ids.tolist() == anew.ids.tolist()
    assert list(images.paths) == list(anew.paths)
    assert list(images.content_hashes) == list(anew.content_hashes)
    assert images.has_failed.tolist() == anew.has_failed.tolist()
    assert images.failures == anew.failures
    assert images.labels.tolist() == anew.labels.tolist()


def test_added_images_come_behind(project: Project, tmp_path: Path) -> None:
    """Also those that have a label at once; whoever holds the older paths keeps them as they were."""
    images = ImageList(project)
    images.read()
    paths, count = images.paths, len(images.ids)
    files = [write_jpeg(tmp_path / f"{number}.jpg", seed=number) for number in range(3)]
    added = import_images(project, files, class_id=class_ids(project)["Red"]).change
    images.read_added(added.images_added)
    assert len(images.ids) == count + 3
    assert len(paths) == count
    assert_as_read_anew(images, project)


def test_an_older_image_that_comes_back_is_put_in_its_place(project: Project) -> None:
    """Undo of a removal adds an image whose id is not the highest."""
    images = ImageList(project)
    first = project.images.table().ids[0]
    project.images.remove([first])
    images.read()
    change = project.history.undo()
    assert change is not None
    images.read_added(change.images_added)
    assert images.ids[0] == first
    assert_as_read_anew(images, project)


def test_facts_of_some_files(project: Project) -> None:
    """Another content, a failure, and nothing known any more, each beside images that stay as they are."""
    images = ImageList(project)
    images.read()
    first, second, third = images.ids[:3].tolist()
    found = [(first, b"\x01" * 32, None), (second, None, "cut short"), (third, b"\x02" * 32, None)]
    project.images.record_scan([EmbedResult(*each) for each in found])
    images.read_facts(np.array([first, second]))
    assert images.content_hashes[0] == b"\x01" * 32
    assert images.content_hashes[2] != b"\x02" * 32
    images.read_facts(np.array([third]))
    assert_as_read_anew(images, project)
