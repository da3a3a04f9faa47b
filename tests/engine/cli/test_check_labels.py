"""`protoleaf check-labels`: likely label errors."""

from pathlib import Path

import pytest

from engine.project import Project
from tests.support.collections import Collection, class_ids, read_truth_table
from tests.support.command_line import done, refused


def label_all(collection: Collection, wrong: int) -> list[str]:
    """Label all images correctly except the first of some classes; return the paths of these."""
    truth, found = read_truth_table(collection), list[str]()
    with Project.open(collection.project) as project:
        ids, seen = class_ids(project), set[str]()
        leaves = sorted(set(truth.values()))
        paths = {image.path: image.image_id for image in project.images.records()}
        for path, leaf in truth.items():
            given = leaf
            if leaf not in seen and len(found) < wrong:
                given = leaves[(leaves.index(leaf) + 3) % len(leaves)]
                found.append(path)
            seen.add(leaf)
            project.labels.set([paths[path]], ids[given], who="Ada")
    return found


@pytest.mark.slow
def test_text_and_json(capsys: pytest.CaptureFixture[str], collection: Collection) -> None:
    """Wrong labels, most certain first, with author and reason; the file is unchanged."""
    wrong, truth = label_all(collection, 2), read_truth_table(collection)
    before = collection.project.read_bytes()
    head, *lines = done(capsys, "check-labels", collection.project).out.splitlines()
    fields = done(capsys, "check-labels", collection.project, "--json").fields
    assert head == "Probably wrong: 2 of 64 labels."
    assert {row["image"] for row in fields["suspects"]} == set(wrong)
    assert [line.split("  ")[0] for line in lines] == [row["image"] for row in fields["suspects"]]
    for row in fields["suspects"]:
        assert row["proposed"].endswith(truth[row["image"]])
        assert row["who"] == "Ada"
        assert 0.5 <= row["probability"] <= 1
        assert row["reason"]
    assert (fields["labels"], fields["labels_missing"], fields["probably_wrong"]) == (64, 0, 2)
    assert "the first 1." in done(capsys, "check-labels", collection.project, "--count", "1").out
    assert collection.project.read_bytes() == before


def test_nothing_to_say(
    capsys: pytest.CaptureFixture[str], collection: Collection, tmp_path: Path
) -> None:
    """That no label looks wrong, and how many were not checked."""
    assert done(capsys, "check-labels", collection.project).out == "No label looks wrong, of 24.\n"
    project = tmp_path / "new.protoleaf"
    done(capsys, "new", project)
    assert done(capsys, "check-labels", project).out == "Too few labels to check: 10 more needed.\n"
    refused(capsys, "check-labels", project, "--count", "0", status=2)
