import inspect
import os
import sys
from pathlib import Path

import pytest

from engine.errors import Cancelled, StorageError
from engine.events import CancelToken, Progress
from engine.images.find_images import find_images, natural_key


def touched(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


def test_natural_order() -> None:
    """Numbers sort as numbers, case is ignored, in any script."""
    names = ["b10", "B9", "a", "9", "10", "鳥2", "鳥1", "²3"]
    assert sorted(names, key=natural_key) == ["9", "10", "a", "B9", "b10", "²3", "鳥1", "鳥2"]


def test_folders_are_searched_in_natural_order(tmp_path: Path) -> None:
    """A folder's images precede those of its sub-folders.

    Other and hidden files are skipped.
    """
    wanted = ["2.JPG", "10.png", "a/1.webp", "b/c/1.tif"]
    for name in [
        *wanted,
        "notes.txt",
        ".hidden.jpg",
        ".git/1.jpg",
        "__MACOSX/1.jpg",
        "Thumbs.db",
        "noextension",
    ]:
        touched(tmp_path / name)
    found = find_images([tmp_path])
    assert [file.path.relative_to(tmp_path).as_posix() for file in found.files] == wanted
    assert found.failures == []
    assert (found.left_out.by_kind(), found.left_out.others) == (
        [],
        2,
    )  # hidden ones do not count
    assert found.files[0].size_bytes == 1
    assert found.files[0].modified_ns == (tmp_path / "2.JPG").stat().st_mtime_ns


@pytest.mark.parametrize(
    "content",
    [b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n", b"RIFF\x24\x08\x00\x00WEBP", b"\x07\x00\x93"],
)
def test_named_files_are_taken_whatever_their_suffix(content: bytes, tmp_path: Path) -> None:
    """A file given by name is added once, even if its content is unknown."""
    odd = tmp_path / "scan.dat"
    odd.write_bytes(content)
    found = find_images([odd, touched(tmp_path / "a.jpg"), tmp_path])
    assert [file.path.name for file in found.files] == ["scan.dat", "a.jpg"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"image,class\n1.jpg,Gull\n", "text"),
        (b"%PDF-1.7", "a PDF document"),
        (b"", "empty"),
        (None, "a device or a pipe"),
    ],
)
def test_named_files_that_are_something_else_are_failures(
    content: bytes | None, kind: str, tmp_path: Path
) -> None:
    """Detected by the first bytes; a pipe is not read.

    In folders they are skipped.
    """
    odd = tmp_path / "truth.csv"
    if content is not None:
        odd.write_bytes(content)
    elif hasattr(os, "mkfifo"):
        os.mkfifo(odd)
    else:
        pytest.skip("there are no pipes here")
    found = find_images([odd, touched(tmp_path / "a.jpg")])
    assert [file.path.name for file in found.files] == ["a.jpg"]
    assert [failure.path for failure in found.failures] == [odd]
    assert kind in found.failures[0].reason
    assert find_images([tmp_path]).failures == []


def test_relative_paths_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found files have absolute paths."""
    touched(tmp_path / "a" / "1.jpg")
    monkeypatch.chdir(tmp_path)
    assert [file.path for file in find_images([Path("a")]).files] == [tmp_path / "a" / "1.jpg"]


def test_missing_folder_is_a_storage_error(tmp_path: Path) -> None:
    """A missing folder raises StorageError."""
    with pytest.raises(StorageError, match="not there"):
        find_images([tmp_path / "gone"])
    with pytest.raises(StorageError, match="class folders"):
        find_images([tmp_path, touched(tmp_path / "a.jpg")]).class_folders()


def test_a_name_that_the_system_refuses(tmp_path: Path) -> None:
    """A path that cannot be accessed raises StorageError."""
    with pytest.raises(StorageError, match="accessed"):
        find_images([tmp_path / ("long" * 100)])


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    """A link to a parent folder is followed once.

    A link to a folder elsewhere is followed.
    """
    touched(tmp_path / "in" / "1.jpg")
    touched(tmp_path / "else" / "2.jpg")
    try:
        (tmp_path / "in" / "loop").symlink_to(tmp_path / "in", target_is_directory=True)
        (tmp_path / "in" / "there").symlink_to(tmp_path / "else", target_is_directory=True)
    except OSError:
        pytest.skip("links are not allowed here")
    names = [
        file.path.relative_to(tmp_path).as_posix() for file in find_images([tmp_path / "in"]).files
    ]
    assert names == ["in/1.jpg", "in/there/2.jpg"]


def test_dead_link_is_listed(tmp_path: Path) -> None:
    """A dangling link is a failure with a reason."""
    try:
        (tmp_path / "dead.jpg").symlink_to(tmp_path / "nothing.jpg")
    except OSError:
        pytest.skip("links are not allowed here")
    found = find_images([tmp_path])
    assert not found.files
    assert [failure.path.name for failure in found.failures] == ["dead.jpg"]
    assert "cannot be read" in found.failures[0].reason


def test_folder_that_refuses_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unreadable folder is a failure; others are searched."""
    touched(tmp_path / "good" / "1.jpg")
    touched(tmp_path / "bad" / "2.jpg")
    scan = os.scandir

    def scan_or_refuse(folder: Path) -> object:
        if Path(folder).name == "bad":
            raise PermissionError(13, "Permission denied")
        return scan(folder)

    monkeypatch.setattr("engine.images.find_images.os.scandir", scan_or_refuse)
    found = find_images([tmp_path])
    assert [file.path.name for file in found.files] == ["1.jpg"]
    assert [(failure.path.name, failure.reason) for failure in found.failures] == [
        ("bad", "the folder cannot be read: Permission denied")
    ]


