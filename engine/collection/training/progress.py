"""Whether training the backbone is likely to help, and how a training reports its progress."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, final

from engine.collection.training.settings import CONV4
from engine.config import is_packaged
from engine.events import OnProgress, Progress
from engine.texts import Message, marked
from engine.training.curve import OnPoint, TrainingPoint

if TYPE_CHECKING:
    from engine.project import ModelVersion, Project

ENOUGH_SHOTS: Final = (
    2  # labelled images of a class from which on training helps. Measured: decision 47
)
ENOUGH_FOR_ACCURATE: Final = (
    5  # the same with the bundled accurate backbone as it ships. Measured: decision 47
)
MOST_CLASSES: Final = 0.5  # share of the labelled classes that must have so many
MORE_LABELS: Final = (
    1.5  # times as many labels as the last training learned from justify another one. Chosen
)


def can_train() -> bool:
    """Whether this program trains: a packaged one may be without PyTorch, and nothing can be added to it."""
    return not is_packaged() or find_spec("torch") is not None


def labels_trained_on(project: "Project") -> int:
    """Labelled images that the version in use was trained on, or that a training learned from in vain; 0 without."""
    used = project.models.current.version_id
    return max(
        (
            int(version.figures.get("labelled_images") or 0)
            for version in project.models.versions()
            if version.version_id == used or _is_in_vain(version)
        ),
        default=0,
    )


def _is_in_vain(version: "ModelVersion") -> bool:
    """Whether training the backbone in use gave it, and it was right no more often than that."""
    before, after = version.figures.get("before_accuracy"), version.figures.get("after_accuracy")
    if before is None or after is None or version.settings.get("start") == CONV4:
        return False
    return after <= before


def is_likely_to_help(
    shots: Sequence[int],
    *,
    trained_on: int = 0,
    model_name: str = "",
    accuracy: float | None = None,
) -> bool:
    """Whether training the backbone on these labels is likely to make predictions better.

    Args:
        shots: labelled images of each leaf class; classes without any count for nothing.
        trained_on: labelled images that the version in use, or a training in vain, learned from.
        model_name: of the model in use. The bundled accurate backbone knows so much that few labels harm it.
        accuracy: of the model in use on held-out labels, 0..1; None where it is not known.
    """
    from engine.backbones.model_files import ACCURATE

    if accuracy is not None and accuracy >= 1:
        return False  # nothing is left to gain
    fewest = ENOUGH_FOR_ACCURATE if model_name == ACCURATE else ENOUGH_SHOTS
    labelled = [count for count in shots if count]
    able = sum(count >= fewest for count in labelled)
    enough = able >= 2 and able >= MOST_CLASSES * len(labelled)  # noqa: PLR2004 (there is something to tell apart)
    return enough and sum(labelled) >= MORE_LABELS * trained_on


class TrainingStage(StrEnum):
    """What a training does where it counts nothing, as the note of a progress without a unit."""

    PREPARING = marked("preparing the network")
    EMBEDDING = marked("embedding the images")
    SAVING = marked("saving the backbone")
    MEASURING = marked("measuring it on held-out images")


@final
class TrainingProgress:
    """Keeps the curve, passes each point on, and writes the latest into the progress."""

    def __init__(self, on_progress: OnProgress, on_point: OnPoint) -> None:
        self.points: list[TrainingPoint] = []
        self.ending_s = 0.0  # from the last iteration to the end
        self._on_progress = on_progress
        self._on_point = on_point

    def add_point(self, point: TrainingPoint) -> None:
        self.points.append(point)
        self._on_point(point)

    def report(self, progress: Progress) -> None:
        """Report an iteration, with the latest loss and accuracy."""
        left_s = progress.seconds_left
        left_s = None if left_s is None else left_s + self.ending_s
        note = _note(self.points[-1]) if self.points else progress.note
        self._on_progress(replace(progress, note=note, seconds_left=left_s))

    def begin(self, stage: TrainingStage) -> None:
        self._on_progress(Progress(0, 0, unit="", note=stage))

    def reading(self, progress: Progress) -> None:
        """Report images that are read, without a time left: the duration of the training does not follow from it."""
        self._on_progress(replace(progress, seconds_left=None))


def _note(point: TrainingPoint) -> str:
    loss = point.validation_loss if point.loss is None else point.loss
    if loss is None and point.accuracy is None:
        return ""
    if point.accuracy is None:
        return Message("loss {loss:.3f}", {"loss": loss})
    if loss is None:
        return Message("accuracy {accuracy:.1f}%", {"accuracy": 100 * point.accuracy})
    return Message(
        "loss {loss:.3f}, accuracy {accuracy:.1f}%",
        {"loss": loss, "accuracy": 100 * point.accuracy},
    )
