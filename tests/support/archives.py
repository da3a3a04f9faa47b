"""Projects with photos of a camera's aspect ratio, and tampered archives of them."""

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from engine.collection.importing.import_images import import_images
from engine.collection.new_project import new_project
from engine.project import Project

WIDE = (1600, 900)  # pixels

Change = Callable[[zipfile.ZipInfo, bytes], tuple[zipfile.ZipInfo, bytes] | None]
"""Maps a file of an archive to its replacement; None removes it."""


def draw_wide(path: Path, seed: int) -> Path:
    """Write a 16:9 photo in the format of the suffix; contents differ by seed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(seed)
    small = generator.integers(0, 256, (9, 16, 3), dtype=np.uint8)
    noise = generator.integers(-9, 9, (*reversed(WIDE), 3))
    picture = np.asarray(Image.fromarray(small).resize(WIDE), dtype=np.int16) + noise
    Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8)).save(path, quality=92)
    return path


def wide_project(folder: Path, count: int = 4, *, photos: Path | None = None) -> Project:
    """A project with classes Fox and Hare and unread wide photos, open for writing."""
    folder.mkdir(parents=True, exist_ok=True)
    place = photos or folder / "site A"
    place.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        draw_wide(place / f"IMG_{number}.jpg", number)
    project = new_project(folder / "trip.protoleaf", "fast")
    project.classes.add("Fox")
    project.classes.add("Hare")
    import_images(project, [place])
    return project


def contents_of(archive: Path) -> Mapping[str, bytes]:
    """Files of an archive by name."""
    with zipfile.ZipFile(archive) as opened:
        return {info.filename: opened.read(info) for info in opened.infolist()}


def tampered(archive: Path, target: Path, change: Change, **added: bytes) -> Path:
    """Copy an archive with changed and additional files."""
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(target, "w") as out:
        for info in source.infolist():
            changed = change(info, source.read(info))
            if changed is not None:
                out.writestr(*changed)
        for name, data in added.items():
            out.writestr(name, data)
    return target


def unchanged(info: zipfile.ZipInfo, data: bytes) -> tuple[zipfile.ZipInfo, bytes]:
    """Keep a file unchanged."""
    return info, data
