"""Which model files a project uses: the bundled ones, a backbone of the person's own, or what was trained in it."""

import uuid
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.config import CacheFolders, assets_folder
from engine.errors import ModelError, StorageError
from engine.model_card import BackboneCard, card_of, file_hash, read_card

if TYPE_CHECKING:
    from engine.project import ModelVersion, Project

BUNDLED_NAME: Final = "leafnet"
_MODELS: Final = "models"


@dataclass(frozen=True)
class ModelFiles:
    """A backbone with its card, and the exported equations that fit its width."""

    name: str
    backbone: Path
    backbone_hash: str
    card: BackboneCard
    propagation: Path
    propagation_hash: str

    @property
    def is_bundled(self) -> bool:
        """Whether the backbone ships with the program."""
        return self.backbone.is_relative_to(assets_folder())


def bundled_backbones() -> tuple[str, ...]:
    """Names of the backbones that ship with the program."""
    return tuple(sorted(path.stem for path in (assets_folder() / _MODELS).glob("*.onnx") if _has_card(path)))


def _has_card(path: Path) -> bool:
    return path.with_suffix(".card.json").exists()


def find_model(name_or_path: str = BUNDLED_NAME) -> ModelFiles:
    """Look a backbone up by the name of a bundled one or by the path of an ONNX file with a card beside it.

    Raises:
        ModelError: there is none, or its card or propagation file is missing.
    """
    bundled = assets_folder() / _MODELS / f"{name_or_path}.onnx"
    path = bundled if name_or_path in bundled_backbones() else Path(name_or_path).absolute()
    if not path.is_file():
        names = ", ".join(bundled_backbones()) or "none"
        raise ModelError("there is no such backbone", expected=f"{names}, or an ONNX file", found=f"“{name_or_path}”")
    return _model_files(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _model_files(path: Path, _modified_ns: int) -> ModelFiles:
    card = read_card(path)
    propagation = _propagation_beside(path, card)
    return ModelFiles(card.name, path, file_hash(path), card, propagation, file_hash(propagation))


def _propagation_beside(path: Path, card: BackboneCard) -> Path:
    """The propagation file of this backbone: `x.onnx` has `x.propagation.onnx`."""
    propagation = path.with_suffix(".propagation.onnx")
    if propagation.is_file():
        return propagation
    raise ModelError(
        "the backbone has no propagation file beside it",
        expected=str(propagation),
        found="nothing",
        remedy=f"export one for embeddings of width {card.embedding_width}",
    )


def model_of(project: "Project", caches: CacheFolders, version: "ModelVersion | None" = None) -> ModelFiles:
    """Find the files of one of a project's model versions.

    A version that was trained in the project lies in it; its files are taken out into the cache once.

    Args:
        project: may be open for reading only.
        caches: where files of trained versions are kept; they are made again when they are gone.
        version: by default the one in use.

    Raises:
        ModelError: the files are gone or are not those that the project was made with.
        ProjectDamagedError: a file in the project is damaged.
        StorageError: the cache folder refuses.
    """
    version = version or project.model
    if version.is_trained_here:
        return _trained_files(project, caches, version)
    files = find_model(version.backbone_path or version.backbone_name)
    if files.backbone_hash != version.backbone_hash and not files.is_bundled:
        raise ModelError(
            "the backbone file has changed since the project was made",
            expected=version.backbone_hash[:12],
            found=f"{files.backbone_hash[:12]} in {files.backbone}",
            remedy="put the old file back or choose the new one as a new model version",
        )
    return files


def _trained_files(project: "Project", caches: CacheFolders, version: "ModelVersion") -> ModelFiles:
    backbone = _bundled_with(version.backbone_hash) or _taken_out(project, caches, version.backbone_hash)
    return ModelFiles(
        version.name,
        backbone,
        version.backbone_hash,
        card_of(version.card, source=version.name),
        _taken_out(project, caches, version.propagation_hash),
        version.propagation_hash,
    )


def _bundled_with(content_hash: str) -> Path | None:
    """The bundled backbone of this content: it need not be taken out of the project."""
    found = (find_model(name) for name in bundled_backbones())
    return next((files.backbone for files in found if files.backbone_hash == content_hash), None)


def _taken_out(project: "Project", caches: CacheFolders, content_hash: str) -> Path:
    """A file of the project in the cache, written when it is not there or is not what it was."""
    path = caches.models / f"{content_hash}.onnx"
    temporary = path.with_name(f".{uuid.uuid4().hex}.onnx")
    try:
        if path.is_file() and _hash_at(path, path.stat().st_mtime_ns) == content_hash:
            return path
        content = project.model_file(content_hash)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        raise StorageError(
            "the model cannot be written to the cache folder",
            found=f"{caches.models}: {error.strerror}",
            remedy="free some disk space or choose another cache folder",
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink()
    return path


@lru_cache(maxsize=8)
def _hash_at(path: Path, _modified_ns: int) -> str:
    return file_hash(path)
