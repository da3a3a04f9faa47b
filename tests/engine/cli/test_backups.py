"""`backup`, `backups list`, `backups folder`, `restore`, and backups before other commands."""

import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from engine.collection.importing import import_images
from engine.collection.importing.import_graph import import_graph
from engine.config import BACKUPS_VARIABLE
from engine.project import BackupReason, Project
from engine.project.clock import present_time
from tests.support.backups import Clock, all_backups, backups_with, labelled_birds
from tests.support.command_line import done, protoleaf, refused
from tests.support.images import write_jpeg


@pytest.fixture
def birds(tmp_path: Path) -> Path:
    """A closed project: two classes, four images, two labels."""
    project, *_ = labelled_birds(tmp_path)
    project.close()
    return project.path


def label_all(path: Path) -> None:
    with Project.open(path, is_backed_up=False) as project:
        project.labels.set([record.image_id for record in project.images.records()], 2)


def labels_of(path: Path) -> int:
    with Project.open(path, for_writing=False) as project:
        assert project.check() == []
        return len(project.labels.by_image())


@pytest.mark.slow
def test_back_up_work_on_and_go_back(birds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts, changes since, restoring by number, and the safety backup in the list."""
    output = done(capsys, "backup", birds).out
    assert output.startswith("Backed up 2 classes, 4 images and 2 labels to ")
    label_all(birds)
    (row,) = done(capsys, "backups", "list", birds, "--json").fields["backups"]
    assert (row["classes"], row["images"], row["labels"], row["reason"], row["fault"]) == (
        2,
        4,
        2,
        "on request",
        None,
    )
    since = row["changed_since"]
    assert (since["labels_added"], since["labels_changed"], since["steps"]) == (2, 0, 1)
    assert since["texts"] == ["Labelled 4 images as Gull"]
    assert "2 labels, in 1 action" in done(capsys, "backups", "list", birds).out
    answer = done(capsys, "restore", birds, "1", "--yes", "--json").fields
    assert (answer["restored"], answer["backup"], answer["was_damaged"]) == (
        True,
        row["path"],
        False,
    )
    assert labels_of(birds) == 2
    first, second = done(capsys, "backups", "list", birds, "--json").fields["backups"]
    assert (first["path"], first["reason"], first["labels"]) == (
        answer["kept"],
        "before restoring",
        4,
    )
    assert first["changed_since"]["steps_undone"] == 1
    assert second["path"] == row["path"]


def test_a_backup_is_meant_by_file_number_or_time(
    birds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = done(capsys, "backup", birds, "--json").fields
    when = made["when"][:19]
    for meant in (when, made["path"]):
        assert done(capsys, "restore", birds, meant, "--json").fields["backup"] == made["path"]
    assert "no such backup: expected a file, 1 to" in refused(capsys, "restore", birds, "99")
    assert "no such backup" in refused(capsys, "restore", birds, "yesterday")
    assert "no such backup" in refused(capsys, "restore", birds, birds.parent / "nothing.protoleaf")
    assert "several backups match" in refused(capsys, "restore", birds, when[:13])


def test_on_a_terminal_it_asks(
    birds: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answering no changes nothing; without a terminal there is no question."""
    done(capsys, "backup", birds)
    label_all(birds)
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda *_args, **_options: False)
    answer = protoleaf(capsys, "restore", birds, "1")
    assert (answer.status, answer.out) == (0, "Nothing was changed.\n")
    assert "is backed up first" in answer.err
    assert labels_of(birds) == 4


