"""A project whose backbone is not on this computer any more: it opens all the same, by what its cache remembers."""

from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.backbones.model_files import ModelFiles, own_propagation, width_agnostic_propagation
from engine.collection.models import find_model, model_of
from engine.config import CacheFolders
from engine.errors import ModelError
from engine.model_card import BackboneCard, card_of, file_hash

if TYPE_CHECKING:
    from engine.project import ModelVersion, Project

CARD_SETTING: Final = "backbone_card"
"""Setting of a model version: the backbone's card, so that its embeddings can be read without its file."""


def model_or_lost(project: "Project", caches: CacheFolders, version: "ModelVersion | None" = None) -> ModelFiles:
    """The files of a model version; where they are gone, what still works without them.

    What is embedded already stays classified, with the propagation that fits every width. Nothing new can be embedded:
    `engine.collection.models.model_of` says why.

    Args:
        project: may be open for reading only.
        version: by default the one in use.

    Raises:
        ProjectDamagedError: a file in the project is damaged.
        StorageError: the cache folder refuses.
    """
    version = version or project.models.current
    try:
        return model_of(project, caches, version)
    except ModelError:
        propagation = _propagation_of(version)
        path = Path(version.backbone_path or f"{version.backbone_name}.onnx")
        card = _card_of(version, caches)
        return ModelFiles(card.name, path, version.backbone_hash, card, propagation, _hash_of(propagation))


def lost_reason(project: "Project", caches: CacheFolders) -> str:
    """Why nothing can be embedded with the version in use, in one line; empty when all is well."""
    try:
        model_of(project, caches)
    except ModelError as error:
        return str(error)
    return ""


def _propagation_of(version: "ModelVersion") -> Path:
    """The file that the backbone had where it is still there, or the one without parameters."""
    own = own_propagation(Path(version.backbone_path)) if version.backbone_path else None
    if own is not None and own.is_file() and _hash_of(own) == version.propagation_hash:
        return own
    return width_agnostic_propagation()


def _card_of(version: "ModelVersion", caches: CacheFolders) -> BackboneCard:
    text = version.settings.get(CARD_SETTING)
    if isinstance(text, str):
        with suppress(ModelError):  # written by a newer program, or damaged: the project opens all the same
            return card_of(text, source=version.label)
    bundled = find_model().card
    return BackboneCard(
        version.label, bundled.input_side, bundled.mean, bundled.std, _width_in(caches, version.backbone_hash)
    )


def _width_in(caches: CacheFolders, backbone_hash: str) -> int:
    """Width of the embeddings that are left of a backbone; that of the bundled one when there are none."""
    widths = [path.stem.partition("-")[2] for path in caches.embeddings.glob(f"{backbone_hash[:32]}-*.sqlite")]
    return next((int(width) for width in widths if width.isdecimal()), find_model().card.embedding_width)


def _hash_of(path: Path) -> str:
    return _hash_at(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _hash_at(path: Path, _modified_ns: int) -> str:
    return file_hash(path)
