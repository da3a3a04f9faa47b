"""A small project of unread images, for tests of jobs and workers."""

from contextlib import closing
from pathlib import Path

from engine.collection.importing.import_graph import import_graph
from engine.collection.importing.import_images import import_class_folders, import_images
from engine.collection.live import LiveCollection
from engine.collection.new_project import new_project
from engine.config import CacheFolders
from engine.embedding.messages import EmbedImages
from engine.requests import images_to_embed
from tests.support.collections import FAMILY_OF, LEAVES, Collection, write_graph, write_shape

UNREAD_IMAGES = 12
BROKEN_NAME = "broken.png"


def unread_collection(
    folder: Path, caches: CacheFolders, *, with_broken: bool = False
) -> Collection:
    """A project of a dozen pictures of two families, four of them shots, not embedded."""
    collection = Collection(folder, caches)
    used = LEAVES[:2] + LEAVES[3:5]
    write_graph(
        collection.graph,
        {family: [leaf for leaf in used if FAMILY_OF[leaf] == family] for family in _FAMILIES},
    )
    for leaf in used:
        write_shape(collection.shots / FAMILY_OF[leaf] / leaf / "0.png", leaf, seed=0)
    for number in range(UNREAD_IMAGES - len(used)):
        write_shape(
            collection.unsorted / f"{number}.png", used[number % len(used)], seed=1 + number
        )
    if with_broken:
        (collection.unsorted / BROKEN_NAME).write_text("no picture", encoding="utf-8")
    with new_project(collection.project) as project:
        import_graph(project, collection.graph)
        import_class_folders(project, [collection.shots], who="ada")
        import_images(project, [collection.unsorted])
    return collection


_FAMILIES = ("Red", "Green")


def embed_request(collection: Collection) -> EmbedImages:
    """A window's request to a worker: embed every image."""
    with closing(
        LiveCollection.open(collection.project, collection.caches, for_writing=False)
    ) as live:
        live.load_list()
        request = images_to_embed(live, collection.caches, "cpu")
    assert request is not None
    return request
