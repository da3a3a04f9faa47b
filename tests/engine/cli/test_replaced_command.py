"""`protoleaf replaced`, and messages of other commands about outdated labels."""

import os

import pytest

from engine.project import Project
from tests.support.collections import Collection, write_shape
from tests.support.command_line import done, refused

LABELLED = "shots/Red/Red disc/0.png"


@pytest.fixture
def replaced(collection: Collection) -> Collection:
    """A collection with a labelled file that was overwritten and not read since."""
    path = collection.folder / LABELLED
    later_ns = path.stat().st_mtime_ns + 10**9
    write_shape(path, "Blue stripes", seed=77)
    os.utime(path, ns=(later_ns, later_ns))
    return collection


@pytest.mark.slow
def test_every_command_says_so(capsys: pytest.CaptureFixture[str], replaced: Collection) -> None:
    """First that the file must be read.

    Then that the label does not count, with its class.
    """
    project, out = replaced.project, replaced.folder / "out.csv"
    assert LABELLED in done(capsys, "check", project).out
    answer = done(capsys, "embed", project, "--one-view").out
    assert "1 labelled image is another photo now" in answer
    assert f"{LABELLED}: Red/Red disc by ada" in answer
    commands = (
        ("check", project),
        ("relink", project),
        ("classify", project, "-o", replaced.folder / "found.csv"),
        ("export", project, "csv", out, "--images", "verified"),
    )
    for command in commands:
        assert "1 labelled image is another photo now" in done(capsys, *command).out
    assert LABELLED not in out.read_text(encoding="utf-8")
    assert done(capsys, "images", project, "--search", "replaced", "--json").fields["found"] == 1
    fields = done(capsys, "replaced", project, "--json").fields
    assert fields == {"replaced": [{"image": LABELLED, "class": "Red/Red disc", "who": "ada"}]}


def test_labels_are_confirmed_or_taken_off(
    capsys: pytest.CaptureFixture[str], replaced: Collection
) -> None:
    """All or named images; others are refused by name."""
    project = replaced.project
    assert done(capsys, "replaced", project).out == "No labelled image was replaced.\n"
    done(capsys, "embed", project, "--one-view")
    other = replaced.folder / "shots/Red/Red disc/1.png"
    assert "no label of this image waits to be confirmed" in refused(
        capsys, "replaced", project, other, "--confirm"
    )
    named = replaced.folder / LABELLED
    assert "Confirmed 1 label" in done(capsys, "replaced", project, named, "--confirm").out
    assert done(capsys, "replaced", project, "--json").fields == {"replaced": []}
    with Project.open(project) as opened:
        opened.history.undo()
    assert "Removed 1 label" in done(capsys, "replaced", project, "--ask-again").out
    assert done(capsys, "images", project, "--search", "labelled", "--json").fields["found"] == 23
