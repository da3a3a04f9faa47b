"""Opening a project twice, in one or two processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.collection.new_project import new_project
from engine.errors import ProjectLockedError
from engine.project import Project
from engine.project.actions import action

READER = """
import sys
from pathlib import Path
from engine.project import Project
from tests.support.projects import named
with Project.open(Path(sys.argv[1]), for_writing=False) as project:
    print(*(project.classes.graph.name(each) for each in project.classes.graph.classes()))
"""


def read_elsewhere(path: Path) -> list[str]:
    """Class names read by another process, which closes the project."""
    command = [sys.executable, "-c", READER, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def add_class(project: Project, name: str) -> None:
    """Add a class."""
    project.classes.edit(lambda graph: graph.add_class(name), action("class_added", name))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An empty project."""
    new_project(tmp_path / "birds.protoleaf").close()
    return tmp_path / "birds.protoleaf"


@pytest.mark.slow
@pytest.mark.parametrize("second", ["birds.protoleaf", "link.protoleaf"])
def test_a_refused_second_opening_leaves_the_locks(path: Path, second: str) -> None:
    """A refused opening, also through a link, releases no lock of the writer or of readers."""
    if second != path.name:
        path.with_name(second).symlink_to(path)
    with Project.open(path) as project:
        add_class(project, "Gull")
        with pytest.raises(ProjectLockedError):
            Project.open(path.with_name(second))
        assert read_elsewhere(path) == ["Gull"]
        add_class(project, "Tern")
        assert read_elsewhere(path) == ["Gull", "Tern"]
    assert read_elsewhere(path) == ["Gull", "Tern"]


@pytest.mark.slow
def test_reading_beside_the_writer_leaves_the_locks(path: Path) -> None:
    """Nor does a permitted one."""
    with Project.open(path) as project:
        add_class(project, "Gull")
        Project.open(path, for_writing=False).close()
        assert read_elsewhere(path) == ["Gull"]
        add_class(project, "Tern")
        assert read_elsewhere(path) == ["Gull", "Tern"]
