"""The image list of a large collection is memory-mapped, and used only if it matches."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.collection.image_list_cache import DIGEST_SUFFIX, SUFFIX, ImageListCache, ListedImages
from engine.collection.live import LiveCollection
from engine.project import Project
from engine.project.images import ProjectImages
from engine.project.packed import PackedHashes, PackedTexts
from engine.texts import Message
from tests.support.collections import Collection, class_ids
from tests.support.live_states import assert_same

DIGEST = bytes(range(32))
NAMES = ("a.jpg", "鳥/鴎.jpg", "", "\udcff.jpg")
PARTS = ("", "", "page=2", "")
HASHES = (b"\x01" * 16, None, b"\x03" * 16, b"\x04" * 16)


def some_images() -> ListedImages:
    """Names in several scripts; one without a hash, two that failed."""
    paths, parts, hashes = PackedTexts(), PackedTexts(), PackedHashes()
    for name, part, content_hash in zip(NAMES, PARTS, HASHES, strict=True):
        paths.append(name)
        parts.append(part)
        hashes.append(content_hash)
    failures = {1: Message("no {what}", {"what": "way"}), 3: ""}
    return ListedImages(np.array([3, 5, 9, 2**40]), paths, parts, hashes, failures)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of cached lists."""
    return tmp_path / "collections"


def assert_is(found: ListedImages | None, expected: ListedImages) -> None:
    """Compare all values."""
    assert found is not None
    assert found.ids.tolist() == expected.ids.tolist()
    assert list(found.paths) == list(expected.paths)
    assert list(found.content_hashes) == list(expected.content_hashes)
    assert dict(found.failures) == dict(expected.failures)


def test_a_list_comes_back(folder: Path) -> None:
    """With translatable messages; it can be extended."""
    kept, images = ImageListCache(folder, "any"), some_images()
    assert kept.read(DIGEST) is None
    kept.write(images, DIGEST, has_changed=True)
    found = kept.read(DIGEST)
    assert_is(found, images)
    assert found is not None
    assert isinstance(found.failures[1], Message)
    assert list(found.paths.extended(["b.jpg"])) == [*NAMES, "b.jpg"]
    found.content_hashes.replace(1, b"\x02" * 16)
    found.content_hashes.append(None)
    assert list(found.content_hashes) == [HASHES[0], b"\x02" * 16, *HASHES[2:], None]
    assert found.content_hashes.padded()[1] == 16
    kept.write(
        ListedImages(found.ids, found.paths, found.parts, found.content_hashes, {}),
        DIGEST,
        has_changed=True,
    )
    again = kept.read(DIGEST)
    assert again is not None
    assert list(again.content_hashes) == list(found.content_hashes)
    assert list(again.parts) == list(PARTS)


def test_another_project_has_none(folder: Path) -> None:
    """For another or an empty digest, and another name, nothing is found."""
    kept = ImageListCache(folder, "any")
    kept.write(some_images(), DIGEST, has_changed=True)
    assert kept.read(bytes(32)) is None
    assert kept.read(None) is None
    assert ImageListCache(folder, "other").read(DIGEST) is None


def test_the_same_list_of_a_project_that_went_on(folder: Path) -> None:
    """An unchanged list gets a new digest; the old one is invalid."""
    kept = ImageListCache(folder, "any")
    kept.write(some_images(), DIGEST, has_changed=True)
    (path,) = folder.glob(f"*{SUFFIX}")
    before = path.stat().st_ino
    kept.write(some_images(), bytes(32), has_changed=False)
    assert [each.stat().st_ino for each in folder.glob(f"*{SUFFIX}")] == [before]
    assert_is(kept.read(bytes(32)), some_images())
    assert kept.read(DIGEST) is None


def test_a_digest_counts_for_its_own_list_alone(folder: Path) -> None:
    """A digest left by a killed process does not validate another list."""
    kept, images = ImageListCache(folder, "any"), some_images()
    kept.write(images, DIGEST, has_changed=True)
    (path,) = folder.glob(f"*{SUFFIX}")
    left = path.with_suffix(DIGEST_SUFFIX).read_bytes()
    kept.write(
        ListedImages(images.ids + 1, images.paths, images.parts, images.content_hashes, {}),
        bytes(32),
        has_changed=True,
    )
    (path,) = folder.glob(f"*{SUFFIX}")
    assert len(list(folder.iterdir())) == 2
    path.with_suffix(DIGEST_SUFFIX).write_bytes(left)
    assert kept.read(DIGEST) is None


@pytest.mark.parametrize("is_damaged", [False, True])
def test_another_list_in_its_place_is_not_believed(folder: Path, is_damaged: bool) -> None:
    """A list replaced by another project is not given this project's digest."""
    kept, images = ImageListCache(folder, "any"), some_images()
    kept.write(images, DIGEST, has_changed=True)
    ours = ImageListCache(folder, "any")
    assert ours.read(DIGEST) is not None
    kept.write(
        ListedImages(images.ids + 1, images.paths, images.parts, images.content_hashes, {}),
        bytes(32),
        has_changed=True,
    )
    if is_damaged:
        (path,) = folder.glob(f"*{SUFFIX}")
        path.write_bytes(path.read_bytes()[:-9])
    ours.write(images, DIGEST[::-1], has_changed=False)
    assert_is(ImageListCache(folder, "any").read(DIGEST[::-1]), images)


