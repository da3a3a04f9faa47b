"""The list of images of an open project: incremental updates equal reading it again."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.collection.image_list import EmbeddingStore, ImageList
from engine.collection.importing.import_images import import_images
from engine.embedding.embedding_rows import EmbeddingRows, EmbeddingRowsCache
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
    """Check that the list in memory equals the file."""
    anew = ImageList(project)
    anew.read()
    assert images.ids.tolist() == anew.ids.tolist()
    assert list(images.paths) == list(anew.paths)
    assert list(images.content_hashes) == list(anew.content_hashes)
    assert images.has_failed.tolist() == anew.has_failed.tolist()
    assert images.failures == anew.failures
    assert images.labels.tolist() == anew.labels.tolist()


def test_added_images_come_behind(project: Project, tmp_path: Path) -> None:
    """They are appended, labelled ones too; earlier snapshots of the paths are unchanged."""
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
    """Undo of a removal inserts an image at the position of its id."""
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
    """A changed hash, a failure, and a cleared hash; other images are unchanged."""
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


KEPT_IDS = (2, 4, 6, 8)


@pytest.fixture
def kept(tmp_path: Path) -> EmbeddingRows:
    """Mapped rows of four images, the last without embedding, and capacity for one more."""
    file = EmbeddingRowsCache(tmp_path / "rows", "any", 2)
    embeddings = np.array([[2, 2], [4, 4], [6, 6], [0, 0]], dtype=np.int16)
    is_filled = np.array([True, True, True, False])
    file.write(
        EmbeddingRows(
            np.array(KEPT_IDS), np.array([12, 14, 16, 18], dtype=np.uint64), is_filled, embeddings
        )
    )
    found = file.read()
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("ids", "contents", "expected"),
    [
        ((2, 4, 6, 8), (12, 14, 16, 18), (2, 4, 6, 0)),  # unchanged
        ((2, 4, 6, 8), (12, 99, 16, 18), (2, 0, 6, 0)),  # changed content
        ((2, 4, 6, 8, 9), (12, 14, 16, 18, 19), (2, 4, 6, 0, 0)),  # one added, within capacity
        (
            (2, 4, 6, 8, 9, 10),
            (12, 14, 16, 18, 19, 20),
            (2, 4, 6, 0, 0, 0),
        ),  # two added, beyond capacity
        ((2, 6), (12, 16), (2, 6)),  # two removed
        ((1, 2, 5, 6, 8), (11, 12, 15, 16, 18), (0, 2, 0, 6, 0)),  # older ones restored
        ((9, 10), (12, 14), (0, 0)),  # all removed
    ],
)
def test_a_store_begins_with_kept_rows(
    kept: EmbeddingRows, ids: tuple[int, ...], contents: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    """Rows with a matching hash are filled, others are zero."""
    store = EmbeddingStore(2)
    store.adopt(kept, np.array(ids), np.array(contents, dtype=np.uint64))
    assert store.image_ids.tolist() == list(ids)
    assert store.embeddings.tolist() == [[number, number] for number in expected]
    assert store.is_filled.tolist() == [number > 0 for number in expected]
    assert (store.filled_at > 0).tolist() == store.is_filled.tolist()
    assert store.contents.tolist() == [
        code if number else 0 for code, number in zip(contents, expected, strict=True)
    ]


def test_a_store_with_kept_rows_takes_more(kept: EmbeddingRows) -> None:
    """Within capacity and beyond; existing rows are unchanged."""
    store = EmbeddingStore(2)
    store.adopt(kept, np.array(KEPT_IDS), np.array([12, 14, 16, 18], dtype=np.uint64))
    store.append(np.arange(10, 20))
    half = np.float16(0.5**0.5)
    rows = store.fill(
        np.array([3, 13]),
        [b"a" * 16, b"b" * 16],
        lambda keys: (np.full((len(keys), 2), half), np.ones(len(keys), dtype=bool)),
    )
    assert rows.tolist() == [3, 13]
    assert store.embeddings[:3].tolist() == [[2, 2], [4, 4], [6, 6]]
    assert (store.embeddings[[3, 13]] == 23170).all()
    assert store.contents[13] == int.from_bytes(b"b" * 8, "little")


def test_contents_are_copied_once_and_only_where_they_are_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One copy on write for any number of blocks; earlier snapshots are unchanged."""
    monkeypatch.setattr("engine.collection.image_list.FILL_ROWS", 2)
    store, rows = EmbeddingStore(4), np.arange(6)
    store.append(np.arange(1, 7))
    seen = list[int]()

    def look_up(hashes: Sequence[bytes]) -> tuple[NDArray[np.float16], NDArray[np.bool_]]:
        seen.append(id(store.contents))
        return np.eye(len(hashes), 4, dtype=np.float16), np.ones(len(hashes), dtype=bool)

    before, hashes = store.contents, [bytes([number]) * 8 for number in range(1, 7)]
    store.fill(rows, hashes, look_up)
    after = store.contents
    assert seen == [id(before), id(after), id(after)]
    assert not before.any()
    assert after.all()
    store.fill(rows, hashes, look_up)
    assert store.contents is after
