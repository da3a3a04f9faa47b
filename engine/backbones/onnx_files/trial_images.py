"""The images that a backbone is tried on: the project's own, or drawn ones where there is none."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from engine.full_disk import storage_error
from engine.project import Project
from engine.sample_collection.catalogue import KINDS
from engine.sample_collection.photo import photograph
from engine.scratch_folder import scratch_folder

WANTED: Final = 8
_SEED: Final = 0


def project_images(project: Project) -> tuple[Path, ...]:
    """Some of a project's image files, from all over it."""
    paths = project.image_table().paths
    chosen = np.unique(np.linspace(0, max(0, len(paths) - 1), min(WANTED, len(paths))).astype(int))
    return tuple(project.path.parent / paths[position] for position in chosen)


@contextmanager
def trial_images(own: Sequence[Path] = (), count: int = WANTED) -> Iterator[tuple[Path, ...]]:
    """Give enough images for a trial: files at hand that are there, and drawn ones where they are too few.

    Raises:
        StorageError: drawn images cannot be written.
    """
    found = tuple(path for path in own if path.is_file())[:count]
    if len(found) >= count:
        yield found
        return
    missing = count - len(found)
    try:
        with scratch_folder() as folder:
            for number, kind in enumerate(KINDS[:: max(1, len(KINDS) // missing)][:missing]):
                path = folder / f"{number}.png"
                photograph(kind.draw, kind.scene, np.random.default_rng((_SEED, number))).save(path)
                found += (path,)
            yield found
    except OSError as error:
        place = Path(error.filename or tempfile.gettempdir())
        raise storage_error(place, error, "images for the trial cannot be drawn") from error
