"""Every command and format with the deepest classes and with exponentially many paths."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from engine.config import CacheFolders
from engine.exporting.export_graph import GRAPH_FORMATS
from engine.interchange.labelled_images.formats import FORMATS, READ_FORMATS
from tests.architecture.test_texts import commands
from tests.support.collections import Collection, write_graph
from tests.support.command_line import done
from tests.support.deep_graphs import ENDS, SHOTS, chain, comb, deep_collection, ladder
from tests.support.detector_networks import write_detector
from tests.support.other_backbones import own_backbone

MOST_S = 15
"""CPU seconds that a command may take.

Typically one or two, and ten for training.
"""
MODEL = "model"
MOST_BYTES = 40_000_000
"""Of an export; the first thousand paths of the ladder take half of it."""
LABELS = len(ENDS) * SHOTS + 1
SHAPES = {"chain": chain, "ladder": ladder, "comb": comb}
QUICK = ("iterations=2", "validation_episodes=1", "test_episodes=1", "validation_interval=1")
Arguments = Callable[[Collection], tuple[str | Path, ...]]


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Collection]:
    """Collections that tests copy."""

    @cache
    def made(shape: str) -> Collection:
        folder = tmp_path_factory.mktemp(shape)
        return deep_collection(
            folder / "collection", CacheFolders(folder / "cache"), SHAPES[shape]()
        )

    return made


@pytest.fixture(params=("chain", "ladder"))
def deep(
    request: pytest.FixtureRequest, made_once: Callable[[str], Collection], tmp_path: Path
) -> Collection:
    """A copy of a project, with its class list and the true classes of unlabelled images."""
    once = made_once(request.param)
    shutil.copytree(once.caches.root, tmp_path / "cache")
    shutil.copytree(once.folder, tmp_path / "collection")
    copy = Collection(tmp_path / "collection", CacheFolders(tmp_path / "cache"))
    write_graph(copy.graph, {ENDS[0]: ["end new"]})
    truth = "".join(f"{end} {SHOTS}.png,{end}\n" for end in ENDS)
    copy.truth.write_text(f"image,class\n{truth}", encoding="utf-8")
    return copy


WITHOUT_PROJECT = frozenset(
    {
        "new",
        "sample",
        "doctor",
        "menu-entry",
        "unpack",
        *(f"backbone {each}" for each in ("list", "convert", "show", "add", "remove")),
    }
)
"""Commands without a project; those of `benchmark` and `experiment` make their own."""

ON_A_PROJECT: dict[str, Arguments] = {
    "check": lambda deep: (deep.project,),
    "import-graph": lambda deep: (deep.project, deep.graph),
    "import-images": lambda deep: (deep.project, deep.unsorted, "--class", ENDS[0]),
    "embed": lambda deep: (deep.project, "--device", "cpu"),
    "classify": lambda deep: (deep.project, "-o", deep.folder / "out.csv", "--all"),
    "evaluate": lambda deep: (deep.project, "--truth", deep.truth),
    "report": lambda deep: (deep.project, deep.folder / "out.html", "--truth", deep.truth),
    "export": lambda deep: (deep.project, "csv", deep.folder / "out.csv", "--images", "all"),
    "export-graph": lambda deep: (deep.project, deep.folder / "out.json"),
    "import-labels": lambda deep: (deep.project, deep.truth),
    "merge": lambda deep: (
        deep.project,
        shutil.copy(deep.project, deep.folder / "other.protoleaf"),
    ),
    "train": lambda deep: (
        deep.project,
        *(part for setting in QUICK for part in ("--setting", setting)),
    ),
    "versions": lambda deep: (deep.project,),
    "relink": lambda deep: (deep.project, "--dry-run"),
    "suggest": lambda deep: (deep.project,),
    "images": lambda deep: (deep.project, "--search", f"class:{ENDS[0]}"),
    "map": lambda deep: (deep.project, "-o", deep.folder / "map.csv"),
    "replaced": lambda deep: (deep.project,),
    "fields": lambda deep: (deep.project,),
    "clock": lambda deep: (deep.project,),
    "detect": lambda deep: (
        deep.project,
        "--model",
        write_detector(deep.folder / "discs.onnx"),
        "--device",
        "cpu",
    ),
    "audit": lambda deep: (deep.project, "--draw", "20"),
    "check-labels": lambda deep: (deep.project,),
    "similar": lambda deep: (deep.project, next(deep.unsorted.iterdir()), "--device", "cpu"),
    "duplicates": lambda deep: (deep.project,),
    "policy": lambda deep: (deep.project, ENDS[0], "--no-broader"),
    "what-if": lambda deep: (deep.project, "--merge", f"{ENDS[0]}={ENDS[1]}"),
    "backup": lambda deep: (deep.project,),
    "restore": lambda deep: (
        deep.project,
        shutil.copy(deep.project, deep.folder / "copy.protoleaf"),
        "--yes",
    ),
    "backups list": lambda deep: (deep.project,),
    "backups folder": lambda deep: (deep.project,),
    "backbone use": lambda deep: (
        deep.project,
        own_backbone(deep.folder / "own"),
        "--yes",
        "--device",
        "cpu",
    ),
}
"""Arguments of each command."""


@contextmanager
def soon() -> Iterator[None]:
    """Limit the CPU time of a block, independent of other load."""
    started_s = time.process_time()
    yield
    assert time.process_time() - started_s < MOST_S


def test_every_command_is_here() -> None:
    """New commands must be tested here, or work without a project."""
    groups = ("benchmark ", "experiment ")
    assert {
        name for name in commands() if not name.startswith(groups)
    } == ON_A_PROJECT.keys() | WITHOUT_PROJECT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deep", "command"),
    [
        *(("chain", command) for command in ON_A_PROJECT),
        ("ladder", "what-if"),
        ("comb", "evaluate"),
        ("comb", "report"),
    ],
    indirect=["deep"],
)
def test_commands(command: str, deep: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    """All succeed within the time."""
    arguments = ON_A_PROJECT[command](deep)
    with soon():
        assert done(capsys, *command.split(), *arguments).out


@pytest.mark.slow
@pytest.mark.parametrize("format_name", [*FORMATS, MODEL])
def test_exports_come_back(
    format_name: str, deep: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels are exported and, where the format is imported, found with the same class."""
    out = deep.folder / f"out{FORMATS[format_name].suffix if format_name in FORMATS else ''}"
    with soon():
        assert done(capsys, "export", deep.project, format_name, out, "--images", "verified").out
    assert size_of(out) < MOST_BYTES
    if format_name in READ_FORMATS:
        with soon():
            found = done(capsys, "import-labels", deep.project, out, "--dry-run", "--json").fields
        assert (found["already_there"], found["problems"], found["conflicts"]) == (LABELS, [], [])


def size_of(out: Path) -> int:
    """Size of a file or folder in bytes."""
    return sum(each.stat().st_size for each in (out, *out.rglob("*")) if each.is_file())


@pytest.mark.slow
@pytest.mark.parametrize("format_name", GRAPH_FORMATS)
def test_graphs_come_back(
    format_name: str, deep: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """An exported graph imports with every class at its place."""
    out = deep.folder / f"out{GRAPH_FORMATS[format_name].suffix}"
    with soon():
        assert done(capsys, "export-graph", deep.project, out).out
    if GRAPH_FORMATS[format_name].comes_back:
        with soon():
            found = done(capsys, "import-graph", deep.project, out, "--json").fields
        assert (found["classes_added"], found["edges_added"]) == (0, 0)
