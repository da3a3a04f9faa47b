"""A small collection of drawn pictures with graph, shots and truth, for the real backbone."""

import csv
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from engine.collection.embed import embed_closer, embed_project
from engine.collection.importing.import_graph import import_graph
from engine.collection.importing.import_images import import_class_folders, import_images
from engine.collection.models import model_of
from engine.collection.new_project import new_project
from engine.config import CACHE_VARIABLE, CacheFolders
from engine.embedding.cache import cache_path
from engine.embedding.views import views_hash
from engine.project import Project

SIDE = 48
SHOTS = 3
PER_CLASS = 8
FAMILIES: Mapping[str, Sequence[str]] = {
    "Red": ("Red disc", "Red stripes", "Red checks"),
    "Green": ("Green disc", "Green stripes"),
    "Blue": ("Blue disc", "Blue stripes", "Blue checks"),
}
LEAVES = tuple(leaf for leaves in FAMILIES.values() for leaf in leaves)
FAMILY_OF = {leaf: family for family, leaves in FAMILIES.items() for leaf in leaves}
_COLOURS = {"Red": (215, 40, 40), "Green": (40, 175, 60), "Blue": (40, 70, 220)}


@dataclass(frozen=True)
class Collection:
    """Paths of a collection.

    Attributes:
        folder: of all that follows.
        caches: of embeddings.
    """

    folder: Path
    caches: CacheFolders

    @property
    def project(self) -> Path:
        """The project file; exists once the collection is embedded."""
        return self.folder / "shapes.protoleaf"

    @property
    def graph(self) -> Path:
        """CSV of edges."""
        return self.folder / "classes.csv"

    @property
    def shots(self) -> Path:
        """Folders Red/Red disc/... with `SHOTS` pictures for each leaf."""
        return self.folder / "shots"

    @property
    def unsorted(self) -> Path:
        """Folder with the other pictures, without classes in their names."""
        return self.folder / "unsorted"

    @property
    def truth(self) -> Path:
        """CSV of the classes of the unsorted pictures."""
        return self.folder / "truth.csv"


def draw_shape(leaf: str, *, seed: int) -> NDArray[np.uint8]:
    """Draw a disc, stripes or checks in a colour: (SIDE, SIDE, 3); details depend on the seed."""
    generator = np.random.default_rng([LEAVES.index(leaf), seed])
    light = int(generator.integers(200, 245))
    image = Image.new("RGB", (SIDE, SIDE), (light, light, light))
    brush, colour = ImageDraw.Draw(image), _COLOURS[FAMILY_OF[leaf]]
    left, top = (int(value) for value in generator.integers(0, 8, 2))
    match leaf.split()[1]:
        case "disc":
            brush.ellipse((left + 4, top + 4, left + 36, top + 36), fill=colour)
        case "stripes":
            for start in range(-left, SIDE, 8):
                brush.rectangle((start, 0, start + 3, SIDE), fill=colour)
        case _:
            for row in range(-1, SIDE // 12 + 1):
                for column in range(row % 2 - 1, SIDE // 12 + 1, 2):
                    x, y = column * 12 + left, row * 12 + top
                    brush.rectangle((x, y, x + 11, y + 11), fill=colour)
    noise = generator.normal(0, 6, (SIDE, SIDE, 3))
    return np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8)


def write_shape(path: Path, leaf: str, *, seed: int) -> Path:
    """Write one picture; the suffix decides the format."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(draw_shape(leaf, seed=seed)).save(path)
    return path


def write_collection(folder: Path, caches: CacheFolders) -> Collection:
    """Write pictures, graph and truth, without a project."""
    collection = Collection(folder, caches)
    write_graph(collection.graph, FAMILIES)
    collection.unsorted.mkdir(parents=True)
    drawn = [(leaf, seed) for seed in range(PER_CLASS) for leaf in LEAVES]
    with collection.truth.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("image", "class"))
        for number, (leaf, seed) in enumerate(drawn):
            if seed < SHOTS:
                write_shape(
                    collection.shots / FAMILY_OF[leaf] / leaf / f"{seed}.png", leaf, seed=seed
                )
            else:
                write_shape(collection.unsorted / f"{number:03}.png", leaf, seed=seed)
                table.writerow((f"unsorted/{number:03}.png", leaf))
    return collection


def write_graph(path: Path, families: Mapping[str, Sequence[str]]) -> Path:
    """Write a CSV of edges for a graph of two levels."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("child", "parent"))
        for family, leaves in families.items():
            table.writerow((family, ""))
            table.writerows((leaf, family) for leaf in leaves)
    return path


def embed_collection(collection: Collection) -> None:
    """Make the project: graph, shots, unsorted pictures, all embedded."""
    with new_project(collection.project) as project:
        import_graph(project, collection.graph)
        import_class_folders(project, [collection.shots], who="ada")
        import_images(project, [collection.unsorted])
        embed_project(project, collection.caches, device="cpu")
        embed_closer(project, collection.caches, device="cpu")


def read_truth_table(collection: Collection) -> dict[str, str]:
    """Class by image of the unsorted pictures."""
    with collection.truth.open(encoding="utf-8", newline="") as file:
        return {row["image"]: row["class"] for row in csv.DictReader(file)}


def class_ids(project: Project) -> dict[str, int]:
    """Ids of a project's classes by name; names must be unique."""
    return {
        project.classes.graph.name(class_id): class_id
        for class_id in project.classes.graph.classes()
    }


def cache_of_test() -> CacheFolders:
    """Caches of the running test."""
    return CacheFolders(Path(os.environ[CACHE_VARIABLE]))


def tree_hash(folder: Path) -> dict[str, tuple[str, int]]:
    """Content hash and modification time of every file below a folder, by relative path."""
    return {
        path.relative_to(folder).as_posix(): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def without_its_views(collection: Collection) -> None:
    """Delete the cache of views, as with older versions of the program."""
    with Project.open(collection.project) as project:
        model = model_of(project, collection.caches)
    cache_path(
        collection.caches.embeddings,
        views_hash(model.embedding_identity),
        model.card.embedding_width,
    ).unlink()


def add_stranger(collection: Collection) -> int:
    """Add an embedded image of none of the classes; return its id."""
    folder = collection.folder / "strangers"
    folder.mkdir()
    pixels = np.random.default_rng(1).integers(0, 255, (96, 96, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "noise.png")
    with Project.open(collection.project) as project:
        (image_id,) = import_images(project, [folder]).change.images_added
        embed_project(project, collection.caches, device="cpu")
    return image_id
