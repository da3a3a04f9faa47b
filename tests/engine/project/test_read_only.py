"""Projects in folders that must not be written to."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import ProjectReadOnlyError
from engine.project import ClassPolicy, Prediction, Project, SplitPart
from tests.support.projects import bird_project, copy_in_the_middle_of_a_commit, named

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permission bits")

ASK = """
import os, sys
from pathlib import Path
from engine.errors import ProjectReadOnlyError
from engine.project import Project
from engine.project.clock import person_name
person_name()
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)  # permission bits do not bind root; nobody may not even \
read root's Python
path = Path(sys.argv[1])
try:
    Project.open(path)
except ProjectReadOnlyError as error:
    print("refused:", error)
with Project.open(path, for_writing=False) as project:
    print("labels", len(project.labels.by_image()), "classes", len(project.classes.graph), \
"faults", project.check())
    try:
        project.labels.remove([1])
    except ProjectReadOnlyError:
        print("no action")
"""


def _ask_as_nobody(folder: Path, path: Path) -> str:
    # Others need access to the parents, which pytest makes private.
    for parent in [folder, *folder.parents]:
        if parent.owner() == Path.home().owner() and "pytest" in str(parent):
            parent.chmod(parent.stat().st_mode | 0o055)
    path.chmod(0o444)
    folder.chmod(0o555)
    try:
        answer = subprocess.run(
            [sys.executable, "-c", ASK, str(path)],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path.cwd(),
        )
    finally:
        folder.chmod(0o755)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.mark.slow
def test_a_read_only_folder_can_be_read(tmp_path: Path) -> None:
    """For writing the error recommends reading.

    Opening for reading works and leaves no trace.
    """
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images, gull)
    project.close()
    before = project.path.read_bytes()
    output = _ask_as_nobody(tmp_path, project.path)
    assert "refused: the project's file or folder is read-only" in output
    assert "reading only" in output
    assert "labels 4 classes 2 faults []" in output
    assert "no action" in output
    assert [each.name for each in tmp_path.iterdir()] == ["birds.protoleaf"]
    assert project.path.read_bytes() == before


@pytest.mark.slow
def test_a_read_only_folder_with_an_unfinished_commit_shows_the_state_before_it(
    tmp_path: Path,
) -> None:
    """It is rolled back in a private copy, since the folder is not writable."""
    source = tmp_path / "source"
    source.mkdir()
    project, gull, images = bird_project(source)
    project.labels.set(images, gull)
    stick = tmp_path / "stick"
    stick.mkdir()
    copy_in_the_middle_of_a_commit(project, stick)
    project.close()
    for path in stick.iterdir():
        path.chmod(0o444)
    assert "labels 4 classes 2 faults []" in _ask_as_nobody(stick, stick / "birds.protoleaf")


def test_no_action_changes_a_project_opened_for_reading(tmp_path: Path) -> None:
    """Every change is refused."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images, gull)
    project.close()
    with Project.open(project.path, for_writing=False) as reader:
        assert not reader.is_writable
        attempts: list[Callable[[], object]] = [
            lambda: reader.classes.add("Tern"),
            lambda: reader.classes.rename(gull, "Tern"),
            lambda: reader.classes.remove([gull]),
            lambda: reader.classes.merge([gull], gull),
            lambda: reader.classes.add_parent("Seabird", [gull], 1),
            lambda: reader.classes.move([(gull, 1)], None),
            lambda: reader.classes.link(1, [gull]),
            lambda: reader.classes.unlink([(1, gull)]),
            lambda: reader.classes.remove([1, gull]),
            lambda: reader.classes.merge([1], gull),
            lambda: reader.classes.split(gull, [SplitPart("Herring")], as_children=True),
            lambda: reader.classes.paste(reader.classes.copied([gull]), None),
            lambda: reader.classes.set_attributes([gull], source_id="n1"),
            lambda: reader.classes.set_attributes([gull], note="seen"),
            lambda: reader.classes.edit(lambda graph: graph.add_class("Tern"), named("Import")),
            lambda: reader.images.add([]),
            lambda: reader.images.add_labelled([], []),
            lambda: reader.images.remove(images),
            lambda: reader.labels.set(images, None),
            lambda: reader.labels.remove(images),
            lambda: reader.policies.set(gull, ClassPolicy(0.5)),
            lambda: reader.policies.set_setting("a", 1),
            lambda: reader.models.choose(1),
            lambda: reader.models.add(backbone_name="a", backbone_hash="b"),
            lambda: reader.images.record_scan([(images[0], None, "no")]),
            lambda: reader.models.store_predictions(
                [Prediction(images[0], gull, 1.0, None, 0.0)], version_id=1, setting="ppn"
            ),
            reader.history.undo,
            reader.history.redo,
        ]
        for attempt in attempts:
            with pytest.raises(ProjectReadOnlyError):
                attempt()
        assert len(reader.labels.by_image()) == 4
