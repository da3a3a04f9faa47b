"""Scripted trainings: children that write a trained worker's results, and models to choose."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import onnx

from app.jobs.process_job import ProcessJob
from app.training.logic import Trained
from engine.collection.live import LiveCollection
from engine.config import assets_folder
from engine.events import Progress
from engine.model_card import file_hash
from engine.project import Change, ModelVersion, Project
from engine.requests import Train, TrainingResult
from engine.training.curve import TrainingPoint
from tests.support.scripted_workers import Step, scripted_command

FIGURES: dict[str, float | None] = {
    "before_accuracy": 0.571,
    "after_accuracy": 0.619,
    "held_out_images": 42,
    "iterations": 40,
    "kept_iteration": 30,
}
NAME = "Tuned propagation 1"


def points(count: int, *, step: int = 10) -> list[Step]:
    """An improving curve: progress and a point every `step` iterations."""
    steps: list[Step] = []
    for number in range(count + 1):
        done = number * step
        steps.append(
            Progress(done, count * step, "iterations", 20.0, (count - number) * step / 20.0, "CPU")
        )
        steps.append(
            TrainingPoint(done, 2.0 / (1 + number), 2.2 / (1 + number), 0.5 + 0.04 * number)
        )
    return steps


def result(**figures: float | None) -> TrainingResult:
    """The end of a successful training in the folder of the request."""
    return TrainingResult(Path(), NAME, FIGURES | figures)


class Trainer:
    """Makes jobs that play scripts in sequence, and records requests.

    Args:
        scripts: of each job; "wait" waits for a cancel.
    """

    def __init__(self, *scripts: Sequence[Step]) -> None:
        self.requests: list[Train] = []
        self._scripts = list(scripts)

    def __call__(self, title: str, request: Train) -> ProcessJob:
        """Make the next job."""
        self.requests.append(request)
        request.out.mkdir(parents=True)
        script = [
            replace(step, folder=request.out) if isinstance(step, TrainingResult) else step
            for step in self._scripts.pop(0)
        ]
        return ProcessJob(title, request, scripted_command(script))


def store_other_backbone(backbone: Path) -> Callable[[LiveCollection, Trained, Path], Trained]:
    """Store a backbone as a new version, in place of a scripted training's result."""

    def store(live: LiveCollection, trained: Trained, _project_path: Path) -> Trained:
        assert trained.folder.is_dir()
        version = add_backbone(live.project, backbone)
        return Trained(
            trained.depth, trained.folder, backbone.stem, trained.figures, version.version_id
        )

    return store


def add_backbone(project: Project, backbone: Path) -> ModelVersion:
    """Add another backbone as a model version."""
    return project.models.add(
        backbone_name=backbone.stem,
        backbone_hash=file_hash(backbone),
        backbone_path=str(backbone),
        propagation_hash=file_hash(backbone.with_suffix(".propagation.onnx")),
    )


def choose_backbone(project: Project, backbone: Path) -> Change:
    """Add it and use it."""
    return project.models.choose(add_backbone(project, backbone).version_id)


def other_backbone(folder: Path) -> Path:
    """The bundled backbone as a file of another hash, which counts as another backbone."""
    folder.mkdir(parents=True, exist_ok=True)
    bundled = assets_folder() / "models" / "leafnet.onnx"
    backbone = folder / "otherleaf.onnx"
    model = onnx.load(bundled)
    model.doc_string = "another one"
    backbone.write_bytes(model.SerializeToString())
    for suffix in (".card.json", ".propagation.onnx"):
        shutil.copy(bundled.with_suffix(suffix), backbone.with_suffix(suffix))
    return backbone
