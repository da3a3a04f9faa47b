"""All compared methods."""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from engine.errors import UsageError
from research.transfer.draws import Situation
from research.transfer.embedded import EmbeddedCollection
from research.transfer.measuring import Predict, measure_everyday, measure_in_project, measure_peer
from research.transfer.peers import (
    alpha_tim,
    bd_cspn,
    coarse_logistic_regression,
    distribution_calibration,
    ilpc,
    label_propagation,
    label_shift,
    laplacian_shot,
    logistic_regression,
    nearest_prototype,
    paddle,
    pt_map,
    tim,
)
from research.transfer.peers.whitened import default_of, predict_whitened
from research.transfer.results import Outcome

Measure = Callable[[EmbeddedCollection, Sequence[Situation], int], Mapping[Situation, Outcome]]
"""Measure a method in situations of equal shots, on the draw of a seed."""


@dataclass(frozen=True)
class Method:
    """A compared method.

    Attributes:
        title: for tables.
        measure: how it is measured on one draw.
        default: the option of its paper, or the usual one.
        is_ours: whether it is the everyday model.
        library: optional library that it needs, by import name.
        needs_coarse_labels: whether it requires coarse labels, and is measured only where there are
            some.
    """

    title: str
    measure: Measure
    default: str = ""
    is_ours: bool = False
    library: str | None = None
    needs_coarse_labels: bool = False


def check_libraries(methods: Sequence[str]) -> None:
    """Check that every library is installed before anything is computed.

    Raises:
        UsageError: there is no such method, or one needs a library that is missing.
    """
    for name in methods:
        if name not in METHODS:
            raise UsageError("there is no such method", expected=", ".join(METHODS), found=name)
        library = METHODS[name].library
        if library is not None and importlib.util.find_spec(library) is None:
            raise UsageError(
                f"{name} needs {library}",
                remedy=(
                    "install the experiments' libraries, protoleaf[experiments], or leave "
                    "the method out"
                ),
            )


def _peer(title: str, predict: Predict, default: str, library: str | None = None) -> Method:
    return Method(title, partial(measure_peer, predict), default, library=library)


def _whitened(title: str, predict: Predict, default: str, library: str | None = None) -> Method:
    return _peer(
        f"{title}, whitened", partial(predict_whitened, predict), default_of(default), library
    )


def _method(title: str, predict: Predict, default: str, library: str | None = None) -> Method:
    measure = partial(measure_peer, predict, with_coarse_labels=True)
    return Method(
        f"{title}, coarse labels", measure, default, library=library, needs_coarse_labels=True
    )


PROTOTYPES = "prototypes"
ALONE = "everyday-without-collection"
EVERYDAY = "everyday"
IN_PROJECT = "everyday-in-project"

METHODS: Mapping[str, Method] = {
    PROTOTYPES: _peer("nearest prototype", nearest_prototype.predict, "plain"),
    "logistic-regression": _peer(
        "logistic regression", logistic_regression.predict, logistic_regression.DEFAULT, "sklearn"
    ),
    "label-shift": _peer("label shift", label_shift.predict, label_shift.DEFAULT, "sklearn"),
    "bd-cspn": _peer("BD-CSPN", bd_cspn.predict, bd_cspn.DEFAULT),
    "laplacian-shot": _peer("LaplacianShot", laplacian_shot.predict, laplacian_shot.DEFAULT),
    "pt-map": _peer("PT-MAP", pt_map.predict, pt_map.DEFAULT),
    "tim": _peer("TIM", tim.predict, tim.DEFAULT),
    "alpha-tim": _peer("alpha-TIM", alpha_tim.predict, alpha_tim.DEFAULT),
    "paddle": _peer("PADDLE", paddle.predict, paddle.DEFAULT),
    "distribution-calibration": _peer(
        "Distribution Calibration",
        distribution_calibration.predict,
        distribution_calibration.DEFAULT,
        "sklearn",
    ),
    "ilpc": _peer("iLPC", ilpc.predict, ilpc.DEFAULT, "scipy"),
    "label-propagation": _peer(
        "label propagation", label_propagation.predict, label_propagation.DEFAULT, "scipy"
    ),
    "whitened-prototypes": _whitened("nearest prototype", nearest_prototype.predict, "plain"),
    "whitened-tim": _whitened("TIM", tim.predict, tim.DEFAULT),
    "whitened-label-propagation": _whitened(
        "label propagation", label_propagation.predict, label_propagation.DEFAULT, "scipy"
    ),
    "coarse-logistic-regression": _method(
        "logistic regression",
        coarse_logistic_regression.predict,
        coarse_logistic_regression.DEFAULT,
        "scipy",
    ),
    "coarse-label-propagation": _method(
        "label propagation", label_propagation.predict, label_propagation.DEFAULT, "scipy"
    ),
    "whitened-coarse-label-propagation": _method(
        "label propagation, whitened",
        partial(predict_whitened, label_propagation.predict),
        default_of(label_propagation.DEFAULT),
        "scipy",
    ),
    ALONE: Method("everyday model, stage off", partial(measure_everyday, False), is_ours=True),
    EVERYDAY: Method("everyday model", partial(measure_everyday, True), is_ours=True),
    IN_PROJECT: Method("everyday model, project file", measure_in_project, is_ours=True),
}

DEFAULT_METHODS = tuple(name for name in METHODS if name != IN_PROJECT)
