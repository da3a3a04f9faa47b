"""Exporting and importing labels: output, lists of problems, errors."""

import json
from pathlib import Path

import pytest

from engine.project import Project
from tests.support.command_line import done, refused
from tests.support.labelled_images import draw, labelled_project


@pytest.fixture
def music(tmp_path: Path) -> Path:
    """The project's file, closed."""
    labelled = labelled_project(tmp_path / "collection")
    labelled.project.close()
    return labelled.project.path


def test_out_and_in_again(music: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A removed label is restored with its author.

    One that differs here is listed and not changed.
    """
    out = tmp_path / "labels.csv"
    assert (
        done(capsys, "export", music, "csv", out, "--images", "verified").out
        == f"Wrote 4 images to {out}.\n"
    )
    with Project.open(music) as project:
        piano, organ, *_ = project.labels.by_image().values()
        project.labels.remove([piano.image_id])
        project.labels.set([organ.image_id], None, who="linus")
    planned = json.loads(done(capsys, "import-labels", music, out, "--dry-run", "--json").out)
    assert (planned["labels"], planned["already_there"], planned["dry_run"]) == (1, 2, True)
    output = done(capsys, "import-labels", music, out).out
    assert output.startswith("Imported 1 label from labels.csv (csv); 2 already there.")
    assert "none of the classes here, Keyboard/Organ by grace" in output
    with Project.open(music, for_writing=False) as project:
        labels = project.labels.by_image()
    assert labels[piano.image_id].who == piano.who
    assert (labels[organ.image_id].class_id, labels[organ.image_id].who) == (None, "linus")


def test_what_could_not_be_written_is_listed(
    music: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing image; those without a class are counted."""
    lost = music.parent / "photos" / "day 0" / "piano.png"
    lost.unlink()
    output = done(capsys, "export", music, "folders", tmp_path / "out", "--images", "verified").out
    assert f"1 file could not be written:\n  {lost}: " in output
    assert "1 image left out: no class." in output


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_addresses_are_listed_without_credentials(
    options: tuple[str, ...], music: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "labels.csv"
    table.write_text(
        "image,class\nhttps://ada:secret@x.org/a.jpg?token=abc,Piano\n", encoding="utf-8"
    )
    output = done(capsys, "import-labels", music, table, *options).out
    assert "https://***@x.org/a.jpg?token=***" in output


def test_refusals(music: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unknown formats and choices are usage errors; missing predictions are explained."""
    out = tmp_path / "o"
    assert refused(capsys, "export", music, "odd", out, status=2)
    assert refused(capsys, "export", music, "csv", out, "--images", "some", status=2)
    assert "--images verified" in refused(capsys, "export", music, "csv", out)
    assert not out.exists()


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--add-classes",),
        ("--add-images",),
        ("--add-classes", "--add-images", "--who", "linus"),
    ],
)
def test_a_dry_run_says_what_the_run_does(
    music: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    """Also for duplicate contents, two spellings of a new class, and labels that depend on both."""
    photos = music.parent / "photos"
    for name in ("new.png", "twin.png"):
        draw(photos / name, 201)
    rows = (
        "day 0/piano.png,Viola",
        "day 1/organ.png,viola",
        "new.png,Viola",
        "twin.png,Cello",
        "flute.png,Harp",
    )
    (photos / "l.csv").write_text("\n".join(("image,class", *rows)), encoding="utf-8")
    words: tuple[str | Path, ...] = ("import-labels", music, photos / "l.csv", "--json", *options)
    before = music.read_bytes()
    planned = dict(done(capsys, *words, "--dry-run").fields)
    assert music.read_bytes() == before
    assert planned | {"dry_run": False} == done(capsys, *words).fields
