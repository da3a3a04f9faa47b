"""Commands on a small disk filled up to the last bytes.

The file system is mounted for one process (`mounted_disk`), so this module runs as a program of its
own (see `run`). Each command is a fork of it, so modules are imported once.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.mounted_disk import leave_free, mount_small_disk

if TYPE_CHECKING:
    from engine.project import Label

DISK_BYTES = 32 << 20
HANG_S = 300
CRASHED = 70
PROJECT = "collection/shapes.protoleaf"
_REPOSITORY = Path(__file__).parents[2]
_CAN_MOUNT = (
    "import sys, pathlib; from tests.support.mounted_disk import mount_small_disk;"
    " mount_small_disk(pathlib.Path(sys.argv[1]), 1 << 20)"
)
_SQLITE = ("-wal", "-shm", "-journal")


@dataclass(frozen=True)
class Moment:
    """A command and the free space at its start.

    Attributes:
        arguments: of the command; `{disk}` is the disk's folder.
        free_bytes: free space.
        without: paths on the disk that are removed first, such as caches.
        again: whether a refused command is repeated with free space.
    """

    arguments: tuple[str, ...]
    free_bytes: int
    without: tuple[str, ...] = ()
    again: bool = True


@dataclass(frozen=True)
class Outcome:
    """Result of a moment.

    Attributes:
        status: exit status of the command; negative for a signal.
        output: its standard output and standard error.
        left: unexpected new files.
        lost: labels that are missing afterwards.
        checked: output of `check` afterwards; empty if the project is valid.
        again: output of the repeated command; empty if it succeeded.
    """

    status: int
    output: str
    left: tuple[str, ...] = ()
    lost: int = 0
    checked: str = ""
    again: str = ""


def is_permitted() -> bool:
    """Whether this machine permits mounting."""
    with tempfile.TemporaryDirectory() as folder:
        program = [sys.executable, "-c", _CAN_MOUNT, folder]
        return (
            subprocess.run(program, cwd=_REPOSITORY, capture_output=True, check=False).returncode
            == 0
        )


def run(whole: Path, moments: Sequence[Moment], scratch: Path) -> list[Outcome]:
    """Try every moment on a small disk with a copy of `whole`.

    Args:
        whole: initial content of the disk.
        moments: what to try.
        scratch: an empty folder.
    """
    disk, plan, outcomes = scratch / "disk", scratch / "plan.json", scratch / "outcomes.json"
    disk.mkdir()
    plan.write_text(json.dumps([asdict(moment) for moment in moments]), encoding="utf-8")
    program = [
        sys.executable,
        "-m",
        "tests.support.small_disk",
        str(whole),
        str(disk),
        str(plan),
        str(outcomes),
    ]
    done = subprocess.run(
        program,
        cwd=_REPOSITORY,
        env=_environment(disk),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Outcome(**fields) for fields in json.loads(outcomes.read_text(encoding="utf-8"))]


def _environment(disk: Path) -> dict[str, str]:
    """Environment that redirects all files to the disk."""
    places = {
        "PROTOLEAF_CACHE": "cache",
        "PROTOLEAF_BACKBONES": "backbones",
        "PROTOLEAF_SAMPLE": "sample",
    }
    places |= {"TMPDIR": "tmp", "HOME": "home", "XDG_CACHE_HOME": "home", "XDG_DATA_HOME": "home"}
    return {
        **os.environ,
        "ORT_DISABLE_TELEMETRY": "1",
        **{name: str(disk / folder) for name, folder in places.items()},
    }


def _main(whole: Path, disk: Path, plan: Path, outcomes: Path) -> None:
    mount_small_disk(disk, DISK_BYTES)
    moments = [
        Moment(**{**each, "arguments": tuple(each["arguments"]), "without": tuple(each["without"])})
        for each in json.loads(plan.read_text(encoding="utf-8"))
    ]
    _import_what_is_needed(moments)
    output_file = outcomes.with_suffix(".output")  # on another disk
    found = [_outcome(whole, disk, moment, output_file) for moment in moments]
    outcomes.write_text(json.dumps([asdict(each) for each in found]), encoding="utf-8")


def _import_what_is_needed(moments: Sequence[Moment]) -> None:
    if any(moment.arguments[0] in {"train", "experiment"} for moment in moments):
        import torch

        torch.set_num_threads(1)  # threads do not survive a fork


def _outcome(whole: Path, disk: Path, moment: Moment, output_file: Path) -> Outcome:
    _renew(whole, disk, moment)
    before, labels = _files(disk), _labels(disk / PROJECT)
    filler = leave_free(disk, moment.free_bytes)
    arguments = [argument.format(disk=disk) for argument in moment.arguments]
    status, output = _command(arguments, output_file)
    filler.unlink()
    left = tuple(
        sorted(
            name
            for name in _files(disk) - before
            if _should_not_be_there(name, is_done=status == 0)
        )
    )
    lost = len(labels - _labels(disk / PROJECT))
    checked = _output_unless_done(["check", str(disk / PROJECT)], output_file)
    again = "" if status == 0 or not moment.again else _output_unless_done(arguments, output_file)
    return Outcome(status, output, left, lost, checked, again)


def _renew(whole: Path, disk: Path, moment: Moment) -> None:
    for entry in disk.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    shutil.copytree(whole, disk, dirs_exist_ok=True)
    for folder in ("tmp", "home"):
        (disk / folder).mkdir()
    for name in moment.without:
        shutil.rmtree(disk / name)


def _files(disk: Path) -> set[str]:
    return {path.relative_to(disk).as_posix() for path in disk.rglob("*") if not path.is_dir()}


def _should_not_be_there(name: str, *, is_done: bool) -> bool:
    """Whether a new file is a partial output; caches and SQLite's files are permitted."""
    path = Path(name)
    if name.endswith((*_SQLITE, ".lock")) and not path.name.startswith("."):
        return False
    if (
        path.name.startswith(".")
        or name.startswith("tmp/")
        or path.suffix in {".part", ".partial", ".writing"}
    ):
        return True
    return not is_done and not name.startswith("cache/")


def _labels(project: Path) -> "set[tuple[int, Label]]":
    from engine.project import Project

    with Project.open(project, for_writing=False) as opened:
        return set(opened.labels.by_image().items())


def _output_unless_done(arguments: Sequence[str], output_file: Path) -> str:
    status, output = _command(arguments, output_file)
    return "" if status == 0 else f"{status}: {output}"


def _command(arguments: Sequence[str], output_file: Path) -> tuple[int, str]:
    """Run a command in a fork; return its exit status and output."""
    from engine.cli.main import main

    with output_file.open("w+b") as file:
        child = _forked(lambda: main(arguments), file.fileno())
        _, ended = os.waitpid(child, 0)
        file.seek(0)
        return os.waitstatus_to_exitcode(ended), file.read().decode("utf-8", "replace")


def _forked(work: Callable[[], int], output: int) -> int:
    child = os.fork()
    if child:
        return child
    status = CRASHED
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        signal.alarm(HANG_S)
        status = work()
    except BaseException:  # noqa: BLE001 (tested)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _main(*map(Path, sys.argv[1:]))
