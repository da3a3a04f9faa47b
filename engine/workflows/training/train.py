"""One way in for both depths of training."""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from engine.config import CacheFolders
from engine.errors import ModelError, UsageError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.project import Project
from engine.workflows.training.backbone import train_backbone
from engine.workflows.training.settings import Chosen
from engine.workflows.training.telling import OnPoint, ignore_point
from engine.workflows.training.trained import DEPTHS, TrainedFiles
from engine.workflows.training.tune import tune_propagation

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
    check_packages()
    run = tune_propagation if depth == "propagation" else train_backbone
    return run(project, caches, chosen, out=out, on_progress=on_progress, on_point=on_point, cancel=cancel)


def check_packages() -> None:
    """Refuse to train where only what classification needs is installed.

    Raises:
        ModelError: names the packages that are missing.
    """
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise ModelError(
            "training needs packages that are not installed",
            expected=", ".join(PACKAGES),
            found=f"no {', '.join(missing)}",
            remedy="install protoleaf[train]",
        )
