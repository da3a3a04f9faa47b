"""Which model files a project uses: the bundled ones, or a backbone of the person's own."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.config import assets_folder
from engine.errors import ModelError
from engine.model_card import BackboneCard, file_hash, read_card

if TYPE_CHECKING:
    from engine.project.records import ModelVersion

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


def model_of(version: "ModelVersion") -> ModelFiles:
    """Find the files of a project's model version.

    Raises:
        ModelError: the files are gone or are not those that the project was made with.
    """
    files = find_model(version.backbone_path or version.backbone_name)
    if files.backbone_hash != version.backbone_hash and not files.is_bundled:
        raise ModelError(
            "the backbone file has changed since the project was made",
            expected=version.backbone_hash[:12],
            found=f"{files.backbone_hash[:12]} in {files.backbone}",
            remedy="put the old file back or choose the new one as a new model version",
        )
    return files
