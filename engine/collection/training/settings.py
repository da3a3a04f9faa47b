"""Settings of a training as people give them, `iterations=200`, brought into the settings' own types."""

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from engine.errors import InputError, UsageError
from engine.project.records import Plain
from engine.texts import Message, either, enumerated
from engine.training.settings import Augmentation, at_least, between

Chosen = Mapping[
    str, Plain
]  # settings that a person chose, by name; values as text or already of their type

CURRENT: Final = "current"  # training goes on from the model version in use
CONV4: Final = "conv4"  # training starts from the paper's network with random weights

T = TypeVar("T")

_WORDS: Final = {int: "a whole number", float: "a number", bool: "yes or no", str: "a word"}
_BOOLS: Final = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_NONE_WORDS: Final = ("none", "")


@dataclass(frozen=True)
class BackboneSettings:
    """What training a backbone on a project takes. None leaves the choice to what the project has."""

    # "current" goes on from the backbone in use, "conv4" from the paper's network with random weights; any other word
    # is the name or the file of the backbone to go on from
    start: str = CURRENT
    iterations: int = 200  # mini-batches
    side: int | None = (
        None  # side of the trained images in pixels; the backbone's own, 84 for Conv4
    )
    frozen_share: float = (
        0.5  # share of the backbone's layers, counted from the images, that stay as they are
    )
    # ways, shots, queries: few-shot classes of an iteration, and images of each as support and as queries
    ways: int | None = None
    shots: int | None = None
    queries: int | None = None
    coarse_images: int = 5  # images of each coarse class in an iteration, at most
    lambda_: float = 0.5  # weight of `P0` in Eq. 6; the paper's 0 for 1 shot would make siblings one and the same.
    learning_rate: float | None = (
        None  # 3e-4 for the bundled fast backbone, 1e-4 for another one, 1e-3 for Conv4
    )
    # weight of the trained weights in their mean with those of the start, which is kept; half for a trained backbone,
    # all for Conv4
    trained_share: float | None = None
    weight_decay: float = 1e-4  # of Adam
    # how images are changed each time they are seen, see `TrainingSettings`
    augmentation: Augmentation = "shifted crop"
    held_out_share: float = (
        0.2  # share of each class's labelled images that only the figures are measured on
    )
    points: int = 5  # points of the curve
    device: str = "auto"  # "auto", "cpu" or "cuda"
    seed: int = 0  # of everything drawn

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
    """Take `name=value` texts apart; of several with one name the last counts.

    Raises:
        UsageError: a text is not of that form.
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
    """The same by field name: `learning-rate` and `lambda` are no names in Python."""
    names = {name: name.replace("-", "_") for name in chosen}
    return {
        "lambda_" if field == "lambda" else field: chosen[name] for name, field in names.items()
    }


def with_chosen(settings: T, chosen: Chosen) -> T:
    """A settings dataclass with the chosen values; fields of nested settings are reached by name.

    Raises:
        UsageError: there is no such setting, or the value is of another type.
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
    """All values by name, those of nested settings too, as a model version stores them."""
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
