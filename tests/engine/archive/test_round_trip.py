"""A copy with photos: packed, unpacked elsewhere, labelled there, and merged back."""

import os
import shutil
import zipfile
from pathlib import Path

import pytest

from engine.archive.pack import pack_project
from engine.archive.unpack import archive_facts, free_folder, unpack_project
from engine.collection.embed import embed_project
from engine.collection.embedded_images import EmbeddedImages
from engine.collection.models import model_of
from engine.collection.replaced_images import modified_labelled_images
from engine.config import CacheFolders
from engine.errors import Cancelled, InputError, StorageError, TakenError
from engine.events import CancelToken
from engine.files import FoundFile
from engine.images.reduced_photo import REDUCED_SIDE, is_reduced
from engine.merging.image_match import MatchedBy
from engine.merging.merge import merge
from engine.project import Project
from engine.project.clock_corrections import ClockCorrection
from tests.support.archives import contents_of, draw_wide, wide_project
from tests.support.collections import Collection, cache_of_test, tree_hash
from tests.support.labelled_images import draw
from tests.support.projects import new_project


def elsewhere(tmp_path: Path) -> CacheFolders:
    """Caches of another computer."""
    return CacheFolders(tmp_path / "other cache")


def is_classified(project: Project, caches: CacheFolders) -> bool:
    """Whether every image has an embedding before files are read."""
    embedded = EmbeddedImages(project, model_of(project, caches), caches)
    embedded.read()
    rows = embedded.rows_of(embedded.images.ids)
    return bool(embedded.store.is_filled[rows].all())


@pytest.mark.slow
def test_a_copy_with_photos_opens_classified_elsewhere_and_comes_back_by_merge(
    collection: Collection, tmp_path: Path
) -> None:
    out, caches = tmp_path / "shapes.protoleafz", elsewhere(tmp_path)
    with Project.open(collection.project) as ours:
        written = pack_project(ours, collection.caches, out)
        assert (written.files, written.reduced, written.missing, written.failures) == (64, 0, 0, ())
        assert written.size_bytes == out.stat().st_size
        facts, size_bytes = archive_facts(out)
        assert (facts.name, facts.images, facts.reduced_side) == ("shapes", 64, 0)
        assert size_bytes > written.size_bytes // 2
        there = unpack_project(out, tmp_path / "ben" / ".." / "for ben", caches)
        assert there.project == tmp_path / "ben" / ".." / "for ben" / "shapes.protoleaf"
    with Project.open(tmp_path / "for ben" / "shapes.protoleaf") as theirs:
        assert (there.photos, there.missing, there.failures) == (64, 0, ())
        assert all(theirs.images.resolve(each).is_file() for each in theirs.images.records())
        assert not modified_labelled_images(theirs)
        assert is_classified(theirs, caches)
        unlabelled = [each for each in theirs.images.table().ids if theirs.labels.of(each) is None]
        theirs.labels.set(unlabelled[:5], theirs.classes.graph.find("Red disc"), who="ben")
        pack_project(theirs, caches, tmp_path / "back.protoleafz")
    with Project.open(collection.project) as ours:
        done = merge(ours, tmp_path / "back.protoleafz")
        assert (done.labelled, done.plan.images, done.plan.is_copy, done.plan.missing) == (
            5,
            64,
            True,
            (),
        )
        assert done.plan.matched[MatchedBy.CONTENT] == 64
        assert {ours.labels.by_image()[each].who for each in unlabelled[:5]} == {"ben"}


def test_the_photos_and_the_project_stay_as_they_are(
    collection: Collection, tmp_path: Path
) -> None:
    before = tree_hash(collection.folder)
    with Project.open(collection.project, for_writing=False) as ours:
        pack_project(ours, collection.caches, tmp_path / "a.protoleafz")
        pack_project(ours, collection.caches, tmp_path / "b.protoleafz", is_reduced=True)
    assert tree_hash(collection.folder) == before


@pytest.mark.slow
def test_reduced_photos_count_as_their_photos(tmp_path: Path) -> None:
    """Reduced photos count as the same images by content hash: embedded, labelled and merged."""
    out, caches = tmp_path / "trip.protoleafz", elsewhere(tmp_path)
    with wide_project(tmp_path / "ada") as ours:
        photo = tmp_path / "ada" / "site A" / "IMG_0.jpg"
        hare = ours.classes.graph.find("Hare")
        ours.labels.set([1], hare, who="ada")
        embed_project(ours, cache_of_test(), device="cpu")
        hashes = list(ours.images.table().content_hashes)
        written = pack_project(ours, cache_of_test(), out, is_reduced=True)
        assert (written.files, written.reduced) == (4, 4)
        assert archive_facts(out)[0].reduced_side == REDUCED_SIDE
        there = unpack_project(out, tmp_path / "ben", caches)
        reduced = tmp_path / "ben" / "site A" / "IMG_0.jpg"
        assert reduced.stat().st_size < photo.stat().st_size / 2
        assert is_reduced(reduced)
        assert not is_reduced(photo)
        with Project.open(there.project) as theirs:
            assert is_classified(theirs, caches)
            assert not modified_labelled_images(theirs)
            shutil.rmtree(caches.root)  # without the cache files are embedded again
            summary = embed_project(theirs, caches, device="cpu")
            assert (summary.embedded, summary.failure_count) == (4, 0)
            assert list(theirs.images.table().content_hashes) == hashes
            assert not theirs.labels.outdated()
            assert theirs.details.of(1) == ours.details.of(1)
            theirs.labels.set([2, 3], hare, who="ben")
        done = merge(ours, there.project)
        assert (done.labelled, done.plan.matched[MatchedBy.CONTENT], done.plan.missing) == (
            2,
            4,
            (),
        )


