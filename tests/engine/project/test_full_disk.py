"""Full disk: the action is rolled back, and the project stays usable."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import StorageError
from engine.project import Project
from tests.support.projects import bird_project, connection_of, dump, found_files, named, shape


def _fill_up(project: Project, spare_pages: int = 2) -> None:
    pages = connection_of(project).value("PRAGMA page_count")
    connection_of(project).value(f"PRAGMA max_page_count = {pages + spare_pages}")


def _free_space(project: Project) -> None:
    connection_of(project).value("PRAGMA max_page_count = 1000000")


@pytest.mark.slow
def test_an_action_on_a_full_disk_is_taken_back(tmp_path: Path) -> None:
    """Adding images that do not fit raises StorageError without a change; later it works."""
    project, gull, images = bird_project(tmp_path)
    before = dump(project)
    _fill_up(project)
    with pytest.raises(StorageError, match=r"disk is full.*Free some space"):
        project.images.add(found_files(tmp_path, 5000, start=100))
    assert dump(project) == before
    assert str(project.history.undo_action) == "Added 4 images"
    _free_space(project)
    project.labels.set(images, gull)
    assert len(project.images.add(found_files(tmp_path, 5000, start=100)).images_added) == 5000
    assert project.check() == []
    project.close()


@pytest.mark.slow
def test_the_graph_in_memory_goes_back_with_the_file(tmp_path: Path) -> None:
    """If an import of classes does not fit, the graph in memory is rolled back, too."""
    project, _, _ = bird_project(tmp_path)
    before = shape(project.classes.graph)
    _fill_up(project)
    with pytest.raises(StorageError):
        project.classes.edit(
            lambda graph: [graph.add_class(f"Class {number}") for number in range(9000)],
            named("Import"),
        )
    assert shape(project.classes.graph) == before
    _free_space(project)
    project.classes.add("Class 1")
    project.close()
    with Project.open(project.path) as reopened:
        assert len(reopened.classes.graph) == len(before[0]) + 1


def test_a_group_does_not_go_on_after_a_full_disk(tmp_path: Path) -> None:
    """A group that ignores the error of an action is rolled back or completed as a whole."""
    project, gull, images = bird_project(tmp_path)
    before = dump(project)
    _fill_up(project)

    def group() -> None:
        with project.history.one_step(named("Group")):
            project.labels.set(images, gull)
            with pytest.raises(StorageError):
                project.images.add(found_files(tmp_path, 5000, start=100))
            project.images.add(found_files(tmp_path, 5000, start=100))

    with pytest.raises(StorageError):
        group()
    assert dump(project) == before
    _free_space(project)
    assert project.check() == []
    project.close()


WRITE_UP_TO_A_LIMIT = """
import resource, signal, sys
from pathlib import Path
from engine.errors import StorageError
from engine.files import FoundFile
from engine.project import Project
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Project.open(Path(sys.argv[1])) as project:
    limit = Path(sys.argv[1]).stat().st_size + 400_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    added = 0
    try:
        for number in range(1000):
            start = number * 500
            files = [FoundFile(Path(f"/photos/{each}.jpg"), 1, 1) for each in range(start, start \
+ 500)]
            added += len(project.images.add(files).images_added)
    except StorageError as error:
        print(error)
    assert project.images.count == 4 + added, (project.images.count, added)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    project.labels.set([1], 2)
    print("added", added)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_the_file_system_itself_refuses(tmp_path: Path) -> None:
    """With a limit of the file size all acknowledged images are stored and work continues."""
    project, _, _ = bird_project(tmp_path)
    project.close()
    answer = subprocess.run(
        [sys.executable, "-c", WRITE_UP_TO_A_LIMIT, str(project.path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    message, added = answer.stdout.splitlines()
    assert str(project.path) in message
    with Project.open(project.path) as reopened:
        assert reopened.images.count == 4 + int(added.split()[1])
        assert len(reopened.labels.by_image()) == 1
        assert reopened.check() == []
