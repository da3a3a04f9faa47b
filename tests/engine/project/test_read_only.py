"""Projects in folders that must not be written to."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import ProjectReadOnlyError
from engine.graph.aliases import Aliases
from engine.project import ClassDetails, ClassPolicy, Prediction, Project, SplitPart
from engine.project.branch_text import copied_branches
from tests.support.projects import bird_project, copy_in_the_middle_of_a_commit

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permission bits")

ASK = """
import os, sys
from pathlib import Path
from engine.errors import ProjectReadOnlyError
from engine.project import Project
from engine.project.clock import person_name
person_name()
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)  # permission bits do not bind root; nobody may not even read root's Python
path = Path(sys.argv[1])
try:
    Project.open(path)
except ProjectReadOnlyError as error:
    print("refused:", error)
with Project.open(path, for_writing=False) as project:
    print("labels", len(project.labels()), "classes", len(project.graph), "faults", project.check())
    try:
        project.unlabel([1])
    except ProjectReadOnlyError:
        print("no action")
"""


def _ask_as_nobody(folder: Path, path: Path) -> str:
    # The parents must let nobody through; pytest makes them private.
    for parent in [folder, *folder.parents]:
        if parent.owner() == Path.home().owner() and "pytest" in str(parent):
            parent.chmod(parent.stat().st_mode | 0o055)
    path.chmod(0o444)
    folder.chmod(0o555)
    try:
        answer = subprocess.run(
            [sys.executable, "-c", ASK, str(path)], capture_output=True, text=True, check=False, cwd=Path.cwd()
        )
    finally:
        folder.chmod(0o755)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_a_read_only_folder_can_be_read(tmp_path: Path) -> None:
    """Opening for writing says to open for reading; opening for reading works, and leaves no trace."""
    project, gull, images = bird_project(tmp_path)
    project.label(images, gull)
    project.close()
    before = project.path.read_bytes()
    said = _ask_as_nobody(tmp_path, project.path)
    assert "refused: the project's file or folder is read-only" in said
    assert "reading only" in said
    assert "labels 4 classes 2 faults []" in said
    assert "no action" in said
    assert [each.name for each in tmp_path.iterdir()] == ["birds.protoleaf"]
    assert project.path.read_bytes() == before


def test_a_read_only_folder_with_an_unfinished_commit_shows_the_state_before_it(tmp_path: Path) -> None:
    """What a kill left half done is taken back in a private copy where the folder itself must not be written to."""
    source = tmp_path / "source"
    source.mkdir()
    project, gull, images = bird_project(source)
    project.label(images, gull)
    stick = tmp_path / "stick"
    stick.mkdir()
    copy_in_the_middle_of_a_commit(project, stick)
    project.close()
    for path in stick.iterdir():
        path.chmod(0o444)
    assert "labels 4 classes 2 faults []" in _ask_as_nobody(stick, stick / "birds.protoleaf")


def test_no_action_changes_a_project_opened_for_reading(tmp_path: Path) -> None:
    """Each way of changing a project is refused when it is open for reading only."""
    project, gull, images = bird_project(tmp_path)
    project.label(images, gull)
    project.close()
    with Project.open(project.path, for_writing=False) as reader:
        assert not reader.is_writable
        attempts: list[Callable[[], object]] = [
            lambda: reader.add_class("Tern"),
            lambda: reader.rename_class(gull, "Tern"),
            lambda: reader.remove_class(gull),
            lambda: reader.merge_class(gull, gull),
            lambda: reader.add_parent("Seabird", [gull], 1),
            lambda: reader.move_classes([(gull, 1)], None),
            lambda: reader.link_classes(1, [gull]),
            lambda: reader.unlink_classes([(1, gull)]),
            lambda: reader.remove_classes([1, gull]),
            lambda: reader.merge_classes([1], gull),
            lambda: reader.split_class(gull, [SplitPart("Herring")], as_children=True),
            lambda: reader.paste_branches(copied_branches(reader, [gull]), None),
            lambda: reader.set_aliases(gull, Aliases("n1")),
            lambda: reader.set_details(gull, ClassDetails("seen")),
            lambda: reader.import_graph(lambda graph: graph.add_class("Tern"), "Import"),
            lambda: reader.add_images([]),
            lambda: reader.import_labelled([]),
            lambda: reader.remove_images(images),
            lambda: reader.label(images, None),
            lambda: reader.unlabel(images),
            lambda: reader.set_policy(gull, ClassPolicy(0.5)),
            lambda: reader.set_setting("a", 1),
            lambda: reader.choose_model(1),
            lambda: reader.add_model_version(backbone_name="a", backbone_hash="b"),
            lambda: reader.record_scan([(images[0], None, "no")]),
            lambda: reader.store_predictions(
                [Prediction(images[0], gull, 1.0, None, 0.0)], version_id=1, setting="ppn"
            ),
            reader.undo,
            reader.redo,
        ]
        for attempt in attempts:
            with pytest.raises(ProjectReadOnlyError):
                attempt()
        assert len(reader.labels()) == 4
