"""Programs under a guard send nothing, and write nothing outside their own folders."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.worker.protocol import encode
from research.window.startup_report import REPORT_VARIABLE
from tests.support.collections import Collection
from tests.support.fresh_home import FreshHome, program
from tests.support.unread import embed_request

if TYPE_CHECKING:
    from tests.support.network_guard import Guarded

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the guard is Linux's own")

QUICK = [
    part
    for setting in (
        "iterations=2",
        "validation_episodes=2",
        "test_episodes=2",
        "validation_interval=2",
    )
    for part in ("--setting", setting)
]
LOOKS_UP = """
import ctypes, threading
library = ctypes.CDLL(None)
found = ctypes.c_void_p()
thread = threading.Thread(target=lambda: library.getaddrinfo(b"nobody.example", b"443", None, \
ctypes.byref(found)))
thread.start()
thread.join()
"""
ASKS = """
import sys
from engine.embedding.messages import EmbedImages
from engine.worker.client import run_in_child
from engine.worker.protocol import read
request = read(sys.argv[1].encode()).message(EmbedImages)
print(run_in_child(request, limit_s=120, command=sys.argv[2:]))
"""
CONNECTS = """
import socket
for kind in (socket.AF_INET, socket.AF_INET6):
    try:
        socket.socket(kind).close()
    except OSError as error:
        print(type(error).__name__)
"""
IN_A_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {LOOKS_UP!r}])"
LOADS_THE_RUNTIME = "import onnxruntime"
WRITES = "openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat"
WRITTEN = re.compile(r'\((?:AT_FDCWD, )?"(/[^"]*)"')
DRAWS = """
import sys
from pathlib import Path
from research.reports.drawing import new_figure, save, styled
with styled():
    figure = new_figure(2, 2)
    figure.add_subplot().set_title("Leaves")
    save(figure, Path(sys.argv[1]))
"""


@pytest.fixture
def home(tmp_path: Path) -> FreshHome:
    """An empty home."""
    return FreshHome.below(tmp_path)


@pytest.fixture
def lived_in(home: FreshHome, embedded_once: Collection, tmp_path: Path) -> Collection:
    """A project next to that home, with embeddings in its cache."""
    folder = tmp_path / "collection"
    shutil.copytree(embedded_once.folder, folder)
    shutil.copytree(embedded_once.caches.root, home.cache)
    return Collection(folder, type(embedded_once.caches)(home.cache))


def guarded(
    home: FreshHome, command: list[str], *, input_text: str = "", **variables: str
) -> "Guarded":
    """Run a program in a home under the guard."""
    from tests.support.network_guard import NoGuardError, run_guarded

    try:
        return run_guarded(
            command, home.environment(**variables), home.start, input_text=input_text
        )
    except NoGuardError as error:
        pytest.skip(f"no guard can be set up here: {error}")


def assert_quiet(home: FreshHome, done: "Guarded") -> None:
    """Check success, no external sockets, and no files outside our folders."""
    assert done.status == 0, done
    assert done.attempts == []
    assert home.strangers() == []


@pytest.mark.parametrize(
    "tries", [LOOKS_UP, CONNECTS, IN_A_CHILD], ids=["look-up", "sockets", "child"]
)
def test_the_guard_catches(home: FreshHome, tries: str) -> None:
    """A name lookup by libc in another thread, sockets of both families, and a child's."""
    done = guarded(home, [sys.executable, "-c", tries])
    assert done.status == 0, done
    assert done.attempts
    assert all("requested a socket of kind" in attempt for attempt in done.attempts)


def test_the_listing_catches_onnxruntime_left_alone(home: FreshHome) -> None:
    """ONNX Runtime without our settings writes a device id and events, which the listing shows.

    If a later version cannot be configured or stops it, this test fails.
    """
    done = guarded(home, [sys.executable, "-c", LOADS_THE_RUNTIME])
    assert done.status == 0, done
    assert any(name.endswith("onnxruntime/deviceid") for name in home.strangers()), home.strangers()


