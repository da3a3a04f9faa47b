"""Find the folds of a project without a window."""

from engine.collection.find_folds import folds_now
from engine.collection.folding.fingerprints import (
    cached_fingerprints,
    compute_fingerprints,
    without_fingerprint,
)
from engine.collection.folding.folds import Folds
from engine.collection.live import LiveCollection
from engine.config import CacheFolders
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.project import Project


def folds_of_project(
    project: Project,
    caches: CacheFolders,
    most_seconds: int | None = None,
    *,
    looks: bool = True,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Folds:
    """Find copies and sequences of a project's images.

    Args:
        most_seconds: between shots of a sequence; by default that of the project.
        looks: whether to compute missing fingerprints first.

    Raises:
        ModelError: the files of the model in use are missing.
        Cancelled: `cancel` was set; computed fingerprints are kept.
    """
    live = LiveCollection(project, caches)
    try:
        live.load(fits=False)
        if looks:
            images = live.embedded.images
            keys = images.content_keys
            pictures = without_fingerprint(
                images.paths, images.known_parts, keys, cached_fingerprints(keys, caches)
            )
            compute_fingerprints(
                pictures, project.path.parent, caches, on_progress=on_progress, cancel=cancel
            )
        return folds_now(live.project, live.embedded, caches, most_seconds)
    finally:
        live.embedded.close()
