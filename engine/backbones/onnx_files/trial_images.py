"""The images that a backbone is tried on: the project's own, or those of the sample where there are too few."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from engine.images.sample_photos import sample_photos
from engine.project import Project

WANTED: Final = 8


def project_images(project: Project) -> tuple[Path, ...]:
    """Some of a project's image files, from all over it."""
    paths = project.images.table().paths
    chosen = np.unique(np.linspace(0, max(0, len(paths) - 1), min(WANTED, len(paths))).astype(int))
    return tuple(project.path.parent / paths[position] for position in chosen)


def trial_images(own: Sequence[Path] = (), count: int = WANTED) -> tuple[Path, ...]:
    """Enough images for a trial: own files that are there, and photos of the sample where they are too few.

    Raises:
        StorageError: the sample's photos are missing.
    """
    found = tuple(path for path in own if path.is_file())[:count]
    return found + sample_photos(count - len(found))
