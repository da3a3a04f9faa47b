"""Embeddings of image files, from the program's cache or by a backbone."""

from collections.abc import Iterable
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.backbones.model_files import DEFAULT
from engine.collection.embed import open_cache, open_views_cache
from engine.collection.models import find_model
from engine.config import CacheFolders
from engine.embedding.messages import EmbedBatch, EmbedRequest, EmbedResult
from engine.embedding.pipeline import embed_files
from engine.embedding.views import unit_length
from engine.errors import ImageError
from engine.events import OnProgress, ignore_progress
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import choose_providers

_NOT_THERE = "there is no such file"


def embed(
    paths: Iterable[str | PathLike[str]],
    backbone: str = DEFAULT,
    *,
    device: str = "auto",
    all_views: bool = False,
    on_error: Literal["raise", "nan"] = "raise",
    cache: str | PathLike[str] | None = None,
    on_progress: OnProgress = ignore_progress,
) -> NDArray[np.float32]:
    """Embed image files; each content is computed once and then comes from the cache.

    Args:
        paths: n files, JPEG, PNG, TIFF, HEIC, RAW and what else the program reads.
        backbone: a name of `protoleaf backbone list`, "accurate", "fast", or an ONNX file with its
            card.
        device: "auto", "cpu" or a name of `protoleaf doctor`.
        all_views: the mean over the image and its four corners, as the program embeds labelled
            images: closer to the class, five times as long.
        on_error: "nan" gives an unreadable image a row of NaN, instead of an error.
        cache: folder of the cache; by default the one of the program.
        on_progress: called with `engine.events.Progress` several times a second.

    Returns:
        (n, d) float32 of length 1, in the order of `paths`.

    Raises:
        ImageError: an image cannot be read.
        ModelError: there is no such backbone, or it cannot run.
    """
    files = [Path(path).absolute() for path in paths]
    model = find_model(backbone)
    session = BackboneSession(model.backbone, model.card, choose_providers(device))
    folders = CacheFolders.default() if cache is None else CacheFolders(Path(cache))
    results: dict[int, EmbedResult] = {}

    def record(batch: EmbedBatch) -> None:
        results.update((each.image_id, each) for each in batch.results)

    with ExitStack() as stack:
        single = stack.enter_context(open_cache(model, folders))
        views = stack.enter_context(open_views_cache(model, folders)) if all_views else None
        requests = [EmbedRequest(row, file) for row, file in enumerate(files)]
        embed_files(
            requests, session, single, on_batch=record, on_progress=on_progress, views=views
        )
        hashes = [results[row].content_hash or b"" for row in range(len(files))]
        vectors, is_found = (views or single).get_many(hashes)
    is_found &= np.array([results[row].failure is None for row in range(len(files))], dtype=bool)
    if not is_found.all() and on_error == "raise":
        raise _unreadable(files, results, np.flatnonzero(~is_found).tolist())
    found = unit_length(vectors.astype(np.float32))
    found[~is_found] = np.nan
    return found


def _unreadable(files: list[Path], results: dict[int, EmbedResult], rows: list[int]) -> ImageError:
    return ImageError(
        "{count} of {total} images cannot be embedded",
        found="{path}: {reason}",
        remedy='leave them out, or set on_error="nan"',
        count=len(rows),
        total=len(files),
        path=files[rows[0]],
        reason=results[rows[0]].failure or _NOT_THERE,
    )
