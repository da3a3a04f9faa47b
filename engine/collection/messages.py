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
    """A training that went well."""

    folder: Path  # with the files of a model version
    name: str  # that it will have
    figures: Mapping[str, float | None]  # see `TrainedFiles`


@dataclass(frozen=True)
class Train(Request[TrainingResult]):
    """Train a model version on a project's labels; whoever asked adds it to the project."""

    event_types = (TrainingPoint,)

    project: Path  # only read
    cache: Path  # root of the caches
    depth: Depth  # what is trained
    out: Path  # folder for the files, empty or missing, taken away again when the training fails or is stopped
    settings: Mapping[str, int | float | str] = field(default_factory=dict)  # by name


@dataclass(frozen=True)
class EstimateTraining(Request[TrainingDuration]):
    """Measure how long training a backbone on a project's labels would take."""

    project: Path  # only read
    cache: Path  # root of the caches
    settings: Mapping[str, int | float | str] = field(default_factory=dict)  # by name


@dataclass(frozen=True)
class PrepareChange(Request[PreparedChange]):
    """Embed a project's images with another backbone and measure both; the project is only read.

    What was found out about images comes in events; the result has no news of its own.
    """

    event_types = (EmbedBatch,)

    project: Path  # only read
    cache: Path  # root of the caches
    backbone: str  # a name, or the path of an ONNX file
    device: str = "auto"  # one of `providers.DEVICES`
