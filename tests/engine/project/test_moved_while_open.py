"""An open project file that is renamed, replaced or deleted: nothing acknowledged is lost."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import ProjectLockedError, ProjectMovedError
from engine.project import Project
from tests.support.projects import bird_project, dump, named

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows does not let go of open files")


@pytest.fixture(autouse=True)
def own_backups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rescue copies go to the test's folder."""
    monkeypatch.setenv("PROTOLEAF_BACKUPS", str(tmp_path / "backups"))


def replace_by_another(path: Path) -> None:
    """Replace an open project by a backup, as sync programs do."""
    other = path.with_name("incoming")
    shutil.copyfile(path, other)
    other.replace(path)


def rename_folder(path: Path) -> None:
    """Rename the project's folder."""
    path.parent.rename(path.parent.with_name("renamed"))


MOVES: dict[str, Callable[[Path], object]] = {
    "renamed": lambda path: path.rename(path.with_name("other.protoleaf")),
    "deleted": lambda path: path.unlink(),
    "replaced": replace_by_another,
    "folder renamed": rename_folder,
}


@pytest.mark.parametrize("how", MOVES)
def test_actions_stop_and_what_was_confirmed_is_rescued(tmp_path: Path, how: str) -> None:
    """Actions raise; a rescue copy has all acknowledged ones; the message says where."""
    (tmp_path / "home").mkdir()
    project, gull, images = bird_project(tmp_path / "home")
    project.labels.set(images[:3], gull)
    look = dump(project)
    MOVES[how](project.path)
    with pytest.raises(ProjectMovedError, match="nothing more is saved in it") as caught:
        project.labels.set(images[3:], gull)
    with pytest.raises(ProjectMovedError):
        project.labels.by_image()
    project.close()
    (rescued,) = [*tmp_path.glob("home/*(rescued *"), *tmp_path.glob("backups/*(rescued *")]
    assert str(rescued) in str(caught.value)
    with Project.open(rescued) as opened:
        assert dump(opened) == look
        assert opened.check() == []


@pytest.mark.slow
def test_the_renamed_file_holds_everything_confirmed(tmp_path: Path) -> None:
    """The renamed file has every acknowledged label, and its rescue copy is complete."""
    project, gull, images = bird_project(tmp_path, image_count=60)
    moved = tmp_path / "other.protoleaf"
    for number, image_id in enumerate(images):
        if number == 50:
            project.path.rename(moved)
        if number < 50:
            project.labels.set([image_id], gull)
        else:
            with pytest.raises(ProjectMovedError):
                project.labels.set([image_id], gull)
    copy = tmp_path / "copy.protoleaf"
    shutil.copyfile(moved, copy)
    project.close()
    for path in (moved, copy):
        with Project.open(path) as opened:
            assert len(opened.labels.by_image()) == 50
            assert opened.check() == []


def test_work_goes_on_when_the_file_is_put_back(tmp_path: Path) -> None:
    """Renaming the file back continues without loss."""
    project, gull, images = bird_project(tmp_path)
    moved = project.path.rename(tmp_path / "other.protoleaf")
    with pytest.raises(ProjectMovedError):
        project.labels.set(images, gull)
    moved.rename(project.path)
    project.labels.set(images, gull)
    project.close()
    assert not project.path.with_name(project.path.name + "-journal").exists()
    with Project.open(project.path) as again:
        assert len(again.labels.by_image()) == 4


def test_each_move_is_rescued_by_itself(tmp_path: Path) -> None:
    """After moving it back and away again, the second copy has the actions in between."""
    project, gull, images = bird_project(tmp_path)
    moved = tmp_path / "other.protoleaf"
    for number, image_id in enumerate(images[:2]):
        project.labels.set([image_id], gull)
        project.path.rename(moved)
        with pytest.raises(ProjectMovedError, match="rescued") as caught:
            project.labels.set(images, gull)
        message = str(caught.value)
        rescued = max(tmp_path.glob("*(rescued *"), key=lambda path: path.stat().st_mtime_ns)
        assert str(rescued) in message
        with Project.open(rescued, for_writing=False) as opened:
            assert len(opened.labels.by_image()) == number + 1
        moved.rename(project.path)
    project.close()


