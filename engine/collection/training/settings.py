"""Settings of a training, parsed from `iterations=200`; progress, and whether training helps."""

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from importlib.util import find_spec
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeVar,
    Union,
    final,
    get_args,
    get_origin,
    get_type_hints,
)

from engine.config import is_packaged
from engine.errors import InputError, UsageError
from engine.events import OnProgress, Progress
from engine.project.records import Plain
from engine.texts import Message, either, enumerated, marked
from engine.training.curve import OnPoint, TrainingPoint
from engine.training.settings import Augmentation, at_least, between

if TYPE_CHECKING:
    from engine.project import ModelVersion, Project


# settings chosen by a person, by name; values as text or typed
Chosen = Mapping[str, Plain]

CURRENT = "current"  # start from the model version in use
CONV4 = "conv4"  # start from the paper's network with random weights

T = TypeVar("T")

_WORDS = {int: "a whole number", float: "a number", bool: "yes or no", str: "a word"}
_BOOLS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_NONE_WORDS = ("none", "")


@dataclass(frozen=True)
class BackboneSettings:
    """Settings of training a backbone. None is a default that depends on the project."""

    start: str = CURRENT  # "current", "conv4", or the name or file of another backbone
    iterations: int = 200  # mini-batches
    side: int | None = None  # of the trained images in pixels; that of the backbone, 84 for Conv4
    frozen_share: float = 0.5  # share of the layers, from the input, that are frozen
    ways: int | None = None  # few-shot classes of an iteration
    shots: int | None = None  # support images of each
    queries: int | None = None  # query images of each
    coarse_images: int = 5  # most images of each coarse class in an iteration
    # weight of `P0` in Eq. 6; with the paper's 0 for 1 shot siblings would be equal
    lambda_: float = 0.5
    # 3e-4 for the bundled fast backbone, 1e-3 for Conv4, else 1e-4
    learning_rate: float | None = None
    # weight of trained weights in the mean with those of the start: 0.5, for Conv4 1
    trained_share: float | None = None
    weight_decay: float = 1e-4  # of Adam
    augmentation: Augmentation = "shifted crop"  # see `TrainingSettings`
    held_out_share: float = 0.2  # of each class's labelled images, for the figures
    points: int = 5  # of the accuracy curve
    device: str = "auto"  # "auto", "cpu" or "cuda"
    seed: int = 0  # of the random generators

    def __post_init__(self) -> None:
        at_least(
            self,
            iterations=1,
            side=32,
            ways=2,
            shots=1,
            queries=1,
            coarse_images=1,
            points=1,
            seed=0,
        )
        between(self, lambda_=(0.0, 1.0), held_out_share=(0.0, 0.8), frozen_share=(0.0, 0.95))
        between(self, weight_decay=(0.0, 1.0), learning_rate=(0.0, 1.0), trained_share=(0.0, 1.0))
        if self.device not in {"auto", "cpu", "cuda"}:
            raise InputError(
                "there is no such device", expected="auto, cpu or cuda", found=self.device
            )


def parse_settings(texts: Sequence[str]) -> dict[str, Plain]:
    """Parse `name=value` texts; the last value of a name counts.

    Raises:
        UsageError: syntax error.
    """
    chosen: dict[str, Plain] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise UsageError(
                "a setting must be given as name=value",
                expected="such as iterations=200",
                found=text,
            )
        chosen[name.strip()] = value.strip()
    return by_field(chosen)


def by_field(chosen: Chosen) -> dict[str, Plain]:
    """Rename settings to field names: `learning-rate` and `lambda` are not Python names."""
    names = {name: name.replace("-", "_") for name in chosen}
    return {
        "lambda_" if field == "lambda" else field: chosen[name] for name, field in names.items()
    }


def with_chosen(settings: T, chosen: Chosen) -> T:
    """Replace values of a settings dataclass, including nested ones.

    Raises:
        UsageError: there is no such setting, or the value has another type.
        InputError: the value is out of range.
    """
    known = dict(_fields_of(settings))
    for name in chosen:
        if name not in known:
            raise UsageError(
                "there is no such setting", expected=enumerated(sorted(known)), found=name
            )
    return _replaced(settings, chosen)


