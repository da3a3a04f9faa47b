"""`protoleaf relink`, and other commands while images are missing."""

import csv
import shutil
from pathlib import Path

import pytest

from engine.project import Project
from tests.support.collections import Collection, tree_hash
from tests.support.command_line import done, refused


def predicted(path: Path) -> dict[str, str]:
    """Class by image in a file of predictions."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["image"]: row["class"] for row in csv.DictReader(file)}


@pytest.mark.slow
def test_a_share_that_vanishes_takes_nothing_with_it(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Embeddings, predictions, labels and shots of missing images stay.

    Also after the share is back.
    """
    project, out = collection.project, collection.folder / "out.csv"
    done(capsys, "classify", project, "-o", out)
    before = predicted(out)
    assert len(before) == 40
    for folder in (collection.unsorted, collection.shots):
        folder.rename(folder.with_name(f"{folder.name} away"))
    answer = done(capsys, "embed", project, "--device", "cpu", "--json").fields
    assert (answer["missing"], answer["failures"]) == (64, [])
    text = done(capsys, "embed", project, "--device", "cpu").out
    assert "64 images are missing; their embeddings are kept." in text
    done(capsys, "classify", project, "-o", out)
    assert predicted(out) == before
    for folder in (collection.unsorted, collection.shots):
        folder.with_name(f"{folder.name} away").rename(folder)
    answer = done(capsys, "embed", project, "--device", "cpu", "--json").fields
    assert (answer["embedded"], answer["from_cache"], answer["missing"]) == (0, 64, 0)


def test_a_preview_changes_nothing(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal nothing is changed.

    Counts and examples are shown.
    """
    collection.unsorted.rename(collection.folder / "elsewhere")
    before = tree_hash(collection.folder)
    for arguments in ((), ("--dry-run",), ("--dry-run", "--yes")):
        output = done(capsys, "relink", collection.project, *arguments).out
        assert output.splitlines()[:2] == ["40 of 64 images are missing.", "  40 found by path"]
        assert f"    unsorted/024.png -> {collection.folder}/elsewhere/024.png" in output
        assert "    and 35 more" in output
        assert output.endswith("Nothing was changed; --yes updates their location.\n")
    fields = done(capsys, "relink", collection.project, "--json").fields
    assert (fields["found"], fields["by_path"], fields["relinked"], fields["missing"]) == (
        40,
        40,
        0,
        0,
    )
    assert tree_hash(collection.folder) == before


@pytest.mark.slow
def test_found_images_need_not_be_read_again(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """One undoable step; labels stay, and caches have the new paths."""
    new = collection.folder.parent / "new place"
    shutil.move(collection.shots, new / "shots")
    with Project.open(collection.project) as project:
        labels = project.labels.by_image()
    output = done(capsys, "relink", collection.project, new, "--yes").out
    assert output.endswith("Found 24 moved images again; undo reverts this.\n")
    answer = done(capsys, "embed", collection.project, "--device", "cpu", "--json").fields
    assert (answer["embedded"], answer["from_cache"], answer["missing"]) == (0, 64, 0)
    assert done(capsys, "relink", collection.project).out == "All 64 images are in place.\n"
    with Project.open(collection.project) as project:
        assert project.labels.by_image() == labels
        assert str(project.history.undo_action) == "Found 24 moved images again"
        project.history.undo()
    assert done(capsys, "relink", collection.project, new, "--json").fields["found"] == 24


def test_what_is_not_found_is_reported(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Deleted files, and ambiguous copies."""
    (collection.unsorted / "024.png").unlink()
    for place in ("x", "y"):
        (collection.folder / place).mkdir()
        shutil.copy2(collection.unsorted / "025.png", collection.folder / place / "025.png")
    (collection.unsorted / "025.png").unlink()
    output = done(capsys, "relink", collection.project, "--yes").out
    assert "  1 could be several files; choose a narrower folder" in output
    assert "    unsorted/025.png: 2 files match" in output
    assert "  1 not found\n    unsorted/024.png" in output
    assert output.endswith("\nNothing was changed.\n")
    fields = done(capsys, "relink", collection.project, "--json").fields
    assert (fields["ambiguous"], fields["missing"]) == (1, 1)
    assert [Path(path).parent.name for path in fields["ambiguous_images"][0]["files"]] == ["x", "y"]


def test_a_folder_that_is_not_there(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, exit status 1."""
    collection.unsorted.rename(collection.folder / "elsewhere")
    assert "the folder is not there" in refused(
        capsys, "relink", collection.project, collection.folder / "nowhere"
    )
