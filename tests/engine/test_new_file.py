"""New files are published atomically, never through a link, without leftovers."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from engine import new_file as new_file_module
from engine.new_file import (
    DRAFT_SUFFIX,
    clear_abandoned_drafts,
    create_file,
    is_stream,
    new_file,
    open_own,
    output_file,
    private_folder,
    write_file,
)

posix_only = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_new_file_appears_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with new_file(path, replace=False) as draft:
        draft.file.write(b"first")
        assert names(tmp_path) == [draft.path.name]
        assert draft.path.name.startswith(".")
        assert draft.path.name.endswith(DRAFT_SUFFIX)
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["a"]


def test_drafts_have_names_that_nobody_knows_before(tmp_path: Path) -> None:
    with (
        new_file(tmp_path / "a", replace=True) as one,
        new_file(tmp_path / "a", replace=True) as other,
    ):
        assert one.path != other.path


@pytest.mark.parametrize("replace", [True, False])
def test_a_failure_leaves_nothing_and_keeps_what_was_there(tmp_path: Path, replace: bool) -> None:
    path = tmp_path / "a"
    if replace:
        path.write_bytes(b"older")
    with pytest.raises(ValueError, match="stopped"), new_file(path, replace=replace) as draft:  # noqa: PT012
        draft.file.write(b"half")
        raise ValueError("stopped")
    assert names(tmp_path) == (["a"] if replace else [])
    assert not replace or path.read_bytes() == b"older"


def test_what_is_there_is_replaced_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"older")
    with pytest.raises(FileExistsError):
        write_file(path, b"newer", replace=False)
    assert path.read_bytes() == b"older"
    write_file(path, "nëwer")
    assert path.read_text(encoding="utf-8") == "nëwer"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("links_work", [True, False])
def test_what_came_in_between_is_kept(
    tmp_path: Path, links_work: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not links_work:

        def no_links(*_: object) -> None:
            raise PermissionError

        monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "a"
    with pytest.raises(FileExistsError), new_file(path, replace=False) as draft:  # noqa: PT012
        draft.file.write(b"ours")
        path.write_bytes(b"theirs")
    assert path.read_bytes() == b"theirs"
    assert names(tmp_path) == ["a"]


def test_file_systems_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", no_links)
    write_file(tmp_path / "a", b"whole", replace=False)
    assert (tmp_path / "a").read_bytes() == b"whole"
    assert names(tmp_path) == ["a"]


@posix_only
def test_files_and_folders_are_for_their_owner_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o755)
    ours = private_folder(theirs / "ours" / "deeper")
    write_file(ours / "a", b"")
    assert mode_of(ours / "a") == 0o600
    assert mode_of(ours) == mode_of(ours.parent) == 0o700
    assert mode_of(private_folder(theirs)) == 0o755


@posix_only
def test_a_link_is_replaced_itself(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    path = tmp_path / "a"
    path.symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_file(path, b"ours", replace=False)
    write_file(path, b"ours")
    assert victim.read_bytes() == b"precious"
    assert not path.is_symlink()


@posix_only
def test_no_link_is_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    path = tmp_path / "a"
    path.symlink_to(victim)
    with pytest.raises(FileExistsError):
        create_file(path)
    with pytest.raises(OSError, match="symbolic"):
        open_own(path, "ab")
    dangling = tmp_path / "b"
    dangling.symlink_to(tmp_path / "nowhere")
    with pytest.raises(OSError, match="symbolic"):
        open_own(dangling, "ab")
    assert victim.read_bytes() == b"precious"
    assert not (tmp_path / "nowhere").exists()


@posix_only
def test_an_output_replaces_a_link_and_not_what_it_leads_to(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    real = shared / "real.csv"
    real.write_bytes(b"older")
    real.chmod(0o640)
    path = tmp_path / "out.csv"
    path.symlink_to(real)
    with output_file(path) as file:
        file.write(b"newer")
    assert not path.is_symlink()
    assert path.read_bytes() == b"newer"
    assert real.read_bytes() == b"older"
    with output_file(real) as file:
        file.write(b"newest")
    assert (real.read_bytes(), mode_of(real)) == (b"newest", 0o640)
    assert names(shared) == ["real.csv"]


@posix_only
def test_a_pipe_without_a_reader_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_file_module, "READER_WAIT_S", 0.0)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="nothing reads"), output_file(tmp_path / "pipe"):
        pass


@posix_only
def test_what_is_open_is_written_into(tmp_path: Path) -> None:
    """As `-o /dev/stdout` with redirected output.

    Files elsewhere in /dev are files.
    """
    with (tmp_path / "redirected").open("wb") as opened:
        name = Path(f"/dev/fd/{opened.fileno()}")
        assert is_stream(name)
        with output_file(name) as file:
            file.write(b"rows")
    assert (tmp_path / "redirected").read_bytes() == b"rows"
    assert not is_stream(tmp_path / "redirected")


@posix_only
def test_an_output_goes_into_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with output_file(pipe) as file:
            file.write(b"rows")
        assert os.read(reading, 100) == b"rows"
    finally:
        os.close(reading)
    assert names(tmp_path) == ["pipe"]


@posix_only
def test_a_new_output_has_ordinary_permissions(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with output_file(tmp_path / "out.csv") as file:
            file.write(b"")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "out.csv") == 0o644


@posix_only
def test_the_draft_of_a_killed_process_goes_at_the_next_start(tmp_path: Path) -> None:
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom engine.new_file import new_file\n"
        "with new_file(Path(sys.argv[1]) / 'a', replace=True) as draft:\n"
        "    draft.file.write(b'half'); draft.file.flush(); print('written', flush=True); "
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"written\n"
        clear_abandoned_drafts(tmp_path)
        assert len(names(tmp_path)) == 1, "it is still being written"
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert len(names(tmp_path)) == 1
    clear_abandoned_drafts(tmp_path)
    assert names(tmp_path) == []