def test_a_backup_of_an_open_project(birds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An open project can be backed up but not restored."""
    with Project.open(birds) as project:
        project.labels.set([1], 1)
        made = done(capsys, "backup", birds, "--json").fields
        assert made["labels"] == 2
        assert "open in another window" in refused(capsys, "restore", birds, made["path"])


def test_backups_to_another_folder(
    birds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--to` once, `backups folder` permanently; a missing folder is refused."""
    stick = tmp_path / "stick"
    assert "is missing" in refused(capsys, "backup", birds, "--to", stick)
    assert "is missing" in refused(capsys, "backups", "folder", birds, stick)
    stick.mkdir()
    once = Path(done(capsys, "backup", birds, "--to", stick, "--json").fields["path"])
    assert once.parent == stick
    usual = Path(done(capsys, "backups", "folder", birds, "--json").fields["folder"])
    chosen = Path(done(capsys, "backups", "folder", birds, stick, "--json").fields["folder"])
    assert chosen == stick / usual.name
    assert Path(done(capsys, "backup", birds, "--json").fields["path"]).parent == chosen
    assert str(usual) in done(capsys, "backups", "folder", birds, "--usual").out
    assert "exclude each other" in refused(
        capsys, "backups", "folder", birds, stick, "--usual", status=2
    )


def test_a_damaged_project_still_has_its_list(
    birds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done(capsys, "backup", birds)
    birds.write_bytes(b"rotten")
    (row,) = done(capsys, "backups", "list", birds, "--json").fields["backups"]
    assert row["labels"] == 2
    assert "changed_since" not in row
    assert done(capsys, "restore", birds, "1", "--json").fields["was_damaged"] is True
    assert labels_of(birds) == 2


@pytest.fixture
def twin(birds: Path) -> Path:
    """Another project of the same name with a newer backup; the first has a backup, too."""
    (birds.parent / "b").mkdir()
    with Project.open(birds, is_backed_up=False) as project:
        backups_with(project, Clock(present_time() - timedelta(minutes=2))).take()
    other, *_ = labelled_birds(birds.parent / "b", images=7)
    with other:
        backups_with(other, Clock(present_time() - timedelta(minutes=1))).take()
    return other.path


def put_rot_in_place_of(path: Path) -> None:
    """Replace a project by a file without identity."""
    (path.parent / "draft").write_bytes(b"rotten")
    (path.parent / "draft").replace(path)


@pytest.mark.slow
def test_a_damaged_project_is_restored_from_its_own(
    birds: Path, twin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers count its own backups.

    Those of another project are shown and restored only on request.
    """
    birds.write_bytes(b"rotten")
    (row,) = done(capsys, "backups", "list", birds, "--json").fields["backups"]
    assert (row["images"], row["is_own"], row["taken_of"]) == (4, True, str(birds))
    both = done(capsys, "backups", "list", birds, "--other", "--json").fields["backups"]
    assert [(row["images"], row["is_own"]) for row in both] == [(4, True), (7, False)]
    assert (
        f"Of another project, {both[1]['project_id'][:8]}, taken of {twin}:"
        in done(capsys, "backups", "list", birds, "--other").out
    )
    assert "backup of another project" in refused(capsys, "restore", birds, "2", "--yes")
    assert "no such backup" in refused(capsys, "restore", birds, "3", "--yes", "--other")
    message = refused(capsys, "restore", birds, both[1]["path"], "--yes")
    assert "backup of another project: found 2 classes, 7 images, 4 labels, of " in message
    assert f"taken of {twin}" in message
    done(capsys, "restore", birds, "1", "--yes")
    with Project.open(birds, for_writing=False) as project:
        assert len(project.images.records()) == 4


def test_a_stranger_is_restored_when_it_is_asked_for(
    birds: Path, twin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    birds.write_bytes(b"rotten")
    done(capsys, "backups", "list", birds, "--other")
    done(capsys, "restore", birds, "2", "--yes", "--other")
    with Project.open(birds, for_writing=False) as project:
        assert len(project.images.records()) == 7


@pytest.mark.slow
def test_where_nobody_can_be_sure_a_number_alone_is_refused(
    birds: Path, twin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list has the project of each, those of the path first.

    A number or time is refused with counts, date and path.
    """
    put_rot_in_place_of(birds)
    message = done(capsys, "backups", "list", birds).out
    assert "no longer identifies its project" in message
    assert message.index(f"taken of {birds}:") < message.index(f"taken of {twin}:")
    rows = done(capsys, "backups", "list", birds, "--json").fields["backups"]
    assert [(row["images"], row["is_own"]) for row in rows] == [(4, None), (7, None)]
    for meant in ("1", "2", rows[1]["when"][:19]):
        message = refused(capsys, "restore", birds, meant, "--yes")
        assert "the damaged project cannot be identified" in message
        assert "add --other" in message
    assert "2 classes, 7 images, 4 labels, of " in message
    assert f"taken of {twin}, in {rows[1]['path']}" in message
    assert birds.read_bytes() == b"rotten"
    done(capsys, "restore", birds, rows[0]["path"], "--yes")
    with Project.open(birds, for_writing=False) as project:
        assert len(project.images.records()) == 4


def test_a_number_is_that_of_the_list_that_was_shown(
    birds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If a backup was added after the list was shown, a number is refused."""
    first = done(capsys, "backup", birds, "--json").fields
    done(capsys, "backups", "list", birds)
    label_all(birds)
    done(capsys, "backup", birds)
    message = refused(capsys, "restore", birds, "1", "--yes")
    assert "has changed since it was shown" in message
    assert Path(first["path"]).name in message
    assert labels_of(birds) == 4
    done(capsys, "backups", "list", birds)
    assert done(capsys, "restore", birds, "2", "--json").fields["backup"] == first["path"]


def test_a_date_in_the_future_is_marked(birds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not the newest, and a time selects exactly one."""
    with Project.open(birds, is_backed_up=False) as project:
        wrong = backups_with(project, Clock(present_time() + timedelta(days=900))).take()
        project.classes.add("Owl")
        project.backups.take()
    assert "dated in the future" in done(capsys, "backups", "list", birds).out.splitlines()[-2]
    rows = done(capsys, "backups", "list", birds, "--json").fields["backups"]
    assert [row["is_dated_in_future"] for row in rows] == [False, True]
    meant = f"{wrong.when:%Y-%m-%d %H:%M:%S}"
    assert done(capsys, "restore", birds, meant, "--json").fields["backup"] == str(wrong.path)


def test_a_damaged_backup_is_listed_as_such(
    birds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A damaged one does not affect the list or the others."""
    bad = Path(done(capsys, "backup", birds, "--json").fields["path"])
    bad.write_bytes(bad.read_bytes()[:-5000])
    done(capsys, "backup", birds)
    assert [
        bool(row["fault"])
        for row in done(capsys, "backups", "list", birds, "--json").fields["backups"]
    ] in (
        [False, True],
        [True, False],
    )
    assert "damaged: " in done(capsys, "backups", "list", birds).out
    assert "damaged and was not restored" in refused(capsys, "restore", birds, bad)


def test_no_project_and_no_backup(
    tmp_path: Path, birds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no project file" in refused(capsys, "backup", tmp_path / "none.protoleaf")
    assert "neither a project file" in refused(
        capsys, "backups", "list", tmp_path / "none.protoleaf"
    )
    assert "There are no backups" in done(capsys, "backups", "list", birds).out


@pytest.mark.slow
def test_a_merge_into_a_graph_is_preceded_by_a_backup(
    birds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the previous graph; importing into an empty project makes none."""
    classes = tmp_path / "classes.csv"
    classes.write_text("child,parent\nOwl,Bird\n", encoding="utf-8")
    done(capsys, "new", tmp_path / "empty.protoleaf")
    done(capsys, "import-graph", tmp_path / "empty.protoleaf", classes)
    with Project.open(tmp_path / "empty.protoleaf", is_backed_up=False) as empty:
        assert all_backups(empty) == []
    done(capsys, "import-graph", birds, classes)
    with Project.open(birds) as project:
        (merge,) = [
            backup for backup in all_backups(project) if backup.reason is BackupReason.MERGE
        ]
        assert (merge.classes, len(project.classes.graph)) == (2, 3)


def test_many_labels_are_preceded_by_a_backup(
    birds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By class and by folders; not for images without labels and few labels."""
    monkeypatch.setattr(import_images, "MANY", 2)
    monkeypatch.setattr("engine.project.images.MANY", 2)
    for number in range(9):
        folder = tmp_path / "in" / f"{number // 3}" / "Gull"
        folder.mkdir(parents=True, exist_ok=True)
        write_jpeg(folder / f"{number}.jpg", seed=number)
    (tmp_path / "few" / "Gull").mkdir(parents=True)
    write_jpeg(tmp_path / "few" / "Gull" / "10.jpg", seed=10)
    done(capsys, "import-images", birds, tmp_path / "in" / "0")
    done(capsys, "import-images", birds, tmp_path / "few", "--folders-as-classes")
    with Project.open(birds, is_backed_up=False) as project:
        assert BackupReason.IMPORT not in [backup.reason for backup in all_backups(project)]
    done(capsys, "import-images", birds, tmp_path / "in" / "1", "--class", "Gull")
    done(capsys, "import-images", birds, tmp_path / "in" / "2", "--folders-as-classes")
    with Project.open(birds, is_backed_up=False) as project:
        kept = [backup for backup in all_backups(project) if backup.reason is BackupReason.IMPORT]
        assert sorted(backup.labels for backup in kept) == [3, 6]


def test_an_import_goes_on_when_no_backup_can_be_made(
    birds: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It can be undone, so a full backup disk is only reported, once."""
    done(capsys, "backup", birds)  # the daily one
    classes = tmp_path / "classes.csv"
    classes.write_text("child,parent\nOwl,Bird\n", encoding="utf-8")
    (tmp_path / "taken").touch()
    with Project.open(birds) as project:
        monkeypatch.setenv(BACKUPS_VARIABLE, str(tmp_path / "taken"))
        finished = import_graph(project, classes)
    assert finished.classes_added == 1
    assert "folder for backups cannot be made" in finished.change.notice
    assert [record.message for record in caplog.records] == [
        f"no backup was made before merging a class list: {finished.change.notice}"
    ]


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
@pytest.mark.parametrize("words", [("backup",), ("backups", "list"), ("restore",)])
def test_a_link_to_itself(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, as for any unreadable file."""
    project = tmp_path / "loop.protoleaf"
    project.symlink_to(project.name)
    refused(capsys, *words, project, *(["1", "--yes"] if words == ("restore",) else []))
