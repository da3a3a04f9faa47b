"""What a worker is asked to do with a whole project."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.collection.backbone_change.change import PreparedChange
from engine.collection.training.trained import Depth
from engine.embedding.messages import EmbedBatch
from engine.training.curve import TrainingDuration, TrainingPoint
from engine.worker.protocol import Request


@dataclass(frozen=True)
class TrainingResult:
    """A training that went well.

    Attributes:
        folder: with the files of a model version.
        name: that it will have.
        figures: see `TrainedFiles`.
    """

    folder: Path
    name: str
    figures: Mapping[str, float | None]


@dataclass(frozen=True)
class Train(Request[TrainingResult]):
    """Train a model version on a project's labels; whoever asked adds it to the project.

    Attributes:
        project: only read.
        cache: root of the caches.
        depth: what is trained.
        out: folder for the files, empty or missing, taken away again when the training fails or is stopped.
        settings: by name.
    """

    event_types = (TrainingPoint,)

    project: Path
    cache: Path
    depth: Depth
    out: Path
    settings: Mapping[str, int | float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class EstimateTraining(Request[TrainingDuration]):
    """Measure how long training a backbone on a project's labels would take.

    Attributes:
        project: only read.
        cache: root of the caches.
        settings: by name.
    """

    project: Path
    cache: Path
    settings: Mapping[str, int | float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class PrepareChange(Request[PreparedChange]):
    """Embed a project's images with another backbone and measure both; the project is only read.

    What was found out about images comes in events; the result has no news of its own.

    Attributes:
        project: only read.
        cache: root of the caches.
        backbone: a name, or the path of an ONNX file.
        device: one of `providers.DEVICES`.
    """

    event_types = (EmbedBatch,)

    project: Path
    cache: Path
    backbone: str
    device: str = "auto"
