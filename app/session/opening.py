"""Opening a project the way that it can be opened; the engine loads here, on the project thread."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.session.news import News, news_of_everything
from engine.config import CacheFolders
from engine.errors import ProjectReadOnlyError

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection


def create_collection(path: Path, caches: CacheFolders, backbone: str = "") -> "LiveCollection":
    """Make an empty project with a backbone, or with the one that new projects get."""
    from engine.backbones.model_files import default_backbone
    from engine.collection.live import LiveCollection

    return LiveCollection.create(path, caches, backbone or default_backbone())


def open_collection(path: Path, caches: CacheFolders) -> "LiveCollection":
    """Open a project for writing, or for reading only where the file or its folder refuses writing."""
    from engine.collection.live import LiveCollection

    try:
        return LiveCollection.open(path, caches)
    except ProjectReadOnlyError:
        return open_for_reading(path, caches)


def open_for_reading(path: Path, caches: CacheFolders) -> "LiveCollection":
    """Open a project that is not to be changed, or that another window is changing."""
    from engine.collection.live import LiveCollection

    return LiveCollection.open(path, caches, for_writing=False)


def listed(live: "LiveCollection") -> News:
    """What a window can show at once of a collection just opened; one that cannot be read is closed again."""
    try:
        return replace(news_of_everything(live, live.load_list()), is_behind=False)  # the embeddings come first
    except BaseException:
        live.close()
        raise
