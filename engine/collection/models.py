"""Find the model files of a project: bundled, of the library, or trained in the project."""

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from engine.backbones.library import BackboneLibrary
from engine.backbones.model_files import (
    FAST,
    ModelFiles,
    backbone_of_word,
    bundled_backbones,
    bundled_path,
    model_files,
    own_propagation,
    width_agnostic_propagation,
)
from engine.config import CacheFolders
from engine.errors import ModelError, reason_of
from engine.files import hash_in_name
from engine.full_disk import writing
from engine.model_card import BackboneCard, card_of, file_hash
from engine.new_file import clear_abandoned_drafts, private_folder, write_file
from engine.runtime.eight_bit import IDENTITY_DIGITS, eight_bit_path
from engine.texts import enumerated

if TYPE_CHECKING:
    from engine.project import Change, ModelVersion, Project

BUNDLED_NAME = FAST  # needs no conversion
LOST_REMEDY = "put the file back, or choose another backbone; classes and labels are safe"
# setting of a model version: the backbone's card, to read embeddings without its file
CARD_SETTING = "backbone_card"

__all__ = [
    "BUNDLED_NAME",
    "ModelFiles",
    "all_models",
    "bundled_backbones",
    "choose_version",
    "find_model",
    "model_of",
]


def model_or_fallback(
    project: "Project", caches: CacheFolders, version: "ModelVersion | None" = None
) -> ModelFiles:
    """The files of a model version; without them, what cached embeddings need.

    Embedded images stay classified, with a propagation for any width. Nothing new can be embedded.

    Raises:
        ProjectDamagedError: a file in the project is damaged.
        StorageError: the cache folder is not writable.
    """
    version = version or project.models.current
    try:
        return model_of(project, caches, version)
    except ModelError:
        propagation = _propagation_of(version)
        path = Path(version.backbone_path or f"{version.backbone_name}.onnx")
        card = _card_of(version, caches)
        identity = _identity_in(caches, version.backbone_hash)
        return ModelFiles(
            card.name,
            path,
            version.backbone_hash,
            card,
            propagation,
            _hash_of(propagation),
            identity,
        )


def missing_model_reason(project: "Project", caches: CacheFolders) -> str:
    """Why nothing can be embedded with the version in use, in one line, or ""."""
    try:
        model_of(project, caches)
    except ModelError as error:
        return reason_of(error)
    return ""


def _propagation_of(version: "ModelVersion") -> Path:
    """The backbone's own propagation file if it is unchanged, or the one without parameters."""
    own = own_propagation(Path(version.backbone_path)) if version.backbone_path else None
    if own is not None and own.is_file() and _hash_of(own) == version.propagation_hash:
        return own
    return width_agnostic_propagation()


def _card_of(version: "ModelVersion", caches: CacheFolders) -> BackboneCard:
    text = version.settings.get(CARD_SETTING)
    if isinstance(text, str):
        with suppress(
            ModelError
        ):  # written by a newer program, or damaged: the project still opens
            return card_of(text, source=version.label)
    bundled = find_model().card
    return BackboneCard(
        version.label,
        bundled.input_side,
        bundled.mean,
        bundled.std,
        _width_in(caches, version.backbone_hash),
    )


def _width_in(caches: CacheFolders, backbone_hash: str) -> int:
    """Width of the cached embeddings of a backbone; by default that of the bundled one."""
    widths = [path.stem.partition("-")[2] for path in _caches_of(caches, backbone_hash)]
    return next(
        (int(width) for width in widths if width.isdecimal()), find_model().card.embedding_width
    )


def _identity_in(caches: CacheFolders, backbone_hash: str) -> str:
    """Identity of the newest cached embeddings of a backbone, or ""."""
    name = next((path.stem.partition("-")[0] for path in _caches_of(caches, backbone_hash)), "")
    return backbone_hash if name and backbone_hash.startswith(name) else name


def _caches_of(caches: CacheFolders, backbone_hash: str) -> list[Path]:
    """Caches of a backbone's embeddings, also by its eight-bit companion, the newest first."""
    named = f"{hash_in_name(backbone_hash)[:IDENTITY_DIGITS]}*-*.sqlite"
    found = (*caches.embeddings.glob(named), *caches.embeddings.glob(f"imported/*/{named}"))
    return sorted(found, key=lambda path: path.stat().st_mtime_ns, reverse=True)