@pytest.mark.slow
def test_new_and_import(home: FreshHome, embedded_once: Collection, tmp_path: Path) -> None:
    """Making and filling a project."""
    project = tmp_path / "own" / "own.protoleaf"
    project.parent.mkdir()
    assert_quiet(home, guarded(home, program("new", project)))
    assert_quiet(home, guarded(home, program("import-images", project, embedded_once.unsorted)))
    assert all(path.name.startswith(project.name) for path in project.parent.iterdir())


@pytest.mark.slow
def test_embed(home: FreshHome, lived_in: Collection) -> None:
    """Reading and embedding all images."""
    shutil.rmtree(home.cache)
    assert_quiet(home, guarded(home, program("embed", lived_in.project, "--device", "cpu")))
    assert any(home.cache.rglob("*.sqlite"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        lambda each: ("classify", each.project, "-o", each.folder / "predictions.csv"),
        lambda each: ("evaluate", each.project, "--truth", each.truth),
        lambda each: ("train", each.project, "--depth", "propagation", *QUICK),
        lambda each: ("check", each.project),
        lambda _each: ("doctor",),
    ],
    ids=["classify", "evaluate", "train", "check", "doctor"],
)
def test_commands(
    home: FreshHome, lived_in: Collection, arguments: Callable[[Collection], tuple[str | Path, ...]]
) -> None:
    """Commands that load a model, torch, or try devices in children."""
    assert_quiet(home, guarded(home, program(*arguments(lived_in))))


@pytest.mark.slow
def test_worker(home: FreshHome, lived_in: Collection) -> None:
    """The window's worker embeds."""
    shutil.rmtree(home.cache)
    job = replace(embed_request(lived_in), cache=home.cache)
    done = guarded(
        home, [sys.executable, "-c", ASKS, encode(1, job).decode(), *map(str, program("worker"))]
    )
    assert_quiet(home, done)
    assert done.out.startswith("Done(result=EmbedSummary(embedded=")


@pytest.mark.slow
def test_window(home: FreshHome, lived_in: Collection, tmp_path: Path) -> None:
    """Opening, classifying, showing, scrolling and closing."""
    report = tmp_path / "report.json"
    assert_quiet(
        home,
        guarded(
            home,
            [sys.executable, "-m", "research.window", str(lived_in.project)],
            **{REPORT_VARIABLE: str(report)},
        ),
    )
    assert "loaded_s" in json.loads(report.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_figures(home: FreshHome, tmp_path: Path) -> None:
    """Matplotlib's font list is in our cache."""
    assert_quiet(home, guarded(home, [sys.executable, "-c", DRAWS, str(tmp_path / "leaves")]))
    assert any((home.cache / "libraries" / "matplotlib").iterdir())


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace is not installed: a second opinion alone"
)
def test_strace_agrees(home: FreshHome, lived_in: Collection, tmp_path: Path) -> None:
    """By system calls: no socket, and no file outside our folders."""
    shutil.rmtree(home.cache)
    noted = tmp_path / "calls"
    command = program("embed", lived_in.project, "--device", "cpu")
    traced = ["strace", "-f", "-qq", "-e", f"trace={WRITES},socket", "-o", str(noted), *command]
    subprocess.run(
        traced, env=home.environment(), cwd=home.start, check=True, capture_output=True, timeout=120
    )
    calls = [
        line
        for line in noted.read_text(encoding="utf-8", errors="replace").splitlines()
        if "= -1 E" not in line
    ]
    assert [
        line for line in calls if "socket(AF_" in line and not re.search(r"AF_(UNIX|NETLINK)", line)
    ] == []
    writing = [
        line for line in calls if "openat(" not in line or re.search(r"O_(CREAT|WRONLY|RDWR)", line)
    ]
    paths = [Path(found[1]) for line in writing if (found := WRITTEN.search(line))]
    assert any(path.is_relative_to(home.cache) for path in paths)
    ours = (home.cache, home.data, home.log)
    known = (*ours, home.temporary, lived_in.folder, Path("/dev"))
    elsewhere = [path for path in paths if not any(path.is_relative_to(each) for each in known)]
    above = [path for path in elsewhere if any(each.is_relative_to(path) for each in ours)]
    assert [path for path in elsewhere if path not in above] == []
