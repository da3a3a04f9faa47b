"""What the panel asks of the engine; every function here runs on the project thread."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.backbones.logic import BackboneRow, Installed, Origin, ReadyChange, Removal
from engine.config import CacheFolders
from engine.errors import InputError, ModelError, ProtoleafError

if TYPE_CHECKING:
    from engine.collection.models import ModelFiles
    from engine.collection.state import CollectionState
    from engine.project import Change, Project

MOST_TRIED: Final = 8
"""Images are enough to see whether a network tells them apart, and are over in a moment."""
RATE_FIGURE: Final = "images_per_s_one_core"
PUBLISHED_PREFIX: Final = "torchvision-"


def installed_backbones(project: "Project", caches: CacheFolders) -> Installed:
    """What is on this computer, beside what the project uses."""
    from engine.collection.lost_model import lost_reason
    from engine.collection.models import all_models, model_of

    version = project.model
    reason = lost_reason(project, caches)
    used = None if reason or version.is_trained_here else model_of(project, caches)
    rows = [
        _row(files, files.name, is_used=used is not None and files.backbone_hash == used.backbone_hash)
        for files in all_models()
    ]
    if used is not None and not any(row.is_used for row in rows):
        rows.append(_row(used, str(used.backbone), is_used=True))
    rows.sort(key=lambda row: (not row.is_used, row.origin is not Origin.BUNDLED, row.name))
    return Installed(tuple(rows), version.label, reason)


def _row(files: "ModelFiles", source: str, *, is_used: bool) -> BackboneRow:
    card = files.card
    return BackboneRow(
        source=source,
        name=files.name,
        input_side=card.input_side,
        width=card.embedding_width,
        size_bytes=files.backbone.stat().st_size,
        origin=_origin(files),
        licence=card.licence,
        images_per_s=card.figures.get(RATE_FIGURE),
        is_used=is_used,
        file_name=files.backbone.name,
    )


def _origin(files: "ModelFiles") -> Origin:
    if files.is_bundled:
        return Origin.BUNDLED
    return Origin.PUBLISHED if files.name.startswith(PUBLISHED_PREFIX) else Origin.ADDED


def remove_added(project: "Project", caches: CacheFolders, name: str) -> Removal:
    """Delete a backbone of the person's library, unless the project came to use it while the person was asked."""
    from engine.backbones.library import BackboneLibrary

    library = BackboneLibrary()
    try:
        if _hash_in_use(project, caches) == library.entry(name).backbone_hash:
            raise InputError("the project uses this backbone", found=name, remedy="change to another one first")
        library.remove(name)
    except ProtoleafError as error:
        return Removal(name, str(error))
    return Removal(name)


def _hash_in_use(project: "Project", caches: CacheFolders) -> str:
    """Of the backbone that the project needs on this computer; empty where it has its own, or has lost it."""
    from engine.collection.models import model_of

    if project.model.is_trained_here:
        return ""
    try:
        return model_of(project, caches).backbone_hash
    except ModelError:
        return ""


def some_images(state: "CollectionState", count: int = MOST_TRIED) -> list[Path]:
    """Paths of images that could be read, spread evenly over the collection."""
    import numpy as np

    from engine.collection.state import ImageStatus

    ready = state.image_ids[state.status == ImageStatus.READY]
    if not len(ready):
        return []
    chosen = ready[np.unique(np.linspace(0, len(ready) - 1, min(count, len(ready))).round().astype(np.int64))]
    return [state.path_of(image_id) for image_id in chosen.tolist()]


def use_ready(project: "Project", ready: ReadyChange) -> "Change":
    """Change the project to a backbone that is ready: one action.

    Raises:
        ModelError: the backbone is gone, or is another by now.
        StorageError: the disk refuses; nothing has changed.
    """
    from engine.collection.backbone_change.change import use_backbone

    return use_backbone(project, ready.source, ready.backbone_hash, ready.news)


def fetched_sizes(caches: CacheFolders) -> dict[str, int]:
    """Bytes that have arrived of downloads that were stopped, by the network's name on this computer."""
    from engine.backbones.published.networks import kept_list, weights_path
    from engine.backbones.published.part_file import PartFile

    sizes = {facts.library_name: PartFile(weights_path(caches, facts)).size for facts in kept_list(caches) or ()}
    return {name: size for name, size in sizes.items() if size}
