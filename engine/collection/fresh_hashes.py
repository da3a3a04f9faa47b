"""Content hashes of a project's images, also where embedding could not write them down.

A project that is read-only, or open in another program, gets no facts of a run of `embed`. The embedding cache has
them: which content each file had when it was embedded.
"""

from collections.abc import Sequence

from engine.collection.image_list import ImageList
from engine.embedding.cache import EmbeddingCache
from engine.files import FoundFile
from engine.project import Project


def newest_hashes(project: Project, images: ImageList, cache: EmbeddingCache) -> Sequence[bytes | None]:
    """Content hash of each image, None before it was read.

    Args:
        project: where it is open for writing it has all of them.
        images: its images, read.
        cache: the embedding cache in use.

    Returns:
        Aligned with `images`. The cache's word counts where it differs from the project's and the file is still the one
        that was embedded.
    """
    if project.is_writable:
        return images.content_hashes
    folder = project.path.parent
    paths = [folder / path for path in images.paths]
    hashes = list(images.content_hashes)
    remembered = cache.last_hashes(paths)
    # Only these files are looked at: asking after 100,000 of them takes long on a share.
    others = [place for place, key in enumerate(remembered) if key is not None and key != hashes[place]]
    files = {place: found for place in others if (found := FoundFile.at(paths[place])) is not None}
    for place, key in zip(files, cache.path_hashes(list(files.values())), strict=True):
        hashes[place] = key or hashes[place]
    return hashes
