"""Opening a project the way that it can be opened; the engine loads here, on the project thread."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.session.backbone_making import BackboneMaking
from app.session.news import News, news_of_everything
from engine.config import CacheFolders
from engine.errors import ProjectReadOnlyError

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection


def create_collection(path: Path, caches: CacheFolders, making: BackboneMaking, backbone: str = "") -> LiveCollection:
    """Make an empty project with a backbone, or with the one that new projects get."""
    from engine.backbones.model_files import backbone_of_word, default_backbone
    from engine.collection.live import LiveCollection

    making.check(backbone_of_word(backbone or default_backbone()))
    return LiveCollection.create(path, caches, backbone or default_backbone())


def open_collection(path: Path, caches: CacheFolders, making: BackboneMaking) -> LiveCollection:
    """Open a project for writing, or for reading only where the file or its folder refuses writing."""
    try:
        return _opened(path, caches, making, for_writing=True)
    except ProjectReadOnlyError:
        return open_for_reading(path, caches, making)


def open_for_reading(path: Path, caches: CacheFolders, making: BackboneMaking) -> LiveCollection:
    """Open a project that is not to be changed, or that another window is changing."""
    return _opened(path, caches, making, for_writing=False)


def _opened(path: Path, caches: CacheFolders, making: BackboneMaking, *, for_writing: bool) -> LiveCollection:
    """Who shows a project makes its backups, beside the work."""
    from engine.collection.live import LiveCollection
    from engine.project import Project

    project = Project.open(path, for_writing=for_writing, is_backed_up=False)
    try:
        making.check_project(project)
        return LiveCollection(project, caches)
    except BaseException:
        project.close()
        raise


def listed(live: LiveCollection) -> News:
    """What a window can show at once of a collection just opened; one that cannot be read is closed again."""
    try:
        live.load_list()
        return replace(news_of_everything(live), is_behind=False)  # the embeddings come first
    except BaseException:
        live.close()
        raise
