"""A WordNet of 31 synsets with class folders of small JPEGs, in ImageNet's layouts.

Levels by shortest path from the root:

3   substance, part, fluid         part is also above substance, and has no other child
4   food, tool                     below substance, fluid
5   fruit, device, ornament        ornament has no class below it
6   berry, citrus, hammer, saw
7   kind0 ... kind12               kind i below the i-th of these in turn; kind0 also below hammer;
                               kind12, below berry, is also above kind11
8   small1, large1 below kind1; mixed below kind2 and kind3
"""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from research.data_sets.recipe import Recipe
from tests.support.images import encoded

LEVELS: dict[int, tuple[str, ...]] = {
    0: ("entity",),
    1: ("object",),
    2: ("matter",),
    3: ("substance", "part", "fluid"),
    4: ("food", "tool"),
    5: ("fruit", "device", "ornament"),
    6: ("berry", "citrus", "hammer", "saw"),
    7: tuple(f"kind{number}" for number in range(13)),
    8: ("small1", "large1", "mixed"),
}
PARENTS: dict[str, tuple[str, ...]] = {
    "object": ("entity",),
    "matter": ("object",),
    "substance": ("matter", "part"),
    "part": ("matter",),
    "fluid": ("matter",),
    "food": ("substance",),
    "tool": ("fluid",),
    "fruit": ("food",),
    "device": ("tool",),
    "ornament": ("tool",),
    "berry": ("fruit",),
    "citrus": ("fruit",),
    "hammer": ("device",),
    "saw": ("device",),
    **{kind: (LEVELS[6][number % 4],) for number, kind in enumerate(LEVELS[7])},
    "kind0": ("berry", "hammer"),
    "kind11": ("saw", "kind12"),
    "small1": ("kind1",),
    "large1": ("kind1",),
    "mixed": ("kind2", "kind3"),
}
FOLDERS = (
    "ornament",
    "small1",
    "large1",
    "mixed",
    *(kind for kind in LEVELS[7] if kind != "kind1"),
)
"""Classes with a folder of images; kind1 has only subclasses with images."""

IMAGES = 24
"""Images in a folder: three quarters in train, the others in val."""

RECIPE = Recipe("pure", factor=8.0, fewest_images=5)
"""Draws 10 few-shot classes, 2 of them to test, and some 220 images."""


def key(name: str) -> str:
    """WordNet id of a class of this WordNet."""
    names = [each for level in LEVELS.values() for each in level]
    return f"n{10_000_000 + names.index(name):08d}"


def write_wordnet(folder: Path) -> Path:
    """Write `wordnet.is_a.txt` and `words.txt` to a new folder and return it."""
    folder.mkdir(parents=True)
    edges = [
        f"{key(parent)} {key(child)}" for child, parents in PARENTS.items() for parent in parents
    ]
    words = [f"{key(name)}\t{name}, same as {name}" for level in LEVELS.values() for name in level]
    (folder / "wordnet.is_a.txt").write_text("\n".join(edges) + "\n", encoding="utf-8")
    (folder / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    return folder


def write_small_imagenet(
    folder: Path, *, names: Sequence[str] = FOLDERS, images: int = IMAGES
) -> Path:
    """Write `train/<id>/` and `val/<id>/` with small JPEGs by class; return the folder."""
    generator = np.random.default_rng(0)
    for name in names:
        for number in range(images):
            split = "val" if number % 4 == 3 else "train"
            path = folder / split / key(name) / f"{key(name)}_{number}.JPEG"
            path.parent.mkdir(parents=True, exist_ok=True)
            ground = generator.integers(0, 256, (1, 1, 3), dtype=np.uint8)
            path.write_bytes(encoded(np.broadcast_to(ground, (10, 12, 3)).copy(), "JPEG"))
    return folder


def zipped(folder: Path, archive: Path) -> Path:
    """Pack a folder with its name into an uncompressed zip archive; return the archive."""
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(folder.rglob("*"), reverse=True):
            file.write(path, path.relative_to(folder.parent).as_posix())
    return archive
