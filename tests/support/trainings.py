"""Trainings that take no time: children that write what a trained worker would, and models to choose."""

import json
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import onnx

from app.jobs.process_job import ProcessJob
from app.training.logic import Trained
from engine.collection.live import LiveCollection
from engine.config import assets_folder
from engine.model_card import file_hash
from engine.project import Change, ModelVersion, Project

FIGURES: Final = {
    "before_accuracy": 0.571,
    "after_accuracy": 0.619,
    "held_out_images": 42,
    "iterations": 40,
    "kept_iteration": 30,
}
NAME: Final = "Tuned propagation 1"

_CHILD: Final = """
import json, os, sys
job = json.loads(sys.stdin.readline())
os.makedirs(job["out"])
for line in json.loads(sys.argv[1]):
    if line == "wait":
        sys.stdin.readline()
        sys.exit(0)
    if line.get("event") == "result":
        line["folder"] = job["out"]
    print(json.dumps(line), flush=True)
sys.exit(1 if line.get("event") == "error" else 0)
"""

Event = Mapping[str, Any] | str


def points(count: int, *, step: int = 10) -> list[Event]:
    """A curve that gets better: progress and a point every `step` iterations."""
    events: list[Event] = []
    for number in range(count + 1):
        done = number * step
        events.append({
            "event": "progress", "done": done, "total": count * step, "unit": "iterations",
            "rate_per_s": 20.0, "seconds_left": (count - number) * step / 20.0, "note": "CPU",
        })  # fmt: skip
        events.append({
            "event": "point", "iteration": done, "loss": 2.0 / (1 + number),
            "validation_loss": 2.2 / (1 + number), "accuracy": 0.5 + 0.04 * number,
        })  # fmt: skip
    return events


def result(**figures: float | None) -> Event:
    """The end of a training that went well."""
    return {"event": "result", "name": NAME, "figures": FIGURES | figures}


class Trainer:
    """Makes jobs that play scripts: one after the other, and remembers what was asked for.

    Args:
        scripts: events of each job; "wait" stays until somebody cancels.
    """

    def __init__(self, *scripts: Sequence[Event]) -> None:
        self.requests: list[dict[str, Any]] = []
        self._scripts = list(scripts)

    def __call__(self, title: str, request: dict[str, Any]) -> ProcessJob:
        """Make the next job."""
        self.requests.append(request)
        script = json.dumps(self._scripts.pop(0))
        return ProcessJob(title, request, [sys.executable, "-S", "-c", _CHILD, script])


def store_other_backbone(backbone: Path) -> Callable[[LiveCollection, Trained, Path], Trained]:
    """Store a backbone as a new version, in place of what a fake training left in its folder."""

    def store(live: LiveCollection, trained: Trained, _project_path: Path) -> Trained:
        assert trained.folder.is_dir()
        version = add_backbone(live.project, backbone)
        return Trained(trained.depth, trained.folder, backbone.stem, trained.figures, version.version_id)

    return store


def add_backbone(project: Project, backbone: Path) -> ModelVersion:
    """Add a backbone of the person's own as a model version."""
    return project.add_model_version(
        backbone_name=backbone.stem,
        backbone_hash=file_hash(backbone),
        backbone_path=str(backbone),
        propagation_hash=file_hash(backbone.with_suffix(".propagation.onnx")),
    )


def choose_backbone(project: Project, backbone: Path) -> Change:
    """Add it and use it."""
    return project.choose_model(add_backbone(project, backbone).version_id)


def other_backbone(folder: Path) -> Path:
    """The bundled backbone as a file of other content, so that the program takes it for another one."""
    folder.mkdir(parents=True, exist_ok=True)
    bundled = assets_folder() / "models" / "leafnet.onnx"
    backbone = folder / "otherleaf.onnx"
    model = onnx.load(bundled)
    model.doc_string = "another one"
    backbone.write_bytes(model.SerializeToString())
    for suffix in (".card.json", ".propagation.onnx"):
        shutil.copy(bundled.with_suffix(suffix), backbone.with_suffix(suffix))
    return backbone
