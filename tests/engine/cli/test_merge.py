"""`protoleaf merge`: output, written files, and unchanged files."""

import csv
import json
from pathlib import Path

import pytest

from engine.project import Project
from tests.support.command_line import done, refused
from tests.support.copies import labels_of, opened, replace_photo, two_copies
from tests.support.projects import dump


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Closed copies of Ada and Ben: one label is new, one equal, one different, one finer."""
    ada, ben = two_copies(tmp_path)
    _, heron = ben.classes.add("Heron", [1])
    for image_id, ours, theirs in ((3, None, heron), (4, 2, 2), (5, 2, heron), (6, 1, 2)):
        if ours is not None:
            ada.labels.set([image_id], ours, who="ada")
        ben.labels.set([image_id], theirs, who="ben")
    ada.notes.set_comment([7], "A juvenile?", who="ada")
    ben.notes.set_comment([7], "An adult", who="ben")
    ada.close()
    ben.close()
    return ada.path, ben.path


def test_dry_run_says_all_and_changes_nothing(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Counts, kappa with interval, conflicts by person and day."""
    before = files[0].read_bytes()
    output = done(capsys, "merge", *files, "--dry-run").out
    assert output.startswith(
        "Would merge 1 label and 1 class from birds.protoleaf.\n12 images in both; 0 images only"
    )
    assert "2 the same decision, 1 equal, 2 in conflict, 1 of these coarse and fine" in output
    assert "exact class: 1 of 3 images equal; kappa " in output
    assert "(95% interval " in output
    assert "IMG_000004.jpg: Bird/Gull by ada, " in output
    assert "IMG_000006.jpg: A juvenile? (ada); An adult (ben)" in output
    assert files[0].read_bytes() == before


def test_labels_of_replaced_photos_are_listed(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """They are not merged, and each has a line."""
    with Project.open(files[1]) as ben:
        replace_photo(ben, 3)
    output = done(capsys, "merge", *files, "--dry-run").out
    assert output.startswith("Would merge 0 labels and 1 class from birds.protoleaf.")
    assert "Labels of photos that were replaced there" in output
    assert "IMG_000002.jpg: Bird/Heron by ben" in output
    (row,) = json.loads(done(capsys, "merge", *files, "--json").out)["outdated"]
    assert (Path(row["image"]).name, row["theirs"], row["who"]) == (
        "IMG_000002.jpg",
        "Bird/Heron",
        "ben",
    )


def test_conflicts_are_written_and_stay_ours(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table with both sides.

    Merging again finds the same conflicts and replaces the table.
    """
    table = tmp_path / "conflicts.csv"
    output = done(capsys, "merge", *files, "--conflicts", table).out
    assert output.startswith("Merged 1 label and 1 class from birds.protoleaf.")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = "ours", "our_annotator", "theirs", "their_annotator", "proposed"
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("Bird/Gull", "ada", "Bird/Heron", "ben", ""),
        ("Bird", "ada", "Bird/Gull", "ben", "theirs"),
        ("A juvenile?", "ada", "An adult", "ben", ""),
    ]
    again = json.loads(done(capsys, "merge", *files, "--conflicts", table, "--json").out)
    assert (again["labels"], again["classes"], len(again["open_conflicts"])) == (0, 0, 2)
    assert again["agreement"]["exact"]["images"] == 3


@pytest.mark.slow
def test_preferences_settle_all(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Their labels are taken with author, and no conflict is left."""
    assert "2 conflicts settled" in done(capsys, "merge", *files, "--prefer", "theirs").out
    assert json.loads(done(capsys, "merge", *files, "--json").out)["open_conflicts"] == []
    with opened(files[0]) as project:
        assert labels_of(project)[5] == ("Bird/Heron", "ben")
        before = dump(project)
        project.history.undo()
        assert dump(project) != before


def test_what_cannot_be_merged(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line each, and no file is overwritten."""
    assert "cannot be merged with itself" in refused(capsys, "merge", files[0], files[0])
    assert "expected ours, theirs, newer, found mine" in refused(
        capsys, "merge", *files, "--prefer", "mine", status=2
    )
    letter = tmp_path / "letter.csv"
    letter.write_text("Dear Ben,")
    assert "not an earlier output" in refused(capsys, "merge", *files, "--conflicts", letter)
    assert letter.read_text() == "Dear Ben,"
    assert "project" in refused(capsys, "merge", files[0], tmp_path / "none.protoleaf")
