"""Results of training: a folder to add as a model version, or an unfinished run.

The cache has one unfinished training of each project. It is continued only with the same model,
labels, classes and settings, so that the result is that of an uninterrupted one. Without torch: the
window uses this module too.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any, Literal, get_args

from engine.collection.models import find_model
from engine.collection.training.labelled import labelled_images
from engine.collection.training.settings import (
    BackboneSettings,
    Chosen,
    TrainingProgress,
    plain_settings,
    with_chosen,
)
from engine.collection.training.starts import start_of
from engine.config import CacheFolders
from engine.errors import FormatError, ModelError, ProtoleafError, StorageError, found_at
from engine.events import CancelToken
from engine.full_disk import writing
from engine.model_card import BackboneCard, card_of, card_text, file_hash
from engine.new_file import private_folder, write_file
from engine.project import Project, TrainedModel
from engine.project.records import Plain
from engine.runtime.eight_bit import eight_bit_path
from engine.training.curve import CHECKPOINT_NAME, TrainingPoint, kept_iteration

Depth = Literal["propagation", "backbone"]

DEPTHS: tuple[Depth, ...] = get_args(Depth)
BASE_NAMES: Mapping[Depth, str] = {
    "propagation": "Tuned propagation",
    "backbone": "Trained backbone",
}
FIGURE_NAMES = (
    "before_accuracy",
    "after_accuracy",
    "held_out_images",
    "iterations",
    "kept_iteration",
)

_DESCRIPTION = "trained.json"
_BACKBONE = "backbone.onnx"
_PROPAGATION = "propagation.onnx"

FOLDER = "unfinished-trainings"
KEPT_S = 30 * 86_400  # lifetime of an unfinished training. Chosen
_RUN = "training.json"
_ELSEWHERE = ("device", "points")  # settings without influence on the result


@dataclass(frozen=True)
class TrainedFiles:
    """A trained model in a folder, not part of any project yet."""

    folder: Path
    depth: Depth  # the trained part
    name: str  # "Tuned propagation 2"
    parent_id: int  # the model version that training started from
    backbone_name: str
    backbone_hash: str  # SHA-256 of the backbone as hex; of the parent's for depth "propagation"
    card: BackboneCard
    # such as `before_accuracy` and `after_accuracy` (0..1), `iterations`
    figures: Mapping[str, float | None]
    settings: Mapping[str, Plain] = field(default_factory=dict)  # of the training
    history: tuple[TrainingPoint, ...] = ()  # the curve

    @property
    def backbone(self) -> Path | None:
        return backbone_file(self.folder) if self.depth == "backbone" else None

    @property
    def eight_bit(self) -> Path | None:
        path = eight_bit_path(backbone_file(self.folder))
        return path if self.depth == "backbone" and path.is_file() else None

    @property
    def propagation(self) -> Path:
        return propagation_file(self.folder)


def backbone_file(folder: Path) -> Path:
    """Path of the trained backbone."""
    return folder / _BACKBONE


def propagation_file(folder: Path) -> Path:
    """Path of the trained propagation."""
    return folder / _PROPAGATION


@dataclass(frozen=True)
class TrainingTask:
    """Input of a training."""

    project: Project  # may be read-only
    caches: CacheFolders
    chosen: Chosen  # settings by field name
    out: Path  # folder for the files
    progress: TrainingProgress
    cancel: CancelToken


@contextmanager
def training_folder(folder: Path) -> Iterator[None]:
    """Make a folder for a training; remove it if the training fails or is stopped.

    Raises:
        StorageError: it is not empty, or not writable.
    """
    with _writing(folder):
        private_folder(folder)
        is_empty = not any(folder.iterdir())
    if not is_empty:
        raise StorageError(
            "the folder for the trained model is not empty",
            found=str(folder),
            remedy="choose another",
        )
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def write_trained(trained: TrainedFiles) -> None:
    """Write the description of model files.

    Raises:
        StorageError: the disk is full or fails.
    """
    fields = asdict(trained) | {"card": card_text(trained.card)}
    del fields["folder"]
    with _writing(trained.folder):
        write_file(trained.folder / _DESCRIPTION, json.dumps(fields, indent=2) + "\n")


def read_trained(folder: Path) -> TrainedFiles:
    """Read the files of `write_trained`.

    Raises:
        FormatError: the folder has no complete trained model.
    """
    path = folder / _DESCRIPTION
    try:
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        fields["card"] = card_of(fields["card"], source=str(path))
        fields["history"] = tuple(TrainingPoint(**point) for point in fields["history"])
        trained = TrainedFiles(folder, **fields)
    except OSError as error:
        raise FormatError(
            "there is no trained model", expected=str(path), found=error.strerror or ""
        ) from error
    except (ModelError, ValueError, KeyError, TypeError) as error:
        raise FormatError(
            "the trained model cannot be read", found=found_at(path, error)
        ) from error
    missing = [
        file
        for file in (trained.backbone, trained.propagation)
        if file is not None and not file.is_file()
    ]
    if missing:
        raise FormatError(
            "the trained model is not whole", expected=str(missing[0]), found="nothing"
        )
    return trained


def adopt(project: Project, trained: TrainedFiles) -> int:
    """Add a trained model to its project as a version, not in use yet; return its id.

    The backbone is added even if only propagation was trained: the bundled one may change with the
    next release, and propagation fits only the embeddings it was tuned on.

    Raises:
        InputError: its parent version is not in this project.
        ModelError: the backbone that propagation was tuned for is missing or has changed.
        StorageError: a file cannot be read, or the disk is full.
        ProjectReadOnlyError: the project is read-only.
    """
    try:
        propagation = trained.propagation.read_bytes()
        backbone = (
            _backbone_of(project, trained)
            if trained.backbone is None
            else trained.backbone.read_bytes()
        )
        eight_bit = _eight_bit_of(project, trained)
    except OSError as error:
        raise StorageError(
            "the trained model cannot be read", found=found_at(trained.folder, error)
        ) from error
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
    """The new companion, or the parent's if only propagation was trained."""
    if trained.backbone is not None:
        return None if trained.eight_bit is None else trained.eight_bit.read_bytes()
    parent = project.models.version(trained.parent_id)
    return project.models.file(parent.eight_bit_hash) if parent.eight_bit_hash else None