def plain_settings(settings: object) -> dict[str, Plain]:
    """All values by name, including nested ones, as a model version stores them."""
    return {
        name: value if isinstance(value, int | float | str | None) else str(value)
        for name, value in _fields_of(settings)
    }


def _fields_of(settings: object) -> Iterator[tuple[str, Any]]:
    for field in fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, field.name)
        if is_dataclass(value):
            yield from _fields_of(value)
        else:
            yield field.name, value


def _replaced(settings: T, chosen: Chosen) -> T:
    hints = get_type_hints(type(settings))
    news: dict[str, Any] = {}
    for field in fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, field.name)
        if is_dataclass(value):
            news[field.name] = _replaced(value, chosen)
        elif field.name in chosen:
            news[field.name] = _converted(field.name, chosen[field.name], hints[field.name])
    return replace(settings, **news)  # type: ignore[type-var]


def _converted(name: str, value: Plain, hint: Any) -> Any:
    options = _options(hint)
    if types.NoneType in options and (value is None or str(value).lower() in _NONE_WORDS):
        return None
    for option in options:
        try:
            return _as_type(value, option)
        except (ValueError, KeyError, TypeError):
            continue
    raise UsageError(
        "the setting {name} has a wrong value",
        expected=either(_words(hint)),
        found=f"“{value}”",
        name=name,
    )


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in {Union, types.UnionType} else (hint,)


def _as_type(value: Plain, wanted: Any) -> Any:
    if get_origin(wanted) is Literal:
        return {str(each): each for each in get_args(wanted)}[str(value)]
    if wanted is bool:
        return value if isinstance(value, bool) else _BOOLS[str(value).lower()]
    if isinstance(value, bool) or wanted is types.NoneType:
        raise TypeError(str(wanted))
    if wanted is int and isinstance(value, float) and not value.is_integer():
        raise ValueError(str(value))
    number_or_text = wanted(value)
    if wanted is float and number_or_text != number_or_text:  # noqa: PLR0124 (NaN differs from itself)
        raise ValueError(str(value))
    return number_or_text


def _words(hint: Any) -> Iterator[str]:
    for option in _options(hint):
        if get_origin(option) is Literal:
            yield enumerated(map(str, get_args(option)))
        else:
            yield (
                Message("none")
                if option is types.NoneType
                else Message(_WORDS.get(option, str(option)))
            )


ENOUGH_SHOTS = 2  # labelled images of a class for training to help. Measured: decision 47
ENOUGH_FOR_ACCURATE = 5  # the same with the bundled accurate backbone. Measured: decision 47
MOST_CLASSES = 0.5  # share of the labelled classes that must have so many
# growth of the labels since the last training that justifies another. Chosen
MORE_LABELS = 1.5


def can_train() -> bool:
    """Whether this program can train: a packaged one may be without PyTorch."""
    return not is_packaged() or find_spec("torch") is not None


def labels_trained_on(project: "Project") -> int:
    """Number of labels that the version in use, or a useless training, learned from."""
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
    """Whether a version was trained from the backbone in use without a gain in accuracy."""
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
    """Whether training the backbone on these labels is likely to improve predictions.

    Args:
        shots: labelled images of each leaf class.
        trained_on: labelled images that the version in use, or a useless training, learned from.
        model_name: of the model in use; training the accurate backbone needs more labels.
        accuracy: of the model in use on held-out labels, 0..1; None if unknown.
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
    """Stage of a training without a count, as the note of a progress."""

    PREPARING = marked("preparing the network")
    EMBEDDING = marked("embedding the images")
    SAVING = marked("saving the backbone")
    MEASURING = marked("measuring it on held-out images")


@final
class TrainingProgress:
    """Records the curve, forwards its points, and adds the latest to the progress."""

    def __init__(self, on_progress: OnProgress, on_point: OnPoint) -> None:
        self.points: list[TrainingPoint] = []
        self.ending_s = 0.0  # seconds after the last iteration
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
        """Report decoding, without the time left, which says nothing of the training."""
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
