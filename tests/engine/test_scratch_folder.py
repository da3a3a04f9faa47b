"""Scratch folders are private, removed with their block, also after a kill."""

import os
import stat
import tempfile
import threading
from pathlib import Path

import pytest

from engine.new_folder import PREFIX, ScratchFolder, clear_abandoned, scratch_folder
from tests.support.killed import killed_in_scratch_folder

posix_only = pytest.mark.skipif(
    os.name != "posix", reason="SIGKILL, owners and permissions are POSIX"
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_is_there_for_the_block(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as folder:
        (folder / "a").write_bytes(b"a")
        assert folder.parent == tmp_path
    assert names(tmp_path) == []


def test_it_goes_when_the_block_fails(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="stopped"), scratch_folder(tmp_path):
        raise ValueError("stopped")
    assert names(tmp_path) == []


def test_it_lies_with_the_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with scratch_folder() as folder:
        assert folder.parent == tmp_path
    assert names(tmp_path) == []


@posix_only
def test_it_is_private_and_so_is_the_folder_made_for_it(tmp_path: Path) -> None:
    with scratch_folder(tmp_path / "made") as folder:
        assert (
            stat.S_IMODE(folder.stat().st_mode)
            == stat.S_IMODE((tmp_path / "made").stat().st_mode)
            == 0o700
        )


@posix_only
def test_what_a_killed_process_left_goes_at_the_next_start(tmp_path: Path) -> None:
    killed_in_scratch_folder(tmp_path)
    assert len(names(tmp_path)) == 1
    clear_abandoned(tmp_path)
    assert names(tmp_path) == []


@posix_only
def test_the_next_one_clears_up_by_itself(tmp_path: Path) -> None:
    killed_in_scratch_folder(tmp_path)
    with scratch_folder(tmp_path) as folder:
        assert names(tmp_path) == [folder.name]


def test_those_in_use_stay(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as one, scratch_folder(tmp_path) as other:
        clear_abandoned(tmp_path)
        assert one.is_dir()
        assert other.is_dir()


@posix_only
def test_what_a_process_left_that_was_killed_before_it_locked_goes_later(tmp_path: Path) -> None:
    """Only if empty, hidden and older than a minute, since it is next to a user's files."""
    for name in (".protoleaf-old", ".protoleaf-new", ".protoleaf-full", "protoleaf-mine"):
        (tmp_path / name).mkdir()
    (tmp_path / ".protoleaf-full" / "mine.txt").write_text("mine")
    for name in (".protoleaf-old", ".protoleaf-full", "protoleaf-mine"):
        os.utime(tmp_path / name, (0, 0))
    clear_abandoned(tmp_path)
    assert names(tmp_path) == [".protoleaf-full", ".protoleaf-new", "protoleaf-mine"]


def test_folders_of_others_stay(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / ".owner").touch()
    (tmp_path / f"{PREFIX}link").symlink_to(victim)
    (tmp_path / f"{PREFIX}strange").mkdir()  # without a lock file
    clear_abandoned(tmp_path)
    assert (victim / ".owner").exists()
    assert names(tmp_path) == [f"{PREFIX}link", f"{PREFIX}strange", "victim"]


def test_it_can_be_removed_twice_and_from_another_thread(tmp_path: Path) -> None:
    folder = ScratchFolder(tmp_path)
    thread = threading.Thread(target=folder.remove)
    thread.start()
    thread.join()
    folder.remove()
    assert names(tmp_path) == []
