"""Projects that are ready before a story begins: marked pictures, classes with a few shots, and their embeddings."""

from pathlib import Path
from typing import Final

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

FAMILIES: Final = {
    "Falcons": ("Kestrel", "Merlin", "Hobby", "Peregrine"),
    "Owls": ("Barn owl", "Tawny owl", "Little owl", "Eagle owl"),
    "Thrushes": ("Blackbird", "Fieldfare", "Redwing", "Mistle thrush"),
    "Gulls": ("Herring gull", "Kittiwake", "Ivory gull", "Mew gull"),
    "Ducks": ("Mallard", "Teal", "Pintail", "Smew"),
}
LEAVES: Final = tuple(leaf for leaves in FAMILIES.values() for leaf in leaves)
NAMES: Final = (*FAMILIES, *LEAVES)
SHOTS: Final = 3


def prepared_project(
    folder: Path,
    caches: CacheFolders,
    count: int,
    *,
    shots: int = SHOTS,
    ambiguous: int = 0,
    with_views: bool = False,
) -> Path:
    """Write a project of marked pictures, embedded, `shots` of each class labelled.

    The pictures' numbers go from 0; an image's embedding says its class, not its picture.

    Args:
        folder: for project and pictures.
        caches: where the embeddings go.
        count: pictures.
        shots: labels of each class to begin with.
        ambiguous: last pictures that lie between two classes of one family.
        with_views: embedded in all views, too, so that no second pass looks at the pictures, which tell no classes.
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
    """The middle between a picture and one of the next class of its family, (embedding width,), of unit length."""
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