@pytest.mark.slow
def test_photos_that_were_never_read_get_their_content_and_details(tmp_path: Path) -> None:
    with wide_project(tmp_path / "ada", 0) as ours:
        path = draw_wide(tmp_path / "ada" / "a.png", 1)
        ours.images.add([FoundFile(path, path.stat().st_size, path.stat().st_mtime_ns)])
        pack_project(ours, cache_of_test(), tmp_path / "out.protoleafz", is_reduced=True)
        there = unpack_project(tmp_path / "out.protoleafz", tmp_path / "ben", elsewhere(tmp_path))
    with Project.open(there.project) as theirs:
        (image,) = theirs.images.records()
        details = theirs.details.of(image.image_id)
        assert details is not None
        assert (details.width, details.height) == (1600, 900)
        assert image.content_hash is not None
        assert theirs.images.resolve(image).read_bytes().startswith(b"\xff\xd8")
        summary = embed_project(theirs, elsewhere(tmp_path), device="cpu")
        assert (summary.embedded, summary.failure_count) == (1, 0)


def test_photos_from_elsewhere_get_a_place_in_the_copy(tmp_path: Path) -> None:
    """Photos outside the project's folder, in any script, with names that other systems forbid."""
    project = new_project(make(tmp_path / "ada"))
    stick = tmp_path / "stick" / "DCIM"
    names = [
        stick / "Fuchs ü.png",
        stick / "日本" / "キツネ.png",
        stick / "a:b?.png",
        stick / "CON.png",
        stick / "Ab.png",
        stick / "aB.png",
        tmp_path / "ada" / "in.png",
        tmp_path / "ada" / os.fsdecode(b"no \xff unicode.png"),
        tmp_path / "ada" / "a_b_.png",
        stick / "protoleaf-copy" / "x.png",
        stick / ("long" * 60 + ".png"),
    ]
    project.images.add([draw(path, 20 * number) for number, path in enumerate(names)])
    project.clocks.set(ClockCorrection(folder=stick.as_posix(), seconds=3600))
    written = pack_project(project, cache_of_test(), tmp_path / "out.protoleafz")
    assert (written.files, written.missing) == (len(names), 0)
    there = unpack_project(tmp_path / "out.protoleafz", tmp_path / "ben", elsewhere(tmp_path))
    assert there.photos == len(names)
    with Project.open(there.project) as theirs:
        paths = list(theirs.images.table().paths)
        assert paths[:4] == [
            "photos/DCIM/Fuchs ü.png",
            "photos/DCIM/日本/キツネ.png",
            "photos/DCIM/a_b_.png",
            "photos/DCIM/_CON.png",
        ]
        assert paths[6] == "in.png"
        assert len({path.casefold() for path in paths}) == len(paths)
        for ours, copy in zip(names, theirs.images.records(), strict=True):
            assert theirs.images.resolve(copy).read_bytes() == ours.read_bytes()
        assert theirs.clocks.corrections().of("photos/DCIM/日本", "").seconds == 3600  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.parametrize("is_reduced", [False, True])
def test_labels_of_photos_from_elsewhere_come_back(tmp_path: Path, is_reduced: bool) -> None:
    """Although the copy has other paths for them."""
    with wide_project(tmp_path / "ada", photos=tmp_path / "stick" / "DCIM") as ours:
        embed_project(ours, cache_of_test(), device="cpu")
        pack_project(ours, cache_of_test(), tmp_path / "out.protoleafz", is_reduced=is_reduced)
        there = unpack_project(tmp_path / "out.protoleafz", tmp_path / "ben", elsewhere(tmp_path))
        with Project.open(there.project) as theirs:
            assert list(theirs.images.table().paths) == [
                f"photos/DCIM/IMG_{number}.jpg" for number in range(4)
            ]
            assert is_classified(theirs, elsewhere(tmp_path))
            theirs.labels.set([1, 4], theirs.classes.graph.find("Hare"), who="ben")
            pack_project(theirs, elsewhere(tmp_path), tmp_path / "back.protoleafz")
        done = merge(ours, tmp_path / "back.protoleafz")
        assert (done.labelled, done.plan.images, done.plan.missing, done.plan.is_copy) == (
            2,
            4,
            (),
            True,
        )
        assert list(ours.images.table().paths) == [
            (tmp_path / "stick" / "DCIM" / f"IMG_{number}.jpg").as_posix() for number in range(4)
        ]


