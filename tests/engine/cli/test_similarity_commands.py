"""`similar` and `duplicates`: text, JSON, and errors of one line."""

import json
import shutil
from pathlib import Path

import pytest

from engine.collection.importing.import_images import import_images
from engine.project import Project
from tests.support.collections import Collection, read_truth_table, write_shape
from tests.support.command_line import done, refused


def test_similar_lists_the_image_itself_first(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    image = collection.unsorted / "030.png"
    found = json.loads(
        done(capsys, "similar", collection.project, image, "--count", "5", "--json").out
    )["images"]
    assert (len(found), found[0]["image"], found[0]["likeness"]) == (5, "unsorted/030.png", 1.0)
    truth = read_truth_table(collection)
    kinds = [truth[each["image"]] for each in found if each["image"] in truth]
    assert kinds.count(truth["unsorted/030.png"]) == len(kinds)
    text = done(capsys, "similar", collection.project, image, "--count", "5").out
    assert text.splitlines()[0] == " 1.000  unsorted/030.png"


@pytest.mark.slow
def test_similar_to_a_file_from_outside(
    collection: Collection, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It is embedded without being added to the project."""
    outside = write_shape(tmp_path / "outside.png", "Green disc", seed=77)
    with Project.open(collection.project, for_writing=False) as project:
        count = project.images.count
    text = done(capsys, "similar", collection.project, outside, "--count", "1").out
    with Project.open(collection.project, for_writing=False) as project:
        assert project.images.count == count
        label = project.labels.of(
            project.images.find(collection.folder / text.split("  ")[1].strip()) or 0
        )
    name = None if label is None or label.class_id is None else label.class_id
    assert text.startswith(" 0.")
    assert name is None or "Green disc" in text


@pytest.mark.slow
@pytest.mark.parametrize("content", [None, b"no picture"])
def test_a_file_that_cannot_be_read(
    collection: Collection,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    content: bytes | None,
) -> None:
    file = tmp_path / "notes.jpg"
    if content is not None:
        file.write_bytes(content)
    line = refused(capsys, "similar", collection.project, file)
    assert "notes.jpg" in line


@pytest.mark.slow
def test_duplicates_lists_copies(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(collection.unsorted / "024.png", collection.unsorted / "copy.png")
    with Project.open(collection.project) as project:
        import_images(project, [collection.unsorted])
    done(capsys, "embed", collection.project, "--one-view", "--device", "cpu")
    fields = json.loads(done(capsys, "duplicates", collection.project, "--no-look", "--json").out)
    assert fields == {
        "images": 65,
        "folds": [{"images": ["unsorted/024.png", "unsorted/copy.png"], "kind": "copies"}],
        "folded": 2,
        "seconds": 5,
    }
    text = done(capsys, "duplicates", collection.project, "--seconds", "60").out
    assert "unsorted/024.png" in text
    assert "images of 65 in" in text