def test_a_file_that_is_overwritten_in_place_stops_actions(tmp_path: Path) -> None:
    """`cp backup project` changes the bytes of the same file: nothing more is written to it."""
    project, gull, images = bird_project(tmp_path)
    backup = tmp_path / "backup.protoleaf"
    shutil.copyfile(project.path, backup)
    project.labels.set(images[:2], gull)
    shutil.copyfile(backup, project.path)
    for _ in range(2):
        with pytest.raises(ProjectMovedError, match="another program wrote"):
            project.labels.set(images, gull)
    project.close()
    assert project.path.read_bytes() == backup.read_bytes()
    with Project.open(project.path) as opened:
        assert opened.labels.by_image() == {}
        assert opened.check() == []


def test_a_move_in_the_middle_of_an_action_takes_it_back(tmp_path: Path) -> None:
    """The rescue copy has the state before the action."""
    project, gull, images = bird_project(tmp_path)

    def act() -> None:
        with project.history.one_step(named("Two things")):
            project.labels.set(images[:2], gull)
            project.path.rename(tmp_path / "other.protoleaf")
            project.labels.set(images[2:], gull)

    with pytest.raises(ProjectMovedError):
        act()
    project.close()
    for path in (tmp_path / "other.protoleaf", *tmp_path.glob("*(rescued *")):
        with Project.open(path) as opened:
            assert opened.labels.by_image() == {}
            assert opened.check() == []


OPEN_FOR_WRITING = """
import sys
from pathlib import Path
from engine.errors import ProjectLockedError
from engine.project import Project
try:
    Project.open(Path(sys.argv[1]))
except ProjectLockedError:
    print("locked")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", ["same name", "hard link", "symbolic link", "new name", "side files deleted"]
)
def test_there_is_never_a_second_writer(tmp_path: Path, way: str) -> None:
    """The lock belongs to the file, not its name, in this process and in others."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images[:1], gull)
    other = tmp_path / "other.protoleaf"
    match way:
        case "same name":
            other = project.path
        case "hard link":
            os.link(project.path, other)
        case "symbolic link":
            other.symlink_to(project.path)
        case "new name":
            project.path.rename(other)
        case _:
            other = project.path
            for path in tmp_path.iterdir():
                if path != project.path and path.is_file():
                    path.unlink()
    with pytest.raises(ProjectLockedError):
        Project.open(other)
    answer = subprocess.run(
        [sys.executable, "-c", OPEN_FOR_WRITING, str(other)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout == "locked\n"
    if way == "new name":
        with pytest.raises(ProjectMovedError):
            project.close()
    else:
        project.labels.set(images, gull)
        project.close()
    with Project.open(other) as opened:
        assert len(opened.labels.by_image()) == (1 if way == "new name" else 4)


@pytest.mark.slow
def test_a_reader_in_this_process_leaves_the_lock(tmp_path: Path) -> None:
    """POSIX locks are released when any descriptor of the file closes; these are not."""
    project, _, _ = bird_project(tmp_path)
    project.path.read_bytes()
    Project.open(project.path, for_writing=False).close()
    assert Project.faults_of(project.path) == []
    answer = subprocess.run(
        [sys.executable, "-c", OPEN_FOR_WRITING, str(project.path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout == "locked\n"
    project.close()


def test_closing_a_deleted_project_rescues_it(tmp_path: Path) -> None:
    """Closing a deleted project saves what was acknowledged and notifies the user."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images, gull)
    project.path.unlink()
    with pytest.raises(ProjectMovedError):
        project.close()
    (rescued,) = tmp_path.glob("*(rescued *")
    with Project.open(rescued) as opened:
        assert len(opened.labels.by_image()) == 4
