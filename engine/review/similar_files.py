"""Search for the images of a project that are most similar to an image file."""

from pathlib import Path

import numpy as np

from engine.arrays import Floats
from engine.collection.embed import open_cache
from engine.collection.live import LiveCollection
from engine.collection.models import ModelFiles
from engine.collection.similar import LikeImages
from engine.config import CacheFolders
from engine.embedding.messages import EmbedRequest
from engine.embedding.pipeline import embed_files
from engine.embedding.views import unit_length
from engine.errors import InputError
from engine.project import Project
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import choose_providers

OUTSIDE_ID = 0  # not the id of an image


def similar_to_file(
    project: Project, caches: CacheFolders, file: Path, count: int, *, device: str = "auto"
) -> LikeImages:
    """The `count` most similar images to a file; an image of the project is itself the first.

    Raises:
        InputError: the file is missing or not an image, or the project has no embeddings.
        ModelError: the files of the current model version are missing.
    """
    live = LiveCollection(project, caches)
    try:
        live.load(fits=False)
        live.know_space()
        own = project.images.find(file)
        is_known = own is not None and live.embedded.ready_row(own) is not None
        outside = None if is_known else embedding_of(file, live.model, caches, device=device)
        found = live.like([own] if is_known and own is not None else [], outside=outside)
    finally:
        live.embedded.close()
    if len(found.image_ids) == 0:
        raise InputError("no image of the project has an embedding yet", remedy="run embed first")
    return found.first(count)


def embedding_of(
    file: Path, model: ModelFiles, caches: CacheFolders, *, device: str = "auto"
) -> Floats:
    """Embedding (d,) float32 of length 1 of an image file, by the embedding cache.

    Raises:
        InputError: the file is missing or cannot be read.
        ModelError: the backbone cannot run.
    """
    session = BackboneSession(model.backbone, model.card, choose_providers(device))
    with open_cache(model, caches) as cache:
        done = embed_files([EmbedRequest(OUTSIDE_ID, file.absolute(), None)], session, cache)
        for _, path, reason in done.failed:
            raise InputError(
                "this image cannot be read", found="{path}: {reason}", path=path, reason=reason
            )
        vectors, found = cache.get_many(
            [key or b"" for key in cache.last_hashes([file.absolute()])]
        )
    if not found.all():
        raise InputError("the file is not there", found=str(file), remedy="check the path")
    return unit_length(vectors.astype(np.float32))[0]
