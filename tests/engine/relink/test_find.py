"""Moved images are found by folder, name and size, and content, without guessing."""

import hashlib
import shutil
import unicodedata
from pathlib import Path

import pytest

from engine.errors import Cancelled, StorageError
from engine.events import CancelToken, Progress
from engine.files import FoundFile
from engine.images.reduced_photo import photo_hashes
from engine.relink.find import find_moved, known_images
from tests.support.moved_images import doubts_of, numbered, places_of, shelf, write_files
from tests.support.projects import connection_of, dump


def read_files(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Files read from now on."""
    read: list[Path] = []

    def noted(path: Path) -> frozenset[bytes]:
        read.append(path)
        return photo_hashes(path)

    monkeypatch.setattr("engine.relink.seen_files.photo_hashes", noted)
    return read


def test_nothing_is_looked_for_while_all_is_there(tmp_path: Path) -> None:
    """Without missing images no folder is searched."""
    with shelf(tmp_path, numbered("photos", 3)).project as project:
        plan = find_moved(known_images(project), tmp_path / "nowhere")
    assert (plan.images, plan.searched, plan.places) == (3, 0, ())


def test_a_renamed_folder_is_found_by_its_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With sub-folders, next to the project, without a hint.

    Only a sample is read.
    """
    contents = numbered("photos/2019", 120) | {
        f"photos/2020/May/{number}.jpg": bytes(1000 + number) for number in range(60)
    }
    moved = shelf(tmp_path, contents)
    (tmp_path / "photos").rename(tmp_path / "bilder")
    read = read_files(monkeypatch)
    with moved.project:
        plan = moved.find()
    wanted = {name: (name.replace("photos", "bilder"), "path") for name in contents}
    assert places_of(plan, tmp_path) == wanted
    year, month = plan.folders
    assert (year.images, month.images) == (120, 60)
    assert 24 <= year.verified <= 26, "a fifth, and what was read to believe the folder"
    assert 20 <= month.verified <= 22
    assert len(read) == year.verified + month.verified
    assert (len(plan.missing), plan.doubts, plan.changed) == (0, (), 0)


def test_the_longest_common_end_of_the_path_decides(tmp_path: Path) -> None:
    """Equal names and sizes in 40 folders: each image matches its folder, whatever the parents."""
    contents = {
        name: data
        for camera in range(40)
        for name, data in numbered(f"in/c{camera}/DCIM", 3).items()
    }
    contents = {name: data[:80] for name, data in contents.items()}
    moved = shelf(tmp_path, contents)
    (tmp_path / "archive" / "old").mkdir(parents=True)
    (tmp_path / "in").rename(tmp_path / "archive" / "old" / "cameras")
    with moved.project:
        plan = moved.find()
    assert places_of(plan, tmp_path) == {
        name: (name.replace("in/", "archive/old/cameras/"), "path") for name in contents
    }


def test_what_changed_in_a_moved_folder_is_found_by_its_path(tmp_path: Path) -> None:
    """A file of another size in a matched folder is found and reported as changed."""
    moved = shelf(tmp_path, numbered("photos", 6))
    (tmp_path / "photos").rename(tmp_path / "new")
    (tmp_path / "new" / "IMG_0002.jpg").write_bytes(b"edited")
    with moved.project:
        plan = moved.find()
    assert (len(plan.moves), plan.changed) == (6, 1)


def test_other_content_under_an_old_path_is_not_taken(tmp_path: Path) -> None:
    """Equal paths and sizes with other contents do not match."""
    moved = shelf(tmp_path, numbered("photos", 6, size_bytes=60))
    shutil.rmtree(tmp_path / "photos")
    write_files(
        tmp_path,
        {name.replace("photos", "new/photos"): b"x" * 60 for name in numbered("photos", 6)},
    )
    with moved.project:
        plan = moved.find()
    assert (len(plan.moves), len(plan.missing)) == (0, 6)


def test_swapped_folders_are_distinguished_by_content(tmp_path: Path) -> None:
    """Two folders with equal names and sizes that exchanged names match by content."""
    contents = numbered("one", 5, size_bytes=50) | numbered("two", 5, size_bytes=50)
    moved = shelf(tmp_path, contents)
    (tmp_path / "new").mkdir()
    (tmp_path / "one").rename(tmp_path / "new" / "two")
    (tmp_path / "two").rename(tmp_path / "new" / "one")
    with moved.project:
        plan = moved.find()
    other = {"one": "new/two", "two": "new/one"}
    assert {old: new for old, (new, _) in places_of(plan, tmp_path).items()} == {
        name: name.replace(name[:3], other[name[:3]], 1) for name in contents
    }


def test_another_folder_of_the_same_names_and_sizes_is_not_taken(tmp_path: Path) -> None:
    """A camera that restarts counting: if a sampled file differs, the whole folder is read."""
    contents = {
        f"photos/IMG_{number:04}.jpg": b"%5d" % number + bytes(number) for number in range(200)
    }
    moved = shelf(tmp_path, contents)
    (tmp_path / "photos").rename(tmp_path / "moved")
    another = {
        name.replace("photos", "moved"): data[::-1]
        for name, data in list(contents.items())[105:150]
    }
    write_files(tmp_path, another)
    with moved.project:
        plan = moved.find()
    places = {move.image.path.replace("photos", "moved") for move in plan.mismatched}
    assert places == another.keys()
    assert len(plan.moves) == 155
    assert all(move.is_verified for move in plan.moves)
    assert (plan.searched, len(plan.missing)) == (200, 0)


def test_files_of_one_size_are_all_read(tmp_path: Path) -> None:
    """Uncompressed pictures have equal sizes: a sample could miss exchanged files."""
    moved = shelf(tmp_path, numbered("photos", 100, size_bytes=500))
    (tmp_path / "photos").rename(tmp_path / "moved")
    first, second = (tmp_path / "moved" / f"IMG_00{number}.jpg" for number in (41, 43))
    left, right = first.read_bytes(), second.read_bytes()
    first.write_bytes(right)
    second.write_bytes(left)
    with moved.project:
        plan = moved.find()
    found = {old: new for old, (new, _) in places_of(plan, tmp_path).items()}
    assert found["photos/IMG_0041.jpg"] == "moved/IMG_0043.jpg"
    assert found["photos/IMG_0043.jpg"] == "moved/IMG_0041.jpg"
    assert len(found) == 100


def test_images_that_were_never_read_are_found_by_name_and_size_only(tmp_path: Path) -> None:
    """Without a hash only name and size match, which the plan says."""
    moved = shelf(tmp_path, numbered("photos", 30), is_read=False)
    (tmp_path / "photos").rename(tmp_path / "moved")
    with moved.project:
        (folder,) = moved.find().folders
    assert (folder.images, folder.verified) == (30, 0)


def test_scattered_images_are_found_by_name_and_size(tmp_path: Path) -> None:
    """Also without hashes, each in a folder of its own."""
    moved = shelf(
        tmp_path,
        {f"photos/{word}.jpg": word.encode() for word in ("gull", "kestrel", "dove")},
        is_read=False,
    )
    shutil.rmtree(tmp_path / "photos")
    write_files(
        tmp_path, {"a/gull.jpg": b"gull", "b/c/kestrel.jpg": b"kestrel", "d/dove.jpg": b"dove"}
    )
    with moved.project:
        plan = moved.find()
    assert {old: new for old, (new, _) in places_of(plan, tmp_path).items()} == {
        "photos/gull.jpg": "a/gull.jpg",
        "photos/kestrel.jpg": "b/c/kestrel.jpg",
        "photos/dove.jpg": "d/dove.jpg",
    }


def test_content_decides_between_equal_names_and_sizes(tmp_path: Path) -> None:
    """Of two candidates with equal name and size the hash decides."""
    moved = shelf(tmp_path, {"photos/a.jpg": b"first."})
    shutil.rmtree(tmp_path / "photos")
    write_files(tmp_path, {"x/a.jpg": b"other.", "y/a.jpg": b"first."})
    with moved.project:
        assert places_of(moved.find(), tmp_path) == {"photos/a.jpg": ("y/a.jpg", "content")}


def test_two_images_and_one_file_are_not_guessed(tmp_path: Path) -> None:
    """If one file fits two missing images, the hash decides and the other stays missing."""
    moved = shelf(tmp_path, {"one/a.jpg": b"first.", "two/a.jpg": b"second"})
    shutil.rmtree(tmp_path / "one")
    shutil.rmtree(tmp_path / "two")
    write_files(tmp_path, {"new/a.jpg": b"second"})
    with moved.project:
        plan = moved.find()
    assert [(move.image.path, move.file.path.parent.name) for move in plan.moves] == [
        ("two/a.jpg", "new")
    ]
    assert [image.path for image in plan.missing] == ["one/a.jpg"]


def test_a_renamed_file_is_found_by_content(tmp_path: Path) -> None:
    """By its hash in another folder, also hashes of earlier versions."""
    moved = shelf(tmp_path, {"photos/a.jpg": b"gull", "photos/b.jpg": b"kestrel"})
    earlier = hashlib.blake2b(b"kestrel", digest_size=16).digest()
    moved.project.images.record_scan([(moved.ids["photos/b.jpg"], earlier, None)])
    shutil.rmtree(tmp_path / "photos")
    write_files(
        tmp_path,
        {"new/Gull 1.jpeg": b"gull", "new/Kestrel 1.jpg": b"kestrel", "new/other.jpg": b"dove"},
    )
    with moved.project:
        plan = moved.find()
    assert places_of(plan, tmp_path) == {
        "photos/a.jpg": ("new/Gull 1.jpeg", "content"),
        "photos/b.jpg": ("new/Kestrel 1.jpg", "content"),
    }


def test_equal_files_are_reported_and_not_guessed(tmp_path: Path) -> None:
    """Two copies with equal name, size and content, at equal distance."""
    moved = shelf(tmp_path, {"photos/a.jpg": b"gull"})
    shutil.rmtree(tmp_path / "photos")
    write_files(tmp_path, {"x/a.jpg": b"gull", "y/a.jpg": b"gull"})
    with moved.project:
        plan = moved.find()
    assert (len(plan.moves), len(plan.missing)) == (0, 0)
    assert doubts_of(plan) == {
        "photos/a.jpg": [f"{tmp_path.as_posix()}/x/a.jpg", f"{tmp_path.as_posix()}/y/a.jpg"]
    }


def test_without_a_known_content_several_candidates_are_a_doubt(tmp_path: Path) -> None:
    """Ambiguous candidates are not chosen."""
    moved = shelf(tmp_path, {"photos/a.jpg": b"gull"}, is_read=False)
    shutil.rmtree(tmp_path / "photos")
    write_files(tmp_path, {"x/a.jpg": b"gull", "y/a.jpg": b"dove"})
    with moved.project:
        assert [doubt.count for doubt in moved.find().doubts] == [2]


@pytest.mark.parametrize(
    "old", ["D:/photos/2019", "//nas/share/photos/2019", "/mnt/stick/photos/2019"]
)
def test_absolute_paths_of_another_system(tmp_path: Path, old: str) -> None:
    """A project from Windows, opened elsewhere with its images."""
    contents = numbered("photos/2019", 5)
    moved = shelf(tmp_path, contents)
    for name, image_id in moved.ids.items():
        connection_of(moved.project).write(
            "UPDATE image SET path = ? WHERE image_id = ?",
            (f"{old}/{name.rpartition('/')[2]}", image_id),
        )
    with moved.project:
        plan = moved.find()
    assert sorted(new for new, _ in places_of(plan, tmp_path).values()) == sorted(contents)
    assert {way for _, way in places_of(plan, tmp_path).values()} == {"path"}


def test_names_are_compared_whatever_system_spells_them(tmp_path: Path) -> None:
    """In any Unicode normalisation and case."""
    contents = {
        unicodedata.normalize("NFC", f"Möwen/Größe {number}é.JPG"): bytes([number]) * 9
        for number in range(3)
    }
    moved = shelf(tmp_path, contents, is_read=False)
    shutil.rmtree(tmp_path / "Möwen")
    apart = {
        f"neu/{unicodedata.normalize('NFD', name).lower()}": data for name, data in contents.items()
    }
    write_files(tmp_path, apart)
    with moved.project:
        plan = moved.find()
    assert {new for new, _ in places_of(plan, tmp_path).values()} == set(apart)
    assert len(plan.moves) == 3


def test_names_that_only_case_tells_apart(tmp_path: Path) -> None:
    """On a case-sensitive disk exact names match."""
    contents = {"photos/a.jpg": b"small", "photos/A.jpg": b"LARGE", "photos/b.jpg": b"another"}
    moved = shelf(tmp_path, contents)
    if len(list((tmp_path / "photos").iterdir())) < 3:
        pytest.skip("this disk does not tell upper from lower case")
    (tmp_path / "photos").rename(tmp_path / "new")
    with moved.project:
        plan = moved.find()
    assert {old: new for old, (new, _) in places_of(plan, tmp_path).items()} == {
        name: name.replace("photos", "new") for name in contents
    }


def test_links_are_no_second_candidates(tmp_path: Path) -> None:
    """A link to a parent or to the images is no copy.

    One to elsewhere is followed.
    """
    moved = shelf(tmp_path / "here", numbered("photos", 4))
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "here" / "photos").rename(elsewhere)
    new = tmp_path / "here" / "new"
    new.mkdir()
    (new / "loop").symlink_to(new, target_is_directory=True)
    (new / "first").symlink_to(elsewhere, target_is_directory=True)
    (new / "second").symlink_to(elsewhere, target_is_directory=True)
    (new / "nowhere.jpg").symlink_to(tmp_path / "nothing")
    with moved.project:
        plan = moved.find(new)
    assert len(plan.moves) == 4
    assert plan.doubts == ()


