"""The images that a backbone is tried on: the project's own, or photos of the sample collection."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.config import assets_folder
from engine.errors import StorageError
from engine.images.decode import decode_square
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


def sample_photos(count: int) -> tuple[Path, ...]:
    """The first photos of the shipped sample collection by name; neighbours show different classes.

    Raises:
        StorageError: the program was installed without them.
    """
    folder = assets_folder() / "sample" / "photos"
    found = sorted(folder.glob("*.jpg"))[:count]
    if len(found) < count:
        raise StorageError(
            "photos of the sample collection are missing",
            expected="{count} files in {folder}",
            found=str(len(found)),
            remedy="install Protoleaf again",
            count=count,
            folder=folder,
        )
    return tuple(found)


def sample_squares(count: int, side: int, resize_share: float) -> NDArray[np.uint8]:
    """Photos of the sample collection as a network's square input, (count, side, side, 3) uint8 RGB."""
    return np.stack([decode_square(path.read_bytes(), side, resize_share) for path in sample_photos(count)])


def normalised(squares: NDArray[np.uint8], mean: Sequence[float], std: Sequence[float]) -> NDArray[np.float32]:
    """Squares (n, side, side, 3) as a network takes them, (n, 3, side, side) float32; mean and std in [0, 1]."""
    scaled = (squares / 255 - np.array(mean)) / np.array(std)
    return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2), dtype=np.float32)
