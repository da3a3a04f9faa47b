"""What a worker does with a whole project; whoever asked changes it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.collection.messages import EstimateTraining, PrepareChange, Train, TrainingResult
from engine.config import CacheFolders
from engine.embedding.messages import EmbedBatch
from engine.events import CancelToken

if TYPE_CHECKING:
    from engine.collection.backbone_change.change import PreparedChange
    from engine.training.curve import TrainingDuration
    from engine.worker.serve import Send

ROWS_AT_ONCE: Final = 1_000


def train(request: Train, send: "Send", cancel: CancelToken) -> TrainingResult:
    """Train a model version; sends each point of the curve."""
    from engine.collection.training.train import train as run
    from engine.project import Project

    with Project.open(request.project, for_writing=False) as project:
        trained = run(
            project,
            CacheFolders(request.cache),
            request.depth,
            request.settings,
            out=request.out,
            on_progress=send,
            on_point=send,
            cancel=cancel,
        )
    return TrainingResult(trained.folder, trained.name, trained.figures)


def estimate_training(request: EstimateTraining, _send: "Send", _cancel: CancelToken) -> "TrainingDuration":
    """Measure how long a training would take."""
    from engine.collection.training.duration import estimate_duration
    from engine.collection.training.train import PACKAGES
    from engine.project import Project
    from engine.training.needed_packages import check_packages

    check_packages(PACKAGES, "training needs")
    with Project.open(request.project, for_writing=False) as project:
        return estimate_duration(project, CacheFolders(request.cache), request.settings)


def prepare_change(request: PrepareChange, send: "Send", cancel: CancelToken) -> "PreparedChange":
    """Embed a project's images with another backbone; at the end sends what was found out about images."""
    from engine.collection.backbone_change.change import prepare_change as run
    from engine.project import Project

    with Project.open(request.project, for_writing=False) as project:
        prepared = run(
            project,
            CacheFolders(request.cache),
            request.backbone,
            device=request.device,
            on_progress=send,
            cancel=cancel,
        )
    for start in range(0, len(prepared.news), ROWS_AT_ONCE):
        send(EmbedBatch(prepared.news[start : start + ROWS_AT_ONCE]))
    return replace(prepared, news=())
