"""Commands on a full disk succeed or report it, leave no partial files, and a valid project.

`PROTOLEAF_TRUST_DISKS=100` tries a hundred random moments instead of the standard ones.
"""

import os
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from engine.config import CacheFolders
from engine.interchange.labelled_images.formats import FORMATS
from tests.support.collections import embed_collection, write_collection, write_graph, write_shape
from tests.support.other_backbones import own_backbone
from tests.support.small_disk import PROJECT, Moment, Outcome, is_permitted, run
from tests.support.small_imagenet import write_small_imagenet, write_wordnet

COUNT = int(os.environ.get("PROTOLEAF_TRUST_DISKS", "0"))
LEVELS = (0, 8 << 10, 96 << 10)
"""Free bytes: none, an inode or two, enough to begin."""
MOST_FREE_BYTES = 8 << 20
ON_DISK = "{disk}/" + PROJECT
QUICK = ("iterations=4", "validation_episodes=3", "test_episodes=3", "validation_interval=2")
TRAIN = ("train", ON_DISK, *(word for setting in QUICK for word in ("--setting", setting)))
EXPORTS = {
    f"export {name}": ("export", ON_DISK, name, f"{{disk}}/out{one.suffix}", "--images", "verified")
    for name, one in FORMATS.items()
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "new": ("new", "{disk}/fresh.protoleaf"),
    "import-graph": ("import-graph", ON_DISK, "{disk}/more.csv"),
    "import-images": ("import-images", ON_DISK, "{disk}/more", "--class", "Red disc"),
    "embed": ("embed", ON_DISK, "--device", "cpu"),
    "classify": ("classify", ON_DISK, "--out", "{disk}/out.csv"),
    "evaluate": ("evaluate", ON_DISK, "--truth", "{disk}/collection/truth.csv"),
    "check": ("check", ON_DISK),
    "export model": ("export", ON_DISK, "model", "{disk}/model"),
    "train": TRAIN,
    "backbone add": ("backbone", "add", "{disk}/own/tinyleaf.onnx"),
    "experiment build": (
        "experiment",
        "build",
        "--source",
        "{disk}/imagenet",
        "--wordnet",
        "{disk}/wordnet",
        "--variant",
        "pure",
        "--out",
        "{disk}/data",
        "--side",
        "16",
        "--factor",
        "8",
    ),
    "doctor": ("doctor",),
    "import-labels": ("import-labels", ON_DISK, "{disk}/theirs", "--add-images", "--add-classes"),
    **EXPORTS,
}
SLOW = frozenset({"embed", "classify", "evaluate", "experiment build", "doctor"})
"""Tried at one level only and not again, in short runs."""
SLOWEST = frozenset({"train", "backbone add", "export model"}) | (
    EXPORTS.keys() - {"export csv", "export folders"}
)
"""Tried in long runs only."""
WITHOUT = {"embed": ("cache/embeddings",)}


def moment(name: str, free_bytes: int) -> Moment:
    return Moment(COMMANDS[name], free_bytes, WITHOUT.get(name, ()))


def few_moments() -> list[Moment]:
    quick = [
        moment(name, free) for name in COMMANDS if name not in SLOW | SLOWEST for free in LEVELS
    ]
    return [
        *quick,
        *(replace(moment(name, LEVELS[-1]), again=False) for name in COMMANDS if name in SLOW),
    ]


def many_moments(count: int) -> list[Moment]:
    """Every command with random free space, uniform by order of magnitude."""
    generator = random.Random(0)
    names = list(COMMANDS)
    frees = [int(4096 * (MOST_FREE_BYTES / 4096) ** generator.random()) for _ in range(count)]
    return [moment(names[number % len(names)], free) for number, free in enumerate(frees)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Content of the disk: an embedded collection, and inputs of the commands."""
    folder = tmp_path_factory.mktemp("whole")
    collection = write_collection(folder / "collection", CacheFolders(folder / "cache"))
    embed_collection(collection)
    write_graph(
        folder / "more.csv",
        {
            f"Family {number}": [f"Kind {number}.{each}" for each in range(50)]
            for number in range(20)
        },
    )
    for seed in range(100, 110):
        write_shape(folder / "more" / f"{seed}.png", "Red disc", seed=seed)
    shutil.copytree(folder / "more", folder / "theirs" / "Red disc")
    own_backbone(folder / "own")
    write_small_imagenet(folder / "imagenet")
    write_wordnet(folder / "wordnet")
    return folder


def complaints(tried: Moment, outcome: Outcome) -> list[str]:
    """Faults of a moment's result."""
    found = []
    if "Traceback" in outcome.output:
        found.append("a traceback")
    if outcome.status < 0:
        found.append(f"ended by signal {-outcome.status}")
    if outcome.status > 0 and "the disk is full" not in outcome.output:
        found.append("does not say that the disk is full")
    if outcome.status > 1:
        found.append(f"exit status {outcome.status}")
    if outcome.left:
        found.append(f"left {', '.join(outcome.left)}")
    if outcome.lost:
        found.append(f"lost {outcome.lost} labels")
    if outcome.checked:
        found.append(f"check says {outcome.checked}")
    if outcome.again:
        found.append(f"with room again: {outcome.again}")
    return [
        (
            f"{' '.join(tried.arguments[:2])} with {tried.free_bytes:,} bytes free: {each}; it "
            f"printed {outcome.output!r}"
        )
        for each in found
    ]


@pytest.mark.slow
@pytest.mark.skipif(not is_permitted(), reason="this machine lets nobody mount a small disk")
def test_a_full_disk_is_called_full(whole: Path, tmp_path: Path) -> None:
    """Every command at several levels; with free space each succeeds."""
    moments = many_moments(COUNT) if COUNT else few_moments()
    outcomes = run(whole, moments, tmp_path)
    wrong = [
        each
        for tried, outcome in zip(moments, outcomes, strict=True)
        for each in complaints(tried, outcome)
    ]
    assert not wrong, "\n".join(wrong)
    refused = sum(outcome.status != 0 for outcome in outcomes)
    assert refused > len(moments) // 4, f"only {refused} of {len(moments)} moments met a full disk"