def free_name(project: Project, depth: Depth, *, wanted: str = "") -> str:
    """The wanted name if no model version has it, else a numbered one."""
    taken = {"", *(version.name for version in project.models.versions())}
    names = chain([wanted], (f"{BASE_NAMES[depth]} {number}" for number in count(1)))
    return next(name for name in names if name not in taken)


def _writing(folder: Path) -> AbstractContextManager[None]:
    return writing(
        folder, "the trained model cannot be written", "choose another folder or free some space"
    )


@dataclass(frozen=True)
class Unfinished:
    """A training that can be continued."""

    done: int  # finished iterations
    iterations: int  # in all
    chosen: Mapping[str, Plain]  # settings by name, to continue with


def unfinished(project: Project, caches: CacheFolders) -> Unfinished | None:
    """Find a stopped training of a project that can be continued."""
    folder = _folder(project, caches)
    try:
        facts: dict[str, Any] = json.loads((folder / _RUN).read_text(encoding="utf-8"))
        chosen, done = dict(facts["chosen"]), kept_iteration(folder / CHECKPOINT_NAME)
        settings = start_of(
            project, caches, str(chosen.get("start", BackboneSettings.start))
        ).filled_in(with_chosen(BackboneSettings(), chosen))
        if facts["fingerprint"] != fingerprint(project, caches, settings):
            return None
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        ProtoleafError,
    ):  # nothing there, or nothing to go on with
        return None
    return Unfinished(done, settings.iterations, chosen)


def open_run(
    project: Project, caches: CacheFolders, settings: BackboneSettings, chosen: Chosen
) -> Path:
    """Make the folder for the checkpoints of a training; keep those of the same training.

    Raises:
        StorageError: the cache folder is not writable.
    """
    folder, ours = _folder(project, caches), fingerprint(project, caches, settings)
    _sweep(folder.parent)
    with writing(folder, "the training checkpoints cannot be saved", "free some disk space"):
        try:
            facts = json.loads((folder / _RUN).read_text(encoding="utf-8"))
            is_ours = facts["fingerprint"] == ours
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            is_ours = False
        if not is_ours:
            shutil.rmtree(folder, ignore_errors=True)
            private_folder(folder)
            write_file(
                folder / _RUN, json.dumps({"fingerprint": ours, "chosen": dict(chosen)}) + "\n"
            )
    return folder


def forget(run: Path) -> None:
    """Remove a finished or discarded run."""
    shutil.rmtree(run, ignore_errors=True)


def fingerprint(project: Project, caches: CacheFolders, settings: BackboneSettings) -> str:
    """Hash of all inputs of a training.

    Raises:
        InputError: nothing is labelled.
        ModelError: the start is missing.
    """
    labelled, graph = labelled_images(project), project.classes.graph
    facts = {
        "start": start_of(project, caches, settings.start).identity,
        "settings": {
            name: value
            for name, value in plain_settings(settings).items()
            if name not in _ELSEWHERE
        },
        "labels": [labelled.image_ids.tolist(), labelled.class_ids.tolist(), list(labelled.paths)],
        "classes": {
            class_id: sorted(graph.parents(class_id)) for class_id in sorted(graph.classes())
        },
    }
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _folder(project: Project, caches: CacheFolders) -> Path:
    place = hashlib.sha256(
        str(project.path.absolute()).encode("utf-8", "surrogateescape")
    ).hexdigest()
    return caches.root / FOLDER / place[:32]


def _sweep(parent: Path) -> None:
    for folder in parent.glob("*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > KEPT_S:
                shutil.rmtree(folder, ignore_errors=True)
