"""`report` and `evaluate --report`: files for people and programs, written atomically."""

import csv
from pathlib import Path

import pytest

from engine.project import Project
from engine.report.write import SUFFIXES
from tests.support.collections import Collection
from tests.support.command_line import done, refused

BEGINNINGS = {
    ".html": b"<!DOCTYPE html>",
    ".pdf": b"%PDF-",
    ".csv": b"table,row,column,value",
    ".zip": b"PK",
}


@pytest.mark.slow
def test_every_kind(
    capsys: pytest.CaptureFixture[str], collection: Collection, tmp_path: Path
) -> None:
    """With held-out labels.

    The project is unchanged, and a report replaces an earlier one.
    """
    before = collection.project.read_bytes()
    for suffix in SUFFIXES:
        for _ in range(2 if suffix == ".html" else 1):
            output = done(capsys, "report", collection.project, tmp_path / f"a{suffix}").out
        assert "Accuracy 100.0% (95% interval 8" in output
        assert (tmp_path / f"a{suffix}").read_bytes().startswith(BEGINNINGS[suffix])
    assert collection.project.read_bytes() == before


@pytest.mark.slow
def test_truth_and_two_settings(
    capsys: pytest.CaptureFixture[str], collection: Collection, tmp_path: Path
) -> None:
    """Figures equal those of `evaluate`; both settings are compared on the same images."""
    out = tmp_path / "a.csv"
    words = (
        "report",
        collection.project,
        out,
        "--truth",
        collection.truth,
        "--settings",
        "ppn+,regression",
        "--json",
    )
    fields = done(capsys, *words).fields
    known = done(
        capsys, "evaluate", collection.project, "--truth", collection.truth, "--json"
    ).fields
    assert fields["accuracy"]["top1"]["share"] == known["top1"]
    assert [each["share"] for each in fields["accuracy"]["levels"]] == known["levels"]
    assert fields["calibration_error"] == pytest.approx(known["calibration_error"], abs=1e-6)
    assert fields["about"]["source"] == "file"
    comparison = fields["comparison"]
    assert (comparison["first"], comparison["second"], comparison["images"]) == (
        "ppn+",
        "regression",
        known["images"],
    )
    assert comparison["first_right"]["share"] == known["top1"]
    with out.open(encoding="utf-8", newline="") as file:
        names = {row["table"] for row in csv.DictReader(file)}
    assert {"accuracy", "confusion", "classes", "comparison", "images-by-class"} <= names


@pytest.mark.slow
def test_evaluation_with_a_report(
    capsys: pytest.CaptureFixture[str], collection: Collection, tmp_path: Path
) -> None:
    """The usual table and the page; rows without an image are counted."""
    with collection.truth.open("a", encoding="utf-8") as file:
        file.write("elsewhere.jpg,Red disc\n")
    out = tmp_path / "a.html"
    output = done(
        capsys, "evaluate", collection.project, "--truth", collection.truth, "--report", out
    ).out
    assert "leaf top-1" in output
    page = out.read_text(encoding="utf-8")
    assert "truth.csv" in page
    assert "1 of its 41 rows match no image here." in page


def test_without_anything_to_compare(
    capsys: pytest.CaptureFixture[str], collection: Collection, tmp_path: Path
) -> None:
    """Progress and counts, and why there is no accuracy."""
    with Project.open(collection.project) as project:
        project.labels.remove([record.image_id for record in project.images.records()])
    output = done(capsys, "report", collection.project, tmp_path / "a.html").out
    assert "It has no accuracy: no class has an example yet" in output
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "There is nothing to compare predictions with yet" in page
    assert 'id="confusion"' not in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a.docx",), ".html, .pdf, .csv, .zip"),
        (("a.html", "--settings", "ppn+"), "expected A,B"),
        (("a.html", "--settings", "ppn+,magic"), "found magic"),
        (("a.html", "--versions", "1,x"), "numbers of model versions"),
        (("a.html", "--versions", "1,2", "--settings", "ppn+,ppn"), "exclude each other"),
    ],
)
def test_misuse(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str) -> None:
    """Reported before the project is read."""
    assert message in refused(capsys, "report", "nowhere.protoleaf", *words, status=2)


@pytest.mark.slow
def test_refusals(
    capsys: pytest.CaptureFixture[str], collection: Collection, tmp_path: Path
) -> None:
    """A missing version, unrelated truth, and other files: one line each, nothing written."""
    out = tmp_path / "a.html"
    assert "999" in refused(capsys, "report", collection.project, out, "--versions", "1,999")
    strange = tmp_path / "strange.csv"
    strange.write_text("image,class\nelsewhere.jpg,Red disc\n", encoding="utf-8")
    assert "no image of the truth file" in refused(
        capsys, "report", collection.project, out, "--truth", strange
    )
    assert not out.exists()
    out.write_text("theirs", encoding="utf-8")
    assert "another file" in refused(capsys, "report", collection.project, out)
    assert out.read_text(encoding="utf-8") == "theirs"
    done(capsys, "report", collection.project, out, "--overwrite")