@pytest.mark.slow
def test_damage_is_found(folder: Path) -> None:
    """Each changed byte and each truncation is detected."""
    kept = ImageListCache(folder, "any")
    kept.write(some_images(), DIGEST, has_changed=True)
    (path,) = folder.glob(f"*{SUFFIX}")
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        found = kept.read(DIGEST)
        if found is not None:  # padding
            assert_is(found, some_images())
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert kept.read(DIGEST) is None


# -- in a collection


@pytest.fixture
def large(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> Collection:
    """The small collection counted as large, opened and closed once."""
    for name in (
        "collection.embedded_images.FEWEST_CACHED",
        "collection.embedded_images.MOST_IN_ALL_VIEWS",
        "embedding.views.MOST_IN_ALL_VIEWS",
    ):
        monkeypatch.setattr(f"engine.{name}", 10)
    with_live(collection, lambda live: live.load())
    return collection


def with_live(large: Collection, do: Callable[[LiveCollection], object]) -> None:
    """Open a collection, call a function, and close it."""
    live = LiveCollection.open(large.project, large.caches)
    do(live)
    live.close()


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Counts reads of the whole image table."""
    read, table = [], ProjectImages.table

    def watched(images: ProjectImages, image_ids: object = None) -> object:
        read.extend([True] if image_ids is None else [])
        return table(images, image_ids)  # type: ignore[arg-type]

    monkeypatch.setattr(ProjectImages, "table", watched)
    return read


def states_of(large: Collection) -> tuple[object, object]:
    """States opened with and without the cached list."""
    live = LiveCollection.open(large.project, large.caches)
    with_list = live.load()
    live.project.close()
    for path in large.caches.collections.glob(f"*{SUFFIX}"):
        path.unlink()
    live = LiveCollection.open(large.project, large.caches)
    without = live.load()
    live.project.close()
    return with_list, without


@pytest.mark.slow
def test_the_table_is_not_read_again(large: Collection, tables: list[bool]) -> None:
    """Neither at the first paint nor after loading."""
    live = LiveCollection.open(large.project, large.caches)
    live.load_list()
    live.load()
    assert tables == []
    live.close()


@pytest.mark.slow
@pytest.mark.parametrize("what", ["label", "image gone", "another content", "class"])
def test_it_follows_what_is_done(large: Collection, what: str) -> None:
    """A label leaves the cached list as it is; changes of images write another one."""

    def act(live: LiveCollection) -> None:
        state = live.load()
        project, image_id = live.project, int(state.image_ids[7])
        if what == "label":
            live.apply(project.labels.set([image_id], class_ids(project)["Red disc"]))
        elif what == "image gone":
            live.apply(project.images.remove([image_id]))
        elif what == "class":
            live.apply(project.classes.edit(lambda graph: graph.add_class("new")))
        else:
            project.images.record_scan([(image_id, b"another content!", "cut short")])
            live.take_embedded([image_id])

    with_live(large, act)
    with_list, without = states_of(large)
    assert_same(with_list, without, tolerance=0)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("is_killed", [False, True])
def test_what_another_program_did_is_seen(
    large: Collection, tables: list[bool], is_killed: bool
) -> None:
    """Changes by a program without the cache are seen, closed or killed."""
    project = Project.open(large.project, is_backed_up=False)
    project.images.remove([project.images.table([3]).ids[0]])
    if is_killed:
        shutil.copy(large.project, large.project.with_suffix(".copy"))
        project.close()
        large.project.with_suffix(".copy").replace(large.project)
    else:
        project.close()
    tables.clear()
    with_live(large, lambda live: live.load_list())
    assert tables == [True]


@pytest.mark.slow
def test_what_was_only_tried_out_is_not_kept(large: Collection) -> None:
    """The cached list still has the image that was removed in a copy of the project."""

    def act(live: LiveCollection) -> None:
        live.load()
        live.project.what_if.begin()
        live.apply(live.project.images.remove([int(live.state.image_ids[0])]))
        assert len(live.state.image_ids) == 63

    with_live(large, act)
    live = LiveCollection.open(large.project, large.caches)
    assert len(live.load_list().image_ids) == 64
    live.close()


@pytest.mark.slow
def test_an_earlier_copy_of_the_project_has_its_own_list(large: Collection, tmp_path: Path) -> None:
    """A restored older file is not shown with the newer list."""
    copy = tmp_path / "copy"
    shutil.copy(large.project, copy)
    with_live(
        large, lambda live: live.apply(live.project.images.remove([int(live.load().image_ids[0])]))
    )
    copy.replace(large.project)
    live = LiveCollection.open(large.project, large.caches)
    assert len(live.load_list().image_ids) == 64
    live.close()
