"""Invalid files to merge: our own, unrelated, damaged, newer, older, open, huge.

They are never changed.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import (
    GraphError,
    InputError,
    ProjectDamagedError,
    ProjectMissingError,
    ProjectReadOnlyError,
    ProjectTooNewError,
    ProtoleafError,
)
from engine.graph import group_edits
from engine.merging.merge import merge
from engine.project import Project
from tests.support.copies import labels_of, opened, stranger, two_copies
from tests.support.fifth_version import write_fifth_version
from tests.support.fourth_version import write_fourth_version
from tests.support.projects import change_file, dump, found_files, new_project, write_first_version
from tests.support.seventh_version import write_seventh_version
from tests.support.sixth_version import write_sixth_version
from tests.support.third_version import write_third_version


@pytest.fixture
def ours(tmp_path: Path) -> Project:
    return two_copies(tmp_path)[0]


def refused(ours: Project, other: Path, kind: type[ProtoleafError]) -> str:
    """Check that a merge is refused and changes nothing on both sides; return the message."""
    before = dump(ours), other.read_bytes() if other.is_file() else b""
    with pytest.raises(kind) as found:
        merge(ours, other)
    assert (dump(ours), other.read_bytes() if other.is_file() else b"") == before
    return str(found.value)


def test_our_own_file_under_any_name(ours: Project, tmp_path: Path) -> None:
    """By path, symbolic link and hard link."""
    (tmp_path / "link.protoleaf").symlink_to(ours.path)
    os.link(ours.path, tmp_path / "hard.protoleaf")
    for name in (ours.path.name, "link.protoleaf", "hard.protoleaf"):
        assert "cannot be merged with itself" in refused(ours, tmp_path / name, InputError)


def test_a_strangers_project(ours: Project, tmp_path: Path) -> None:
    """Without common images and classes: one line."""
    other = new_project(tmp_path, "stars.protoleaf")
    other.classes.add("Nebula")
    other.images.add(found_files(tmp_path / "sky", 3, start=500))
    message = refused(ours, other.path, InputError)
    assert message.startswith(
        "the two projects have nothing in common: expected the same images, or classes"
    )


def test_what_is_no_sound_project_of_this_version(ours: Project, tmp_path: Path) -> None:
    """Missing, a folder, a text, truncated, with a broken row, newer."""
    refused(ours, tmp_path / "nowhere.protoleaf", ProjectMissingError)
    refused(ours, tmp_path, ProtoleafError)
    text = tmp_path / "text.protoleaf"
    text.write_text("no project\n" * 200)
    refused(ours, text, ProjectDamagedError)
    other = stranger(tmp_path / "cleo")
    other.labels.set([1], None)
    other.close()
    whole = other.path.read_bytes()
    other.path.write_bytes(whole[: len(whole) // 2])
    refused(ours, other.path, ProjectDamagedError)
    other.path.write_bytes(whole)
    change_file(other.path, "UPDATE journal_chunk SET row_changes = 'x'")
    refused(ours, other.path, ProjectDamagedError)
    other.path.write_bytes(whole)
    change_file(other.path, "PRAGMA user_version = 99")
    refused(ours, other.path, ProjectTooNewError)


def test_a_project_that_is_only_read(tmp_path: Path) -> None:
    """It cannot be merged into."""
    ada, ben = two_copies(tmp_path)
    ben.labels.set([5], 2)
    ada.close()
    with Project.open(ada.path, for_writing=False) as reading, pytest.raises(ProjectReadOnlyError):
        merge(reading, ben.path)


WRITERS: tuple[Callable[[Path], object], ...] = (
    write_first_version,
    write_third_version,
    write_fourth_version,
    write_fifth_version,
    write_sixth_version,
    write_seventh_version,
)


@pytest.mark.parametrize("write", WRITERS)
def test_copies_of_older_versions(
    write: Callable[[Path], object], ours: Project, tmp_path: Path
) -> None:
    """They are migrated in a copy and unchanged."""
    path = tmp_path / "older.protoleaf"
    write(path)
    with Project.open(path, for_writing=False) as older:
        name = older.classes.graph.name(older.classes.graph.roots()[0])
        labels = len(older.labels.by_image())
    if name not in {ours.classes.graph.name(each) for each in ours.classes.graph.classes()}:
        ours.classes.add(name)
    before = path.read_bytes()
    done = merge(ours, path)
    assert done.plan.classes.matched >= 1
    assert done.labelled + len(done.conflicts) <= labels
    assert (path.read_bytes(), ours.check()) == (before, [])


def test_an_older_copy_of_this_very_project(tmp_path: Path) -> None:
    """Migrated here but not there, it is the same project without changes."""
    path, there = tmp_path / "here.protoleaf", tmp_path / "there.protoleaf"
    for each in (path, there):
        write_seventh_version(each)
    there.write_bytes(path.read_bytes())
    done = merge(opened(path), there)
    assert (done.plan.is_copy, done.change.is_empty, done.conflicts) == (True, True, ())


WRITER = """
import sys
from pathlib import Path
from engine.project import Project
with Project.open(Path(sys.argv[1]), is_backed_up=False) as project:
    project.labels.set([4], 2, who="ben")
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_a_copy_that_is_open_in_another_program(tmp_path: Path) -> None:
    """Its last saved state is read, and the other program continues."""
    ada, ben = two_copies(tmp_path)
    ben.close()
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(ben.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        assert merge(ada, ben.path).labelled == 1
        writer.communicate("")
    assert writer.returncode == 0
    assert labels_of(ada)[4] == ("Bird/Gull", "ben")


@pytest.mark.slow
def test_ten_thousand_new_classes(ours: Project, tmp_path: Path) -> None:
    """Within seconds, in one step."""
    other = stranger(tmp_path / "cleo")
    other.classes.add("Bird")
    other.classes.edit(
        lambda graph: [graph.add_class(f"Class {number}", [1]) for number in range(10_000)]
    )
    before = dump(ours)
    assert merge(ours, other.path).classes_added == 10_000
    ours.history.undo()
    assert dump(ours) == before


def test_more_classes_than_a_project_takes(
    ours: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the sum exceeds the limit nothing is merged."""
    other = stranger(tmp_path / "cleo")
    other.classes.add("Bird")
    other.classes.edit(
        lambda graph: [graph.add_class(f"Class {number}", [1]) for number in range(50)]
    )
    monkeypatch.setattr(group_edits, "MOST_CLASSES", 20)
    refused(ours, other.path, GraphError)


def test_odd_names_and_images_on_both_sides(ours: Project, tmp_path: Path) -> None:
    """Paths of invalid Unicode, names with separators, and labels without author."""
    other = stranger(tmp_path / "cleo")
    _, odd = other.classes.add("a/b\\c")
    other.classes.add("Bird")
    files = found_files(tmp_path / "cleo", 1, start=900)
    other.images.add([type(files[0])(tmp_path / "cleo" / os.fsdecode(b"m\xf6we.jpg"), 5, 5)])
    other.labels.set([1, 13], odd, who=" ")
    assert merge(ours, other.path).labelled == 0
    other.labels.set([3], odd, who="名")
    assert merge(ours, other.path).labelled == 1
    assert ours.check() == []
