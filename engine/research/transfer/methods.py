"""All methods that are compared, and how each is measured on one draw."""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.backbones.library import BackboneLibrary
from engine.collection.models import bundled_backbones, find_model
from engine.config import CacheFolders
from engine.errors import UsageError
from engine.research.transfer import everyday
from engine.research.transfer.draws import Situation, draw
from engine.research.transfer.embedded import EmbeddedCollection
from engine.research.transfer.peers import (
    bd_cspn,
    label_propagation,
    laplacian_shot,
    logistic_regression,
    nearest_prototype,
    pt_map,
    tim,
)
from engine.research.transfer.peers.whitened import predict_whitened
from engine.research.transfer.results import TOP1, Outcome
from engine.research.transfer.task import FewShotTask

Predict = Callable[[FewShotTask], Mapping[str, NDArray[np.int64]]]
"""Class of each query by option."""

Measure = Callable[[EmbeddedCollection, Sequence[Situation], int], Mapping[Situation, Outcome]]
"""Measures a method in situations of the same number of shots on the draw of this seed."""


@dataclass(frozen=True)
class Method:
    """Something that is compared.

    Attributes:
        title: for tables.
        measure: how.
        is_ours: whether it is the everyday model.
        library: that it needs beyond those of the program, by the name it is imported by.
    """

    title: str
    measure: Measure
    is_ours: bool = False
    library: str | None = None


def measure_peer(
    predict: Predict, embedded: EmbeddedCollection, situations: Sequence[Situation], seed: int
) -> Mapping[Situation, Outcome]:
    """Let a peer classify what is in the collection and no shot, and score what is unlabelled in each situation.

    A peer has no use for coarse labels: it sees the images that have one as unlabelled ones, and is not scored on them.
    Situations with the same images are classified once.
    """
    collection = embedded.collection
    known: dict[bytes, Mapping[str, NDArray[np.int64]]] = {}
    outcomes = {}
    for situation in situations:
        drawn = draw(collection, situation, seed)
        queries = np.setdiff1d(drawn.rows, drawn.shots)
        key = queries.tobytes()
        if key not in known:
            known[key] = _classes_of(predict, embedded, drawn.shots, queries)
        rows = everyday.scored(collection, drawn)
        places, answers = np.searchsorted(queries, rows), collection.class_ids[rows]
        outcomes[situation] = {
            option: {TOP1: float((ids[places] == answers).mean())} for option, ids in known[key].items()
        }
    return outcomes


def _classes_of(
    predict: Predict, embedded: EmbeddedCollection, shots: NDArray[np.int64], queries: NDArray[np.int64]
) -> Mapping[str, NDArray[np.int64]]:
    """Class id (q,) of each query by option."""
    leaves, floats = embedded.collection.leaf_ids, embedded.floats
    classes = np.searchsorted(leaves, embedded.collection.class_ids[shots])
    task = FewShotTask(floats[shots], classes, floats[queries], len(leaves))
    return {option: leaves[positions] for option, positions in predict(task).items()}


def measure_everyday(
    with_collection: bool, embedded: EmbeddedCollection, situations: Sequence[Situation], seed: int
) -> Mapping[Situation, Outcome]:
    """Fit and score the everyday model in each situation, with the collection stage or without."""
    draws = {situation: draw(embedded.collection, situation, seed) for situation in situations}
    return {
        situation: {"": everyday.in_memory(embedded, drawn, with_collection=with_collection)}
        for situation, drawn in draws.items()
    }


def measure_in_project(
    embedded: EmbeddedCollection, situations: Sequence[Situation], seed: int
) -> Mapping[Situation, Outcome]:
    """The same through project files, from import to evaluation.

    Raises:
        UsageError: the backbone is a file: a project would copy it into the person's library.
    """
    collection, model = embedded.collection, embedded.model
    if model.name not in known_backbones() or find_model(model.name).backbone_hash != model.backbone_hash:
        raise UsageError(
            "a project file needs a backbone that the program knows",
            expected=", ".join(known_backbones()),
            found=str(model.backbone),
            remedy="add it with `protoleaf backbone add`, and choose it by its name",
        )
    draws = {situation: draw(collection, situation, seed) for situation in situations}
    caches = CacheFolders.default()
    return {each: {"": everyday.in_project(collection, model.name, drawn, caches)} for each, drawn in draws.items()}


def known_backbones() -> tuple[str, ...]:
    """Names of the backbones that ship with the program or were added to it."""
    return (*bundled_backbones(), *BackboneLibrary().names())


def check_libraries(methods: Sequence[str]) -> None:
    """Make sure that every library is there before anything is computed.

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
                remedy="install the experiments' libraries, protoleaf[experiments], or leave the method out",
            )


def _whitened(title: str, predict: Predict, library: str | None = None) -> Method:
    measure = partial(measure_peer, partial(predict_whitened, predict))
    return Method(f"{title}, whitened", measure, library=library)


PROTOTYPES: Final = "prototypes"
ALONE: Final = "everyday-without-collection"
EVERYDAY: Final = "everyday"
IN_PROJECT: Final = "everyday-in-project"

METHODS: Final[Mapping[str, Method]] = {
    PROTOTYPES: Method("nearest prototype", partial(measure_peer, nearest_prototype.predict)),
    "logistic-regression": Method(
        "logistic regression", partial(measure_peer, logistic_regression.predict), library="sklearn"
    ),
    "bd-cspn": Method("BD-CSPN", partial(measure_peer, bd_cspn.predict)),
    "laplacian-shot": Method("LaplacianShot", partial(measure_peer, laplacian_shot.predict)),
    "pt-map": Method("PT-MAP", partial(measure_peer, pt_map.predict)),
    "tim": Method("TIM", partial(measure_peer, tim.predict)),
    "label-propagation": Method("label propagation", partial(measure_peer, label_propagation.predict), library="scipy"),
    "whitened-prototypes": _whitened("nearest prototype", nearest_prototype.predict),
    "whitened-tim": _whitened("TIM", tim.predict),
    "whitened-label-propagation": _whitened("label propagation", label_propagation.predict, "scipy"),
    ALONE: Method("everyday model, stage off", partial(measure_everyday, False), is_ours=True),
    EVERYDAY: Method("everyday model", partial(measure_everyday, True), is_ours=True),
    IN_PROJECT: Method("everyday model, project file", measure_in_project, is_ours=True),
}

DEFAULT_METHODS: Final = tuple(name for name in METHODS if name != IN_PROJECT)
