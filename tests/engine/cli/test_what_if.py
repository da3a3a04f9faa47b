"""`protoleaf what-if`: effects of edits of the graph without making them."""

import subprocess
import sys

import pytest

from engine.errors import ProjectLockedError
from engine.project import Project
from tests.support.collections import Collection
from tests.support.command_line import done, refused


def test_edits_are_tried_and_nothing_is_changed(
    capsys: pytest.CaptureFixture[str], collection: Collection
) -> None:
    """Merging two classes moves all images of one.

    Text and JSON agree, and the file is unchanged.
    """
    before = collection.project.read_bytes()
    edits = ("--unlink", "Red disc=Red", "--merge", "Blue checks=Blue disc")
    output = done(capsys, "what-if", collection.project, *edits).out
    fields = done(capsys, "what-if", collection.project, *edits, "--json").fields
    assert len(fields["edits"]) == 2
    assert (
        fields["change_class"]
        == sum(move["images"] for move in fields["moves"] if not move["safe_class"])
        > 0
    )
    merged = next(
        move
        for move in fields["moves"]
        if move["before"] == "Blue checks" and not move["safe_class"]
    )
    assert merged["after"] == "Blue disc"
    assert f"Blue checks -> {merged['after']}" in output
    assert fields["held_out"]["images"] > 0
    assert output.splitlines()[-1] == "Nothing was changed."
    assert collection.project.read_bytes() == before


@pytest.mark.slow
def test_what_the_graph_refuses_is_refused(
    capsys: pytest.CaptureFixture[str], collection: Collection
) -> None:
    """A cycle, an unknown class and an incomplete pair; one line each."""
    before = collection.project.read_bytes()
    assert "Red" in refused(capsys, "what-if", collection.project, "--link", "Red=Red disc")
    assert "Nowhere" in refused(capsys, "what-if", collection.project, "--merge", "Nowhere=Red")
    assert "such as Apple=Fruit" in refused(
        capsys, "what-if", collection.project, "--link", "Red", status=2
    )
    assert collection.project.read_bytes() == before


HOLDER = """
import sys
from pathlib import Path
from engine.project import Project
with Project.open(Path(sys.argv[1])):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_it_works_beside_a_window(
    capsys: pytest.CaptureFixture[str], collection: Collection
) -> None:
    """While another process has the project open for writing.

    The result is the same.
    """
    words = ("what-if", collection.project, "--merge", "Blue checks=Blue disc", "--json")
    alone = done(capsys, *words).fields
    command = [sys.executable, "-c", HOLDER, str(collection.project)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as window:
        assert window.stdout is not None
        assert window.stdout.readline().strip() == b"open"
        with pytest.raises(ProjectLockedError):
            Project.open(collection.project)
        beside = done(capsys, *words).fields
        window.communicate()
    assert beside == alone
