"""`protoleaf export PROJECT copy`, `unpack`, and `merge` of the returned copy."""

import json
from pathlib import Path

import pytest

from engine.collection.embed import embed_project
from engine.project import Project
from tests.support.archives import wide_project
from tests.support.collections import cache_of_test
from tests.support.command_line import done, refused


@pytest.fixture
def trip(tmp_path: Path) -> Path:
    """A project of four wide photos."""
    with wide_project(tmp_path / "ada") as project:
        embed_project(project, cache_of_test(), device="cpu")
        return project.path


@pytest.mark.slow
def test_a_copy_goes_out_and_comes_back(
    trip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, back = tmp_path / "trip.protoleafz", tmp_path / "back.protoleafz"
    text = done(capsys, "export", trip, "copy", out, "--previews").out
    assert text.startswith(f"Wrote the project and 4 photos, 4 of them as previews to {out} (")
    found = json.loads(done(capsys, "unpack", out, tmp_path / "ben", "--json").out)
    assert (found["project"], found["photos"], found["missing"]) == (
        str(tmp_path / "ben" / "trip.protoleaf"),
        4,
        0,
    )
    with Project.open(Path(found["project"])) as theirs:
        theirs.labels.set([1, 2], theirs.classes.graph.find("Hare"), who="ben")
    done(capsys, "export", found["project"], "copy", back)
    before = trip.read_bytes()
    assert done(capsys, "merge", trip, back, "--dry-run").out.startswith(
        "Would merge 2 labels and 0 classes from back"
    )
    assert trip.read_bytes() == before
    record = json.loads(done(capsys, "merge", trip, back, "--json").out)
    assert (record["labels"], record["matched_by"]["content"], record["missing_images"]) == (
        2,
        4,
        [],
    )


@pytest.mark.slow
def test_a_copy_is_unpacked_beside_itself(
    trip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done(capsys, "export", trip, "copy", tmp_path / "my trip.protoleafz")
    assert (
        f"Unpacked {tmp_path / 'my trip' / 'trip.protoleaf'} with 4 photos."
        in done(capsys, "unpack", tmp_path / "my trip.protoleafz").out
    )
    assert "this name is already taken" in refused(
        capsys, "unpack", tmp_path / "my trip.protoleafz", tmp_path / "my trip"
    )


@pytest.mark.slow
def test_missing_photos_are_counted_and_errors_shown(
    trip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (trip.parent / "site A" / "IMG_1.jpg").unlink()
    assert (
        "1 photo not found and left out."
        in done(capsys, "export", trip, "copy", tmp_path / "a.protoleafz").out
    )
    assert "1 photo not in the copy." in done(capsys, "unpack", tmp_path / "a.protoleafz").out
    (tmp_path / "bad.protoleafz").write_bytes(b"PK\x03\x04")
    assert "is not a copy of a Protoleaf project" in refused(
        capsys, "unpack", tmp_path / "bad.protoleafz"
    )
    assert "is not a copy of a Protoleaf project" in refused(
        capsys, "merge", trip, tmp_path / "bad.protoleafz"
    )
    assert "unpack it first" in refused(capsys, "check", tmp_path / "a.protoleafz").lower()
    (tmp_path / "mine.txt").write_text("mine")
    assert "--overwrite" in refused(capsys, "export", trip, "copy", tmp_path / "mine.txt")
