"""Prepared projects of marked pictures, with embeddings and a few labels per class."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.collection.embed import open_cache, open_views_cache
from engine.collection.models import find_model
from engine.collection.new_project import new_project
from engine.config import CacheFolders
from engine.files import FoundFile
from engine.graph.category_graph import CategoryGraph
from engine.images.read_file import content_hash
from engine.project import Project
from research.benchmarks.synthetic import SyntheticEmbeddings, synthetic_embeddings
from tests.robot.marked_images import write_marked
from tests.support.projects import named

FAMILIES = {
    "Falcons": ("Kestrel", "Merlin", "Hobby", "Peregrine"),
    "Owls": ("Barn owl", "Tawny owl", "Little owl", "Eagle owl"),
    "Thrushes": ("Blackbird", "Fieldfare", "Redwing", "Mistle thrush"),
    "Gulls": ("Herring gull", "Kittiwake", "Ivory gull", "Mew gull"),
    "Ducks": ("Mallard", "Teal", "Pintail", "Smew"),
}
LEAVES = tuple(leaf for leaves in FAMILIES.values() for leaf in leaves)
NAMES = (*FAMILIES, *LEAVES)
SHOTS = 3


def prepared_project(
    folder: Path,
    caches: CacheFolders,
    count: int,
    *,
    shots: int = SHOTS,
    ambiguous: int = 0,
    with_views: bool = False,
) -> Path:
    """Write a project of marked pictures, embedded, with `shots` labels per class.

    Pictures are numbered from 0; an embedding depends on the class, not on the pixels.

    Args:
        folder: for project and pictures.
        caches: for the embeddings.
        count: number of pictures.
        shots: labels per class.
        ambiguous: number of last pictures that are between two classes of one family.
        with_views: whether all views are embedded, so that no second pass embeds the pixels.
    """
    model = find_model()
    drawn = synthetic_embeddings(
        count, model.card.embedding_width, classes=len(LEAVES), families=len(FAMILIES)
    )
    paths = write_marked(folder / "photos", range(count))
    files = []
    for path in paths:
        status = path.stat()
        files.append(FoundFile(path, status.st_size, status.st_mtime_ns))
    hashes = [content_hash(path.read_bytes()) for path in paths]
    project_path = folder / "birds.protoleaf"
    with new_project(project_path) as project:
        ids = _add_classes(project)
        image_ids = project.images.add(files).images_added
        project.images.record_scan(zip(image_ids, hashes, [None] * count, strict=True))
        for place, leaf in enumerate(LEAVES):
            chosen = np.flatnonzero(drawn.classes == place)[:shots].tolist()
            if chosen:
                project.labels.set([image_ids[number] for number in chosen], ids[leaf])
    embeddings = drawn.embeddings.copy()
    for number in range(count - ambiguous, count):
        embeddings[number] = _between_relatives(drawn, number)
    for opened in (open_cache, open_views_cache) if with_views else (open_cache,):
        with opened(model, caches) as cache:
            cache.put_many(hashes, embeddings)
    return project_path


def _between_relatives(drawn: SyntheticEmbeddings, number: int) -> NDArray[np.float32]:
    """The mean of an image and one of its family's next class, (embedding width,), normalised."""
    of_family, place = len(LEAVES) // len(FAMILIES), int(drawn.classes[number])
    relative = place // of_family * of_family + (place + 1) % of_family
    middle = drawn.embeddings[number] + drawn.embeddings[drawn.classes == relative][-1]
    return (middle / np.linalg.norm(middle)).astype(np.float32)


def _add_classes(project: Project) -> dict[str, int]:
    ids: dict[str, int] = {}

    def add(graph: CategoryGraph) -> None:
        for family, leaves in FAMILIES.items():
            ids[family] = graph.add_class(family)
            ids.update({leaf: graph.add_class(leaf, (ids[family],)) for leaf in leaves})

    project.classes.edit(add, named("Add the birds"))
    return ids