def test_moved_together_with_the_project(tmp_path: Path) -> None:
    """Images next to the project have absolute paths: both were moved."""
    contents = numbered("pictures/2019", 4)
    write_files(tmp_path / "old", contents)
    (tmp_path / "old" / "work").mkdir()
    moved = shelf(tmp_path / "old" / "work", {})
    files = [tmp_path / "old" / name for name in contents]
    moved.project.images.add(
        [FoundFile(path, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    )
    with moved.project as project:
        known = known_images(project)
    (tmp_path / "old").rename(tmp_path / "new")
    plan = find_moved(
        type(known)(tmp_path / "new" / "work" / known.project.name, known.table, known.labelled)
    )
    assert [move.file.path for move in plan.moves] == [tmp_path / "new" / name for name in contents]
    assert {move.is_same_content for move in plan.moves} == {True}


def test_a_stick_with_another_name(tmp_path: Path) -> None:
    """If one component of a path is missing, its siblings are tried.

    Another stick with other images does not match.
    """
    home = tmp_path / "home"
    moved = shelf(home, {})
    contents = numbered("media/STICK/photos/2019", 4)
    write_files(tmp_path, contents | {"media/OTHER/photos/1999/x.jpg": b"x"})
    files = [tmp_path / name for name in contents]
    moved.project.images.add([FoundFile(path, path.stat().st_size, 0) for path in files])
    (tmp_path / "media" / "STICK").rename(tmp_path / "media" / "STICK1")
    with moved.project:
        plan = moved.find()
    assert [move.file.path for move in plan.moves] == [
        Path(str(path).replace("STICK", "STICK1")) for path in files
    ]
    assert tmp_path / "media" / "OTHER" not in plan.places


def test_images_that_were_added_anew_leave_for_the_old_ones(tmp_path: Path) -> None:
    """New images of the moved folder are removed if unlabelled; a labelled one stays."""
    contents = numbered("photos", 3)
    moved = shelf(tmp_path, contents)
    _, gull = moved.project.classes.add("Gull")
    (tmp_path / "photos").rename(tmp_path / "new")
    files = [tmp_path / name.replace("photos", "new") for name in contents]
    added = moved.project.images.add(
        [FoundFile(path, path.stat().st_size, 0) for path in files]
    ).images_added
    moved.project.labels.set([added[1]], gull)
    with moved.project:
        plan = moved.find()
        assert (len(plan.moves), plan.strangers) == (2, (added[0], added[2]))
        assert [move.image.path for move in plan.taken] == ["photos/IMG_0001.jpg"]
        change = moved.project.images.relink(
            [(move.image.image_id, move.file) for move in plan.moves], strangers=plan.strangers
        )
        assert (change.images_moved, change.images_removed) == ((1, 3), (added[0], added[2]))
        assert moved.project.images.count == 4


def test_a_stranger_whose_label_was_confirmed_once_leaves_too(tmp_path: Path) -> None:
    """A remaining confirmation of a removed label is no obstacle; undo restores both images."""
    contents = numbered("photos", 1)
    moved = shelf(tmp_path, contents)
    _, gull = moved.project.classes.add("Gull")
    (tmp_path / "photos").rename(tmp_path / "new")
    (added,) = moved.project.images.add(
        [FoundFile(tmp_path / "new" / "IMG_0000.jpg", 5, 0)]
    ).images_added
    moved.project.labels.set([added], gull)
    moved.project.labels.confirm([added])
    moved.project.labels.remove([added])
    with moved.project:
        before = dump(moved.project)
        change = moved.project.images.relink(
            [
                (
                    moved.project.images.table().ids[0],
                    FoundFile(tmp_path / "new" / "IMG_0000.jpg", 5, 0),
                )
            ],
            strangers=[added],
        )
        assert change.images_removed == (added,)
        assert moved.project.check() == []
        moved.project.history.undo()
        assert dump(moved.project) == before


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    """One line, and nothing else is searched."""
    moved = shelf(tmp_path, numbered("photos", 2))
    shutil.rmtree(tmp_path / "photos")
    with (
        moved.project,
        pytest.raises(StorageError, match=r"the folder is not there: found .*nowhere"),
    ):
        moved.find(tmp_path / "nowhere")


def test_it_can_be_stopped_and_says_how_far_it_is(tmp_path: Path) -> None:
    """Progress counts images, then files; cancelling works in the middle."""
    moved = shelf(tmp_path, numbered("photos", 30))
    (tmp_path / "photos").rename(tmp_path / "new")
    reported: list[Progress] = []
    cancel = CancelToken()

    def on_progress(progress: Progress) -> None:
        reported.append(progress)
        if progress.unit == "files":
            cancel.cancel()

    with moved.project, pytest.raises(Cancelled):
        find_moved(known_images(moved.project), on_progress=on_progress, cancel=cancel)
    assert [reported[0].unit, reported[-1].unit] == ["images", "files"]
    assert reported[0].total == 30


def test_each_file_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """300 images of 10 names and one size in 30 folders: each file is read once, in linear time."""
    contents = {
        name: data
        for folder in range(30)
        for name, data in numbered(f"f{folder}", 10, size_bytes=40).items()
    }
    moved = shelf(tmp_path, contents)
    for folder in range(30):
        (tmp_path / f"f{folder}").rename(tmp_path / f"renamed {29 - folder}")
    read = read_files(monkeypatch)
    with moved.project:
        plan = moved.find()
    assert len(plan.moves) == 300
    assert all(move.is_same_content for move in plan.moves)
    assert len(read) == len(set(read)) <= 300
