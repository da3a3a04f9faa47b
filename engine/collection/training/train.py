"""One way in for both depths of training."""

from pathlib import Path
from typing import Final

from engine.collection.training.backbone import train_backbone
from engine.collection.training.settings import Chosen
from engine.collection.training.trained import DEPTHS, TrainedFiles
from engine.collection.training.tune import tune_propagation
from engine.config import CacheFolders
from engine.errors import UsageError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.project import Project
from engine.training.curve import OnPoint, ignore_point
from engine.training.needed_packages import check_packages

PACKAGES: Final = ("torch", "onnx", "onnxscript", "safetensors")


def train(
    project: Project,
    caches: CacheFolders,
    depth: str,
    chosen: Chosen | None = None,
    *,
    out: Path,
    on_progress: OnProgress = ignore_progress,
    on_point: OnPoint = ignore_point,
    cancel: CancelToken | None = None,
) -> TrainedFiles:
    """Train at a depth, "propagation" or "backbone"; see `tune_propagation` and `train_backbone`.

    Raises:
        UsageError: there is no such depth.
        ModelError: packages that training needs are not installed.
    """
    if depth not in DEPTHS:
        raise UsageError("there is no such depth of training", expected=" or ".join(DEPTHS), found=depth)
    check_packages(PACKAGES, "training needs")
    run = tune_propagation if depth == "propagation" else train_backbone
    return run(project, caches, chosen, out=out, on_progress=on_progress, on_point=on_point, cancel=cancel)