def test_class_folders(tmp_path: Path) -> None:
    """Folders become class paths; images at the top have none."""
    for name in (
        "Bird/Gull/1.jpg",
        "Bird/Gull/2.jpg",
        "Bird/3.jpg",
        "4.jpg",
        "空/鳥.jpg",
        "Empty/notes.txt",
    ):
        touched(tmp_path / name)
    folders = find_images([tmp_path]).class_folders()
    assert {folder.root for folder in folders} == {tmp_path}
    assert [(folder.names, [file.path.name for file in folder.files]) for folder in folders] == [
        ((), ["4.jpg"]),
        (("Bird",), ["3.jpg"]),
        (("Bird", "Gull"), ["1.jpg", "2.jpg"]),
        (("空",), ["鳥.jpg"]),
    ]


def test_files_of_other_kinds_are_counted(tmp_path: Path) -> None:
    """Pictures and videos by kind, most frequent first; sidecars and texts as a number."""
    names = [
        "a.PSD",
        "b.psd",
        "in/c.psd",
        "in/d.MOV",
        "in/deep/e.mov",
        "f.x3f",
        "f.xmp",
        "g.jpg",
        "h.json",
        "i",
    ]
    for name in names:
        touched(tmp_path / name)
    found = find_images([tmp_path])
    assert [file.path.name for file in found.files] == ["g.jpg"]
    assert found.left_out.by_kind() == [("PSD", 3), ("MOV", 2), ("X3F", 1)]
    assert (found.left_out.count, found.left_out.others, found.left_out.has_pictures) == (
        6,
        3,
        True,
    )


def test_a_photo_that_a_camera_stored_twice_is_taken_once(tmp_path: Path) -> None:
    """RAW next to JPEG or HEIC in the same folder.

    Given by name, or next to another format, it is added.
    """
    taken = ["1.JPG", "2.heic", "3.NEF", "4.dng", "4.png", "b/1.CR2"]
    for name in [*taken, "1.cr2", "2.DNG"]:
        touched(tmp_path / name)
    found = find_images([tmp_path])
    assert [file.path.relative_to(tmp_path).as_posix() for file in found.files] == taken
    assert (found.left_out.raw_doubles, found.left_out.count, found.left_out.others) == (2, 0, 0)
    assert [file.path.name for file in find_images([tmp_path / "1.cr2"]).files] == ["1.cr2"]


def test_progress_counts_files(tmp_path: Path) -> None:
    """Reported from the start, with the total at the end."""
    for number in range(5):
        touched(tmp_path / f"{number}.jpg")
    reported: list[Progress] = []
    find_images([tmp_path], on_progress=reported.append)
    assert (reported[0].done, reported[0].unit) == (0, "images")
    assert (reported[-1].done, reported[-1].total) == (5, 5)


def test_a_search_ends_at_the_next_file_after_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled before the next file, since each may take seconds on a slow share."""
    for number in range(5):
        touched(tmp_path / "in" / f"{number}.jpg")
    cancel, asked, stat = CancelToken(), list[str](), Path.stat

    def stat_and_stop(path: Path, **options: bool) -> os.stat_result:
        if path.suffix == ".jpg":
            asked.append(path.name)
            if len(asked) == 2:
                cancel.cancel()
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", stat_and_stop)
    with pytest.raises(Cancelled):
        find_images([tmp_path / "in"], cancel=cancel)
    assert asked == ["0.jpg", "1.jpg"]


def test_a_search_that_finds_nothing_yet_reports_now_and_then(tmp_path: Path) -> None:
    """Progress is reported periodically, not for each file."""
    for number in range(1000):
        touched(tmp_path / f"{number}.txt")
    reported: list[Progress] = []
    assert not find_images([tmp_path], on_progress=reported.append).files
    assert len(reported) < 100


@pytest.mark.slow
def test_folders_within_folders_within_folders(tmp_path: Path) -> None:
    """Deep nesting does not exhaust Python's stack."""
    deep = tmp_path / "/".join("d" * 200)
    touched(deep / "1.png")
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 100)
    try:
        found = find_images([tmp_path])
    finally:
        sys.setrecursionlimit(usual)
    assert [file.path for file in found.files] == [deep / "1.png"]


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_what_is_called_as_an_image_and_is_no_file(tmp_path: Path) -> None:
    """Pipes and links to devices are failures and not opened."""
    (tmp_path / "sound.png").write_bytes(b"1")
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "zero.jpg").symlink_to("/dev/zero")
    found = find_images([tmp_path])
    assert [file.path.name for file in found.files] == ["sound.png"]
    assert [failure.path.name for failure in found.failures] == ["pipe.png", "zero.jpg"]
    assert all("this is a device or a pipe" in failure.reason for failure in found.failures)
    assert not find_images([tmp_path / "pipe.png"]).files
