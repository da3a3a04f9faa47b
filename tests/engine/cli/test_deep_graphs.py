"""Every command and every format on classes as deep as they may be, and on more paths than anybody could list."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

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

MOST_S: Final = 15
"""Seconds of computing that any of these may take.

On a quiet machine it is one or two, and ten for training.
"""
MODEL: Final = "model"
MOST_BYTES: Final = 40_000_000
"""Of an export; the ladder's first paths of a thousand classes are half of it."""
LABELS: Final = len(ENDS) * SHOTS + 1
SHAPES: Final = {"chain": chain, "ladder": ladder, "comb": comb}
QUICK: Final = ("iterations=2", "validation_episodes=1", "test_episodes=1", "validation_interval=1")
Arguments = Callable[[Collection], tuple[str | Path, ...]]


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Collection]:
    """The collections that tests get copies of."""

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
    """A project of a shape, to change at will, with a list of classes and the truth of what nobody labelled."""
    once = made_once(request.param)
    shutil.copytree(once.caches.root, tmp_path / "cache")
    shutil.copytree(once.folder, tmp_path / "collection")
    copy = Collection(tmp_path / "collection", CacheFolders(tmp_path / "cache"))
    write_graph(copy.graph, {ENDS[0]: ["end new"]})
    truth = "".join(f"{end} {SHOTS}.png,{end}\n" for end in ENDS)
    copy.truth.write_text(f"image,class\n{truth}", encoding="utf-8")
    return copy


WITHOUT_PROJECT: Final = frozenset(
    {
        "new",
        "sample",
        "doctor",
        "menu-entry",
        "unpack",
        *(f"backbone {each}" for each in ("list", "convert", "show", "add", "remove")),
    }
)
"""Commands that open none; those of the groups `benchmark` and `experiment` make their own."""

ON_A_PROJECT: Final[dict[str, Arguments]] = {
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
"""What each command is called with."""


@contextmanager
def soon() -> Iterator[None]:
    """What is within takes few seconds of computing, whatever else this computer does."""
    started_s = time.process_time()
    yield
    assert time.process_time() - started_s < MOST_S


def test_every_command_is_here() -> None:
    """A new command is tried on deep classes, or works without a project."""
    groups = ("benchmark ", "experiment ")
    assert {
        name for name in commands() if not name.startswith(groups)
    } == ON_A_PROJECT.keys() | WITHOUT_PROJECT


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
    """None ends in an error, and none takes long."""
    arguments = ON_A_PROJECT[command](deep)
    with soon():
        assert done(capsys, *command.split(), *arguments).out


@pytest.mark.parametrize("format_name", [*FORMATS, MODEL])
def test_exports_come_back(
    format_name: str, deep: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """What people labelled is written and, where labels come back, found again: each image of its class, no other."""
    out = deep.folder / f"out{FORMATS[format_name].suffix if format_name in FORMATS else ''}"
    with soon():
        assert done(capsys, "export", deep.project, format_name, out, "--images", "verified").out
    assert size_of(out) < MOST_BYTES
    if format_name in READ_FORMATS:
        with soon():
            found = done(capsys, "import-labels", deep.project, out, "--dry-run", "--json").fields
        assert (found["already_there"], found["problems"], found["conflicts"]) == (LABELS, [], [])


def size_of(out: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    return sum(each.stat().st_size for each in (out, *out.rglob("*")) if each.is_file())


@pytest.mark.parametrize("format_name", GRAPH_FORMATS)
def test_graphs_come_back(
    format_name: str, deep: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """A graph is written, and an import of it finds every class where it was."""
    out = deep.folder / f"out{GRAPH_FORMATS[format_name].suffix}"
    with soon():
        assert done(capsys, "export-graph", deep.project, out).out
    if GRAPH_FORMATS[format_name].comes_back:
        with soon():
            found = done(capsys, "import-graph", deep.project, out, "--json").fields
        assert (found["classes_added"], found["edges_added"]) == (0, 0)
