"""Large synthetic projects for benchmarks."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.collection.embed import open_cache
from engine.collection.models import find_model
from engine.collection.new_project import new_project
from engine.config import CacheFolders
from engine.file_parts import BoundingBox, FilePart
from engine.files import FoundFile
from engine.graph.category_graph import CategoryGraph
from engine.images.read_file import content_hash
from engine.project import Project
from engine.project.records import NewItem

GROUPS = 4
FAMILIES_IN_GROUP = 5
CLASSES_IN_FAMILY = 10
SHOTS = 5
WRITE_ROWS = 10_000


@dataclass(frozen=True)
class SyntheticEmbeddings:
    """Unit-length embeddings around class centres, which are around family centres.

    Attributes:
        embeddings: (n, d) float32.
        classes: (n,) int64 in [0, class count).
    """

    embeddings: NDArray[np.float32]
    classes: NDArray[np.int64]


def synthetic_embeddings(
    count: int, width: int, *, classes: int = 200, families: int = 20, seed: int = 0
) -> SyntheticEmbeddings:
    """Draw embeddings; spread in classes, among siblings and among families is 1 : 0.8 : 0.8."""
    generator = np.random.default_rng(seed)
    return embeddings_around(
        class_centres(generator, width, classes=classes, families=families), count, generator
    )


def class_centres(
    generator: np.random.Generator, width: int, *, classes: int = 200, families: int = 20
) -> NDArray[np.float32]:
    """Draw centres (classes, width) of classes around centres of families."""
    family_centres = generator.standard_normal((families, width), dtype=np.float32)
    centres = family_centres[np.arange(classes) * families // classes]
    return (0.8 * (centres + generator.standard_normal((classes, width), dtype=np.float32))).astype(
        np.float32
    )


def embeddings_around(
    centres: NDArray[np.float32], count: int, generator: np.random.Generator
) -> SyntheticEmbeddings:
    """Draw embeddings around centres (classes, width)."""
    # Every class gets its share, however few there are.
    drawn = generator.permutation(count) % len(centres)
    embeddings = generator.standard_normal((count, centres.shape[1]), dtype=np.float32)
    for start in range(0, count, WRITE_ROWS):  # in place: millions of them take most of the memory
        part = embeddings[start : start + WRITE_ROWS]
        part += centres[drawn[start : start + WRITE_ROWS]]
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return SyntheticEmbeddings(embeddings, drawn.astype(np.int64))


def synthetic_project(
    folder: Path, caches: CacheFolders, count: int, pictures: Sequence[Path] = (), *, boxes: int = 0
) -> Path:
    """Write a project with `count` photos of 200 classes, 5 shots each, embeddings in the cache.

    Args:
        folder: empty folder for the project and links to the pictures.
        caches: with the embedding cache.
        count: photos.
        pictures: real image files; each image is a link to one of them. Without any, files are
            missing on disk.
        boxes: of each photo, which get the labels.
    """
    path = folder / "synthetic.protoleaf"
    model = find_model()
    drawn = synthetic_embeddings(count * (1 + boxes), model.card.embedding_width)
    hashes = [content_hash(position.to_bytes(8, "little")) for position in range(count)]
    with new_project(path) as project:
        leaves = add_synthetic_graph(project)
        files = _links(folder, count, pictures)
        parts = (NewItem(file, _box(number)) for file in files for number in range(boxes))
        project.images.add([*files, *parts])
        ids = list(project.images.table().ids)
        of_parts = (content for content in hashes for _ in range(boxes))
        project.images.record_scan(
            (*each, None) for each in zip(ids, [*hashes, *of_parts], strict=True)
        )
        for place, leaf in enumerate(leaves):
            shots = np.flatnonzero(drawn.classes == place)
            shots = shots[shots >= (count if boxes else 0)][:SHOTS]
            if len(shots):
                project.labels.set([ids[shot] for shot in shots.tolist()], leaf)
        contents = [content for content in project.images.table().contents() if content is not None]
    with open_cache(model, caches) as cache:
        for start in range(0, len(ids), WRITE_ROWS):
            stop = start + WRITE_ROWS
            cache.put_many(contents[start:stop], drawn.embeddings[start:stop])
    return path


def _box(number: int) -> str:
    """A box in a photo, at one of several positions."""
    return FilePart(
        box=BoundingBox.of(0.3 * (number % 3), 0.3 * (number // 3 % 3), 0.25, 0.25)
    ).text


def add_synthetic_graph(project: Project) -> list[int]:
    """Add 200 classes in 20 families of 4 groups; return ids in the order of `class_centres`."""
    leaves: list[int] = []

    def add(graph: CategoryGraph) -> None:
        for group in range(GROUPS):
            group_id = graph.add_class(f"Group {group + 1}")
            for family in range(FAMILIES_IN_GROUP):
                family_id = graph.add_class(f"Family {group + 1}.{family + 1}", (group_id,))
                names = [
                    f"Class {group + 1}.{family + 1}.{leaf + 1}"
                    for leaf in range(CLASSES_IN_FAMILY)
                ]
                leaves.extend(graph.add_class(name, (family_id,)) for name in names)

    project.classes.edit(add)
    return leaves


def _links(folder: Path, count: int, pictures: Sequence[Path]) -> list[FoundFile]:
    files = []
    for position in range(count):
        place = folder / "images" / f"{position // 1000:03d}" / f"image-{position:06d}.jpg"
        if position % 1000 == 0:
            place.parent.mkdir(parents=True, exist_ok=True)
        size_bytes, modified_ns = 0, 0
        if pictures:
            os.link(pictures[position % len(pictures)], place)
            status = place.stat()
            size_bytes, modified_ns = status.st_size, status.st_mtime_ns
        files.append(FoundFile(place, size_bytes, modified_ns))
    return files