def make(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_missing_and_broken_photos_are_counted(tmp_path: Path) -> None:
    project = new_project(make(tmp_path / "ada"))
    files = [draw(tmp_path / "ada" / f"{number}.png", 9 * number) for number in range(3)]
    project.images.add(files)
    files[0].path.unlink()
    files[1].path.write_bytes(b"\x89PNG is damaged")
    whole = pack_project(project, cache_of_test(), tmp_path / "whole.protoleafz")
    assert (whole.files, whole.missing, whole.failures) == (2, 1, ())
    reduced = pack_project(
        project, cache_of_test(), tmp_path / "reduced.protoleafz", is_reduced=True
    )
    assert (reduced.files, reduced.missing) == (1, 1)
    assert [each.path.name for each in reduced.failures] == ["1.png"]
    there = unpack_project(tmp_path / "reduced.protoleafz", tmp_path / "ben", elsewhere(tmp_path))
    assert (there.photos, there.missing) == (1, 2)


def test_a_small_photo_is_sent_as_it_is(tmp_path: Path) -> None:
    project = new_project(make(tmp_path / "ada"))
    project.images.add([draw(tmp_path / "ada" / "tiny.png", 3)])
    written = pack_project(project, cache_of_test(), tmp_path / "out.protoleafz", is_reduced=True)
    assert (written.files, written.reduced) == (1, 0)
    assert (
        contents_of(tmp_path / "out.protoleafz")["tiny.png"]
        == (tmp_path / "ada" / "tiny.png").read_bytes()
    )


def test_the_place_of_a_copy_is_checked(collection: Collection, tmp_path: Path) -> None:
    """The project and other files are not overwritten; an earlier copy is.

    A full disk is detected before packing.
    """
    with Project.open(collection.project) as ours:
        with pytest.raises(InputError, match="overwrite"):
            pack_project(ours, collection.caches, collection.project)
        (tmp_path / "mine.zip").write_bytes(b"PK\x03\x04 mine")
        with pytest.raises(TakenError):
            pack_project(ours, collection.caches, tmp_path / "mine.zip")
        for _ in range(2):
            pack_project(ours, collection.caches, tmp_path / "again.protoleafz")
        assert zipfile.is_zipfile(tmp_path / "again.protoleafz")


@pytest.mark.parametrize("is_reduced", [False, True])
def test_a_stopped_copy_leaves_nothing(
    collection: Collection, tmp_path: Path, is_reduced: bool
) -> None:
    target, token = make(tmp_path / "target"), CancelToken()
    with Project.open(collection.project) as ours, pytest.raises(Cancelled):
        pack_project(
            ours,
            collection.caches,
            target / "a.protoleafz",
            is_reduced=is_reduced,
            on_progress=lambda progress: token.cancel() if progress.done else None,
            cancel=token,
        )
    assert list(target.iterdir()) == []


def test_a_stopped_unpacking_leaves_nothing(collection: Collection, tmp_path: Path) -> None:
    with Project.open(collection.project) as ours:
        pack_project(ours, collection.caches, tmp_path / "a.protoleafz")
    target, token = make(tmp_path / "target"), CancelToken()
    with pytest.raises(Cancelled):
        unpack_project(
            tmp_path / "a.protoleafz",
            target / "there",
            elsewhere(tmp_path),
            on_progress=lambda progress: token.cancel() if progress.done else None,
            cancel=token,
        )
    assert list(target.iterdir()) == []


def test_a_full_disk_is_noticed_before_any_work(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Project.open(collection.project) as ours:
        pack_project(ours, collection.caches, tmp_path / "a.protoleafz")
        usage = shutil.disk_usage(tmp_path)
        monkeypatch.setattr("shutil.disk_usage", lambda _place: usage._replace(free=1_000))
        with pytest.raises(StorageError, match=r"the disk is full: expected .* free"):
            pack_project(ours, collection.caches, tmp_path / "b.protoleafz")
    with pytest.raises(StorageError, match=r"the disk is full: expected .* free"):
        unpack_project(tmp_path / "a.protoleafz", tmp_path / "there", elsewhere(tmp_path))
    assert not (tmp_path / "there").exists()
    assert not (tmp_path / "b.protoleafz").exists()


def test_a_copy_is_unpacked_into_a_new_folder_alone(collection: Collection, tmp_path: Path) -> None:
    with Project.open(collection.project) as ours:
        pack_project(ours, collection.caches, tmp_path / "a.protoleafz")
    assert free_folder(tmp_path / "a.protoleafz") == tmp_path / "a"
    (make(tmp_path / "a") / "mine.txt").write_text("mine")
    assert free_folder(tmp_path / "a.protoleafz") == tmp_path / "a (2)"
    with pytest.raises(InputError, match="already"):
        unpack_project(tmp_path / "a.protoleafz", tmp_path / "a", elsewhere(tmp_path))
