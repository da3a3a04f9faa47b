"""A project that is opened again, by the same process or by another one."""

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
    """Names of the classes as another process sees them; it closes the project again."""
    command = [sys.executable, "-c", READER, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def add_class(project: Project, name: str) -> None:
    """One acknowledged step."""
    project.classes.edit(lambda graph: graph.add_class(name), action("class_added", name))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An empty project."""
    new_project(tmp_path / "birds.protoleaf").close()
    return tmp_path / "birds.protoleaf"


@pytest.mark.parametrize("second", ["birds.protoleaf", "link.protoleaf"])
def test_a_refused_second_opening_leaves_the_locks(path: Path, second: str) -> None:
    """A refused opening, also over a link, changes nothing for the writer and for readers elsewhere."""
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


def test_reading_beside_the_writer_leaves_the_locks(path: Path) -> None:
    """The same when the second opening is allowed."""
    with Project.open(path) as project:
        add_class(project, "Gull")
        Project.open(path, for_writing=False).close()
        assert read_elsewhere(path) == ["Gull"]
        add_class(project, "Tern")
        assert read_elsewhere(path) == ["Gull", "Tern"]
