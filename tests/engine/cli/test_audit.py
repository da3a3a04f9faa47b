"""`protoleaf audit`: random samples of images, and estimates from their labels."""

import csv
from pathlib import Path

import pytest

from engine.project import Project
from tests.support.collections import Collection, class_ids, read_truth_table
from tests.support.command_line import done, refused


def answer(collection: Collection, paths: list[str], wrong: int = 0) -> None:
    """Label images with their true class, the first ones as none of the classes."""
    truth = read_truth_table(collection)
    with Project.open(collection.project) as project:
        ids, records = (
            class_ids(project),
            {each.path: each.image_id for each in project.images.records()},
        )
        for place, path in enumerate(paths):
            project.labels.set([records[path]], None if place < wrong else ids[truth[path]])


@pytest.mark.slow
def test_draw_answer_and_report(
    capsys: pytest.CaptureFixture[str], collection: Collection, tmp_path: Path
) -> None:
    """Twenty of forty images are drawn and labelled; the report has a section for them."""
    out = done(capsys, "audit", collection.project).out
    assert out.startswith("No images were drawn yet")
    fields = done(capsys, "audit", collection.project, "--draw", "20", "--json").fields
    (drawn,) = fields["audits"]
    assert (drawn["population"], drawn["asked"], drawn["answered"], len(fields["to_label"])) == (
        40,
        20,
        0,
        20,
    )
    answer(collection, fields["to_label"], wrong=2)
    out = done(capsys, "audit", collection.project).out
    assert "20 images of 40 drawn at random" in out
    assert "Right: 18 of 20, 90.0% (95% interval 66.9% to 98.2%)." in out
    table = tmp_path / "a.csv"
    output = done(capsys, "report", collection.project, table).out
    assert "Checked at random: 18 of 20, 90.0%" in output
    assert "by labels held out one by one" in output
    with table.open(encoding="utf-8", newline="") as file:
        values = [
            row for row in csv.DictReader(file) if (row["table"], row["row"]) == ("audits", "1")
        ]
    row = {each["column"]: each["value"] for each in values}
    assert (row["answered"], row["right"], float(row["share"])) == ("20", "18", 0.9)
    assert float(row["interval_low"]) == pytest.approx(0.669, abs=1e-3)
    page = tmp_path / "a.html"
    fields = done(capsys, "report", collection.project, page, "--json").fields
    assert (
        fields["audits"][0]["accuracy"]["right"],
        fields["audits"][0]["sure"]["answers"] > 0,
    ) == (18, True)
    assert "Checked at random" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_an_audit_grows(capsys: pytest.CaptureFixture[str], collection: Collection) -> None:
    """A larger audit extends the first sample.

    It is limited by the population.
    """
    words = "audit", collection.project
    first = done(capsys, *words, "--draw", "20", "--stratified", "--json").fields["to_label"]
    fields = done(capsys, *words, "--grow", "50", "--json").fields
    assert (fields["to_label"][:20], len(set(fields["to_label"]))) == (first, 40)
    assert [each["stratified"] for each in fields["audits"]] == [True]


def test_misuse(capsys: pytest.CaptureFixture[str], collection: Collection, tmp_path: Path) -> None:
    words = "audit", collection.project
    refused(capsys, *words, "--draw", "21", status=2)
    refused(capsys, *words, "--draw", "20", "--grow", "50", status=2)
    refused(capsys, *words, "--stratified", status=2)
    assert "no images were drawn" in refused(capsys, *words, "--grow", "50")
    done(capsys, "new", tmp_path / "new.protoleaf")
    assert "nothing to check" in refused(
        capsys, "audit", tmp_path / "new.protoleaf", "--draw", "20"
    )
