"""Which files exist: few system calls, any error."""

import os
from pathlib import Path

import pytest

from engine.errors import Cancelled
from engine.events import CancelToken, Progress
from engine.images.files_on_disk import missing_files, written_files


def write(folder: Path, names: list[str]) -> None:
    """Write empty files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(b"")


def test_files_in_small_and_large_folders(tmp_path: Path) -> None:
    """Relative and absolute paths, a folder in place of a file, a missing folder."""
    names = [f"{number}.jpg" for number in range(40)]
    write(tmp_path / "large", names)
    write(tmp_path / "small", ["a.jpg"])
    (tmp_path / "small" / "b.jpg").mkdir()
    paths = [
        *(f"large/{name}" for name in names),
        "large/40.jpg",
        "small/a.jpg",
        "small/b.jpg",
        "gone/a.jpg",
        "top.jpg",
        f"{tmp_path.as_posix()}/small/a.jpg",
        "D:/photos/a.jpg",
        "small/\0.jpg",
    ]
    assert [paths[place] for place in missing_files(tmp_path, paths)] == [
        "large/40.jpg",
        "small/b.jpg",
        "gone/a.jpg",
        "top.jpg",
        "D:/photos/a.jpg",
        "small/\0.jpg",
    ]


def test_links_count_as_what_they_lead_to(tmp_path: Path) -> None:
    """A dangling link is a missing image, also in a large folder."""
    write(tmp_path, [f"{number}.jpg" for number in range(20)])
    (tmp_path / "good.jpg").symlink_to(tmp_path / "1.jpg")
    (tmp_path / "bad.jpg").symlink_to(tmp_path / "none.jpg")
    paths = [*(f"{number}.jpg" for number in range(20)), "good.jpg", "bad.jpg"]
    assert missing_files(tmp_path, paths) == [21]


def test_a_share_that_is_gone_is_asked_once_for_each_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call may take seconds."""
    asked: list[str] = []

    def refuse(path: Path) -> os.stat_result:
        asked.append(path.name)
        raise OSError(112, "Host is down")

    monkeypatch.setattr(Path, "stat", refuse)
    paths = [f"share/{folder}/{number}.jpg" for folder in "ab" for number in range(100)]
    assert missing_files(tmp_path, paths) == list(range(200))
    assert asked == ["a", "b"]


def test_what_may_not_be_looked_at_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A permission error does not mean a missing file."""

    def refuse(_path: Path) -> os.stat_result:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", refuse)
    assert missing_files(tmp_path, ["locked/a.jpg"]) == []


def test_progress_and_cancel(tmp_path: Path) -> None:
    """Files are counted, and cancelling works between folders."""
    reported: list[Progress] = []
    missing_files(tmp_path, ["a/1.jpg", "b/1.jpg"], on_progress=reported.append)
    assert (reported[-1].done, reported[-1].total) == (2, 2)
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        missing_files(tmp_path, ["a/1.jpg"], cancel=cancel)


def test_it_rests_often_and_stops_within_a_folder(tmp_path: Path) -> None:
    """A large folder can be cancelled while sorting, listing and comparing."""
    names = [f"{number}.jpg" for number in range(1100)]
    write(tmp_path / "large", names)
    paths, rests = [f"large/{name}" for name in names], []
    assert missing_files(tmp_path, paths, rest=lambda: rests.append(1)) == []
    assert len(rests) == 3 * 2 + 1
    cancel, rests = CancelToken(), []

    def rest() -> None:
        rests.append(1)
        if len(rests) == 4:
            cancel.cancel()

    with pytest.raises(Cancelled):
        missing_files(tmp_path, paths, cancel=cancel, rest=rest)
    assert len(rests) == 4


def test_a_name_that_no_file_can_have_is_passed_over(tmp_path: Path) -> None:
    """Invalid paths in a project from elsewhere are skipped where changed files are looked for."""
    (tmp_path / "0.png").write_bytes(b"picture")
    found = written_files(tmp_path, ["a\0b", "0.png"], [1, 1], [1, 1])
    assert list(found) == [1]