def _hash_of(path: Path) -> str:
    return _hash_at(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _hash_at(path: Path, _modified_ns: int) -> str:
    return file_hash(path)


def find_model(name_or_path: str = BUNDLED_NAME) -> ModelFiles:
    """Find a backbone: a bundled one, one of the library, or an ONNX file with a card.

    A bundled one may be converted by a child process first, which takes some seconds.

    Raises:
        ModelError: there is none, its card is missing, or it cannot be converted.
    """
    library, name = BackboneLibrary(), name_of(name_or_path)
    if name in bundled_backbones():
        return model_files(bundled_path(name) or _made(name))
    if name in library.names():
        return library.entry(name)
    path = Path(name_or_path).absolute()
    if not path.is_file():
        names = enumerated((*bundled_backbones(), *library.names())) or "none"
        raise ModelError(
            "there is no such backbone",
            expected="{names}, or an ONNX file",
            found=f"“{name_or_path}”",
            remedy="see them with `protoleaf backbone list`, or add one with "
            "`protoleaf backbone add`",
            names=names,
        )
    return model_files(path)


def name_of(backbone: str) -> str:
    """Name of a backbone by its name or alias; those of the library take precedence."""
    return backbone if backbone in BackboneLibrary().names() else backbone_of_word(backbone)


def all_models() -> tuple[ModelFiles, ...]:
    """All available backbones: bundled ones, then readable ones of the library."""
    library = BackboneLibrary()
    found = list(_bundled_models())
    for name in library.names():
        with suppress(ModelError):  # a damaged one is not a choice; naming it reports what is wrong
            found.append(library.entry(name))
    return tuple(found)


def _bundled_models() -> Iterator[ModelFiles]:
    """Those that need no conversion."""
    paths = map(bundled_path, bundled_backbones())
    return (model_files(path) for path in paths if path is not None)


def _made(name: str) -> Path:
    # Imported late: the client of worker processes slows down a quick command.
    from engine.backbones.bundled import at_hand

    return at_hand(name)


def model_of(
    project: "Project", caches: CacheFolders, version: "ModelVersion | None" = None
) -> ModelFiles:
    """Find the files of a model version, by default the one in use.

    Files of a version that was trained in the project are extracted to the cache.

    Raises:
        ModelError: the files are missing or have changed.
        ProjectDamagedError: a file in the project is damaged.
        StorageError: the cache folder is not writable.
    """
    version = version or project.models.current
    if version.is_trained_here:
        return _trained_files(project, caches, version)
    try:
        files = find_model(version.backbone_path or version.backbone_name)
    except ModelError as error:
        if (moved := _in_library_with(version.backbone_hash)) is not None:
            return moved
        raise ModelError(
            error.what, expected=error.expected, found=error.found, remedy=LOST_REMEDY
        ) from error
    if files.backbone_hash != version.backbone_hash and not files.is_bundled:
        if (moved := _in_library_with(version.backbone_hash)) is not None:
            return moved
        raise ModelError(
            "the backbone file has changed since the project was made",
            expected=version.backbone_hash[:12],
            found="{backbone_hash} in {backbone}",
            remedy=LOST_REMEDY,
            backbone_hash=files.backbone_hash[:12],
            backbone=files.backbone,
        )
    return files


def choose_version(project: "Project", caches: CacheFolders, version_id: int) -> "Change":
    """Use another model version: one action.

    Raises:
        InputError: there is no such version.
        ModelError: its files are missing or have changed; the project keeps its version.
        ProjectReadOnlyError: the project is read-only.
    """
    model_of(project, caches, project.models.version(version_id))
    return project.models.choose(version_id)


def _in_library_with(content_hash: str) -> ModelFiles | None:
    """The backbone of the library with this content: its path differs between computers."""
    library = BackboneLibrary()
    for name in library.names():
        with suppress(ModelError):
            if (files := library.entry(name)).backbone_hash == content_hash:
                return files
    return None


def _trained_files(project: "Project", caches: CacheFolders, version: "ModelVersion") -> ModelFiles:
    backbone = _bundled_with(version.backbone_hash)
    if backbone is None:
        backbone = _extracted(project, caches, version.backbone_hash)
        if version.eight_bit_hash:
            _extracted(project, caches, version.eight_bit_hash, path=eight_bit_path(backbone))
    return ModelFiles(
        version.name,
        backbone,
        version.backbone_hash,
        card_of(version.card, source=version.name),
        _extracted(project, caches, version.propagation_hash),
        version.propagation_hash,
    )


def _bundled_with(content_hash: str) -> Path | None:
    return next(
        (files.backbone for files in _bundled_models() if files.backbone_hash == content_hash), None
    )


def _extracted(
    project: "Project", caches: CacheFolders, content_hash: str, *, path: Path | None = None
) -> Path:
    """Extract a file of the project to the cache, if it is missing there or differs."""
    path = path or caches.models / f"{hash_in_name(content_hash)}.onnx"
    remedy = "free some disk space or choose another cache folder"
    with writing(caches.models, "the model cannot be written to the cache folder", remedy):
        if not path.is_file() or _hash_of(path) != content_hash:
            content = project.models.file(content_hash)
            clear_abandoned_drafts(private_folder(path.parent))
            write_file(path, content)
    return path
