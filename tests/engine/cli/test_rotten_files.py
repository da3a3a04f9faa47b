"""Damaged files among valid ones, and names in any script."""

import csv
import os
import sys
from pathlib import Path

import pytest

from engine.project import Project
from tests.support.collections import FAMILIES, Collection, tree_hash, write_graph, write_shape
from tests.support.command_line import done
from tests.support.images import encoded, picture, png_declaring

NAMES = [
    "海鸥",
    "نورس",
    "🦅🌿",
    "Möwe mit Leerzeichen, Komma und 'Strich'",
    "%41 $HOME #1 [red] {b}",
    "x" * 251,
    "雀" * 83,
]


@pytest.mark.slow
def test_rotten_files_are_listed_and_the_rest_is_embedded(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A text, a truncated JPEG, a bomb and an empty file are listed with reasons.

    All valid files get predictions.
    """
    folder = collection.folder / "found"
    good = [
        write_shape(folder / f"good {seed}.jpg", "Blue disc", seed=50 + seed) for seed in range(3)
    ]
    rotten = {
        "letter.jpg": b"Dear diary, today I saw a gull.\n",
        "torn.jpg": encoded(picture(200, 200), "JPEG")[:900],
        "bomb.png": png_declaring(50_000, 50_000),
        "empty.png": b"",
    }
    for name, data in rotten.items():
        (folder / name).write_bytes(data)
    before = tree_hash(folder)

    assert done(capsys, "import-images", collection.project, folder, "--json").fields["added"] == 7
    answer = done(capsys, "embed", collection.project, "--device", "cpu", "--json").fields
    assert (answer["embedded"], answer["from_cache"]) == (3, 64)
    reasons = {Path(failure["path"]).name: failure["reason"] for failure in answer["failures"]}
    assert set(reasons) == set(rotten)
    assert all("\n" not in reason and reason for reason in reasons.values())
    text = done(capsys, "embed", collection.project, "--device", "cpu").out
    assert "4 files could not be read" in text
    assert all(name in text for name in rotten)

    out = tmp_path / "out.csv"
    written = done(capsys, "classify", collection.project, "-o", out, "--json").fields
    assert (written["predictions"], written["waiting"]) == (43, 4)
    with out.open(encoding="utf-8", newline="") as file:
        images = {row["image"] for row in csv.DictReader(file)}
    assert {f"found/{path.name}" for path in good} <= images
    assert tree_hash(folder) == before
    assert done(capsys, "check", collection.project, "--json").fields["sound"]


@pytest.mark.slow
def test_many_failures_are_counted_not_all_printed(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text lists twenty failures and counts the rest; JSON has all."""
    folder = collection.folder / "found"
    folder.mkdir()
    for number in range(23):
        (folder / f"{number}.jpg").write_text("no image", encoding="utf-8")
    done(capsys, "import-images", collection.project, folder)
    lines = done(capsys, "embed", collection.project, "--device", "cpu").out.splitlines()
    assert lines[-1] == "  and 3 more"
    assert (
        len(
            done(capsys, "embed", collection.project, "--device", "cpu", "--json").fields[
                "failures"
            ]
        )
        == 23
    )


@pytest.mark.slow
def test_a_file_that_vanishes_is_a_failure_not_an_end(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """An image missing before it was read is listed.

    One that was read keeps its embedding.
    """
    write_shape(collection.folder / "new.png", "Red disc", seed=99)
    done(capsys, "import-images", collection.project, collection.folder / "new.png")
    (collection.folder / "new.png").unlink()
    (collection.unsorted / "024.png").unlink()
    answer = done(capsys, "embed", collection.project, "--device", "cpu", "--json").fields
    assert [Path(failure["path"]).name for failure in answer["failures"]] == ["new.png"]
    assert (answer["from_cache"], answer["missing"]) == (63, 1)


@pytest.mark.slow
def test_names_in_any_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Classes, folders, images and the project.

    The CSV has all names.
    """
    project, out = tmp_path / "鳥 🦜.protoleaf", tmp_path / "نتائج.csv"
    kinds = dict(
        zip(NAMES, (leaf for leaves in FAMILIES.values() for leaf in leaves), strict=False)
    )
    for name, leaf in kinds.items():
        for seed in range(2):
            write_shape(tmp_path / "shots" / name / f"{seed}.png", leaf, seed=seed)
        write_shape(tmp_path / "new" / f"{name}.png", leaf, seed=9)
    done(capsys, "new", project)
    done(capsys, "import-images", project, tmp_path / "shots", "--folders-as-classes")
    done(capsys, "import-images", project, tmp_path / "new")
    done(capsys, "embed", project, "--device", "cpu")
    assert done(capsys, "classify", project, "-o", out, "--json").fields["file"] == str(out)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["image"] for row in rows} == {f"new/{name}.png" for name in NAMES}
    assert {row["class"] for row in rows} <= set(NAMES)
    truth = tmp_path / "truth.csv"
    with truth.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([("class", "image"), *((name, f"{name}.png") for name in NAMES)])
    assert done(capsys, "evaluate", project, "--truth", truth, "--json").fields["images"] == len(
        NAMES
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_no_unicode(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An undecodable file name passes every step, and its bytes are unchanged in the CSV."""
    folder, out = collection.folder / "old", tmp_path / "out.csv"
    folder.mkdir()
    good, rotten = os.fsencode(folder) + b"/m\xf6we.png", os.fsencode(folder) + b"/m\xf6we.jpg"
    Path(os.fsdecode(good)).write_bytes(encoded(picture(), "PNG"))
    Path(os.fsdecode(rotten)).write_bytes(b"no image")
    done(capsys, "import-images", collection.project, folder)
    failures = done(capsys, "embed", collection.project, "--device", "cpu", "--json").fields[
        "failures"
    ]
    assert len(failures) == 1
    assert "could not be read" in done(capsys, "embed", collection.project, "--device", "cpu").out
    done(capsys, "classify", collection.project, "-o", out)
    assert b"old/m\xf6we.png," in out.read_bytes()


def test_class_folders_with_composed_and_decomposed_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Class names match in any Unicode normalisation form."""
    composed, decomposed = "M\u00f6we", "Mo\u0308we"
    project = tmp_path / "a.protoleaf"
    done(capsys, "new", project)
    for folder, name in (("a", composed), ("b", decomposed), ("c", f"{decomposed} ")):
        write_shape(tmp_path / folder / name / "1.png", "Red disc", seed=1)
        done(capsys, "import-images", project, tmp_path / folder, "--folders-as-classes")
    with Project.open(project, for_writing=False) as opened:
        assert [
            opened.classes.graph.name(class_id) for class_id in opened.classes.graph.classes()
        ] == [composed]
        assert list(opened.labels.counts().values()) == [3]


def test_hidden_and_other_files_are_passed_over(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only image files are added.

    Notes, thumbnail databases and hidden files are no failures.
    """
    folder = collection.folder / "mixed"
    write_shape(folder / "1.png", "Red disc", seed=77)
    write_shape(folder / ".trash" / "2.png", "Red disc", seed=78)
    write_graph(folder / "notes.csv", FAMILIES)
    (folder / "Thumbs.db").write_bytes(b"\x00")
    assert done(capsys, "import-images", collection.project, folder, "--json").fields == {
        "added": 1,
        "already_there": 0,
        "labelled": 0,
        "classes_added": 0,
        "failures": [],
        "left_out": {},
        "other_files": 1,
        "raw_doubles": 0,
    }


def test_files_of_other_kinds_are_named(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unsupported pictures and videos are counted by kind, others in total, as text and JSON."""
    folder = collection.folder / "telephone"
    write_shape(folder / "1.png", "Red disc", seed=77)
    for name in ("2.psd", "3.PSD", "4.wmv", "4.aae", "notes.txt"):
        (folder / name).write_bytes(b"x")
    out = done(capsys, "import-images", collection.project, folder).out
    assert "Added 1 image " in out
    assert (
        "2 PSD, 1 WMV were left out: these kinds of files are not read. Save pictures as JPEG"
        in out
    )
    assert "2 other files skipped" in out
    fields = done(
        capsys, "import-images", collection.project, folder, "--folders-as-classes", "--json"
    ).fields
    assert (fields["left_out"], fields["other_files"], fields["failures"]) == (
        {"PSD": 2, "WMV": 1},
        2,
        [],
    )
    (folder / "2.psd").unlink()
    (folder / "3.PSD").unlink()
    out = done(capsys, "import-images", collection.project, folder).out
    assert "1 WMV was left out: this kind of file is not read." in out
    assert "JPEG" not in out


def test_a_named_raw_photo_of_another_kind_is_a_failure(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says what to do."""
    photo = collection.folder / "IMG_1.X3F"
    photo.write_bytes(b"FOVb" + bytes(40))
    out = done(capsys, "import-images", collection.project, photo).out
    assert "1 file could not be added:" in out
    assert "a RAW photo (X3F). Develop it" in out
    assert "video" not in out


def test_raw_photos_beside_their_jpegs(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Added once, by the JPEG."""
    folder = collection.folder / "camera"
    write_shape(folder / "1.jpg", "Red disc", seed=77)
    (folder / "1.NEF").write_bytes(b"x")
    out = done(capsys, "import-images", collection.project, folder).out
    assert "Added 1 image " in out
    assert "1 RAW photo skipped: the camera stored a JPEG or HEIC, too." in out


def test_an_unnameable_folder_stops_nothing(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is listed, and other classes are imported."""
    folder = collection.folder / "more"
    write_shape(folder / "Purple disc" / "1.png", "Red disc", seed=77)
    write_shape(folder / "Purple\nsquare" / "2.png", "Red disc", seed=78)
    fields = done(
        capsys, "import-images", collection.project, folder, "--folders-as-classes", "--json"
    ).fields
    assert (fields["added"], fields["classes_added"]) == (1, 1)
    assert [failure["path"] for failure in fields["failures"]] == [str(folder / "Purple\nsquare")]
