"""What a training leaves behind: a folder of files, read again by whoever adds them to the project.

The worker trains and writes the folder; the window reads it and adds it as a model version. So this module needs no
torch.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, get_args

from engine.collection.models import find_model
from engine.errors import FormatError, ModelError, StorageError
from engine.full_disk import storage_error
from engine.model_card import BackboneCard, card_of, card_text, file_hash
from engine.new_file import private_folder, write_file
from engine.project import Project, TrainedModel
from engine.project.records import Plain
from engine.runtime.eight_bit import eight_bit_path
from engine.training.curve import TrainingPoint

Depth = Literal["propagation", "backbone"]

DEPTHS: Final[tuple[Depth, ...]] = get_args(Depth)
BASE_NAMES: Final[Mapping[Depth, str]] = {"propagation": "Tuned propagation", "backbone": "Trained backbone"}
FIGURE_NAMES: Final = ("before_accuracy", "after_accuracy", "held_out_images", "iterations", "kept_iteration")

_DESCRIPTION: Final = "trained.json"
_BACKBONE: Final = "backbone.onnx"
_PROPAGATION: Final = "propagation.onnx"


@dataclass(frozen=True)
class TrainedFiles:
    """A trained model in a folder, not part of any project yet."""

    folder: Path  # where the files lie
    depth: Depth  # what was trained
    name: str  # "Tuned propagation 2"
    parent_id: int  # the model version that training started from
    backbone_name: str  # what the backbone is called
    backbone_hash: str  # SHA-256 of the backbone as hex; of the parent's where only propagation was trained
    card: BackboneCard  # what inference must know
    # `before_accuracy` and `after_accuracy` (0..1) on `held_out_images` that training never saw, None where nothing
    # could be held out; `iterations`, and `kept_iteration`, the one whose state this is
    figures: Mapping[str, float | None]
    settings: Mapping[str, Plain] = field(default_factory=dict)  # what it was trained with
    history: tuple[TrainingPoint, ...] = ()  # the curve

    @property
    def backbone(self) -> Path | None:
        """The backbone's file; None where the parent's is used."""
        return backbone_file(self.folder) if self.depth == "backbone" else None

    @property
    def eight_bit(self) -> Path | None:
        """The backbone's eight-bit companion; None where there is none."""
        path = eight_bit_path(backbone_file(self.folder))
        return path if self.depth == "backbone" and path.is_file() else None

    @property
    def propagation(self) -> Path:
        """The propagation's file."""
        return propagation_file(self.folder)


def backbone_file(folder: Path) -> Path:
    """Where a trained backbone is in its folder."""
    return folder / _BACKBONE


def propagation_file(folder: Path) -> Path:
    """Where trained propagation is in its folder."""
    return folder / _PROPAGATION


@contextmanager
def training_folder(folder: Path) -> Iterator[None]:
    """Make a folder for a training and take it away again when the training fails or is stopped.

    Raises:
        StorageError: something is there already, or the disk refuses.
    """
    try:
        private_folder(folder)
        is_empty = not any(folder.iterdir())
    except OSError as error:
        raise _refused(folder, error) from error
    if not is_empty:
        raise StorageError("the folder for the trained model is not empty", found=str(folder), remedy="choose another")
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def write_trained(trained: TrainedFiles) -> None:
    """Write the description beside the model files, which are there already.

    Raises:
        StorageError: the disk refuses.
    """
    fields = asdict(trained) | {"card": card_text(trained.card)}
    del fields["folder"]
    try:
        write_file(trained.folder / _DESCRIPTION, json.dumps(fields, indent=2) + "\n")
    except OSError as error:
        raise _refused(trained.folder, error) from error


def read_trained(folder: Path) -> TrainedFiles:
    """Read what `write_trained` wrote.

    Raises:
        FormatError: the folder holds no trained model, or not all of one.
    """
    path = folder / _DESCRIPTION
    try:
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        fields["card"] = card_of(fields["card"], source=str(path))
        fields["history"] = tuple(TrainingPoint(**point) for point in fields["history"])
        trained = TrainedFiles(folder, **fields)
    except OSError as error:
        raise FormatError("there is no trained model", expected=str(path), found=error.strerror or "") from error
    except (ModelError, ValueError, KeyError, TypeError) as error:
        raise FormatError("the trained model cannot be read", found=f"{path}: {error}") from error
    missing = [file for file in (trained.backbone, trained.propagation) if file is not None and not file.is_file()]
    if missing:
        raise FormatError("the trained model is not whole", expected=str(missing[0]), found="nothing")
    return trained


def adopt(project: Project, trained: TrainedFiles) -> int:
    """Add a trained model to its project as a version, with all its files, without choosing it.

    The backbone comes along even where only propagation was trained: the bundled one may be another in the next
    release of the program, and propagation fits only the embeddings it was tuned on.

    Returns:
        The version's id.

    Raises:
        InputError: the version it was trained from is not in this project.
        ModelError: the backbone that propagation was tuned for is not there any more, or is another by now.
        StorageError: a file cannot be read, or the disk refuses.
        ProjectReadOnlyError: the project is open for reading only.
    """
    try:
        propagation = trained.propagation.read_bytes()
        backbone = _backbone_of(project, trained) if trained.backbone is None else trained.backbone.read_bytes()
        eight_bit = _eight_bit_of(project, trained)
    except OSError as error:
        raise StorageError("the trained model cannot be read", found=f"{trained.folder}: {error.strerror}") from error
    model = TrainedModel(
        name=free_name(project, trained.depth, wanted=trained.name),
        parent_id=trained.parent_id,
        card=card_text(trained.card),
        backbone_name=trained.backbone_name,
        backbone=backbone,
        propagation=propagation,
        eight_bit=eight_bit,
        settings={"depth": trained.depth, **trained.settings},
        figures=trained.figures,
    )
    return project.models.add_trained(model).version_id


def _backbone_of(project: Project, trained: TrainedFiles) -> bytes:
    parent = project.models.version(trained.parent_id)
    if parent.is_trained_here:
        return project.models.file(parent.backbone_hash)
    path = find_model(parent.backbone_path or parent.backbone_name).backbone
    if (found := file_hash(path)) != trained.backbone_hash:
        raise ModelError(
            "the backbone has changed since the training",
            expected=trained.backbone_hash[:12],
            found="{hash} in {path}",
            remedy="train again",
            hash=found[:12],
            path=path,
        )
    return path.read_bytes()


def _eight_bit_of(project: Project, trained: TrainedFiles) -> bytes | None:
    """The new companion; where only propagation was trained, that of the parent which lies in the project."""
    if trained.backbone is not None:
        return None if trained.eight_bit is None else trained.eight_bit.read_bytes()
    parent = project.models.version(trained.parent_id)
    return project.models.file(parent.eight_bit_hash) if parent.eight_bit_hash else None


def free_name(project: Project, depth: Depth, *, wanted: str = "") -> str:
    """A name no other model version of the project has: the wanted one, or "Tuned propagation 2" after a first."""
    taken = {version.name for version in project.models.versions()}
    if wanted and wanted not in taken:
        return wanted
    number = 1
    while (name := f"{BASE_NAMES[depth]} {number}") in taken:
        number += 1
    return name


def _refused(folder: Path, error: OSError) -> StorageError:
    remedy = "choose another folder or free some space"
    return storage_error(folder, error, "the trained model cannot be written", remedy)
