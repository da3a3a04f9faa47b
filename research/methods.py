"""Methods of the paper's tables: trainings, and the rows of the table that each gives."""

from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

import torch

from engine.collection.training import settings as by_name
from engine.collection.training.settings import Chosen
from engine.errors import InputError, UsageError
from engine.model.backbone import Conv4
from engine.project.records import Plain
from engine.training.class_heads import ClassHeads
from engine.training.level_wise import EpisodeShape, LevelWiseSettings, PrototypePropagation
from engine.training.loop import Objective
from engine.training.settings import TrainingSettings
from engine.training.training_set import TrainingSet
from research.baselines.baseline import baseline_sampler
from research.baselines.closer_look import CloserLook, CloserLookSettings
from research.baselines.gnn import FewShotGnn, GnnSettings
from research.baselines.prototypical_net import BesideHeads, PrototypicalNet
from research.resnet12 import ResNet12

PPN = "ppn"
PPN_PLUS = "ppn+"
STAR = "-star"
BASELINES = ("prototypical-net", "gnn", "closer-look")
METHODS = (*BASELINES, *(name + STAR for name in BASELINES), PPN)
"""Methods of the paper's table, in its order; `ppn` is tested as `ppn` and as `ppn+`."""
HEADS = "-heads"
PPN_GUESSED = "ppn-guessed"
PPN_COSINE = "ppn-cosine"
BEYOND = ("prototypical-net-heads", "prototypical-net-star-heads", PPN_COSINE, PPN_GUESSED)
"""Methods beyond the paper's tables.

With classification heads in training, PPN with guessed parents, too, and PPN trained and tested
with the raw cosine of Eq. 5 in place of its softmax.
"""
KINDS_OF_PPN = (PPN, PPN_COSINE, PPN_GUESSED)

BackboneName = Literal["conv4", "resnet12"]
BACKBONES: dict[BackboneName, type[Conv4 | ResNet12]] = {
    "conv4": Conv4,
    "resnet12": ResNet12,
}

NEWER: dict[str, Plain] = {"backbone": "conv4"}
"""Settings added after stored results and checkpoints: with these values they are not stored."""

COLUMN_SETTINGS = frozenset({"ways", "shots", "max_ways"})
"""Settings that the column of the table decides."""


@dataclass(frozen=True)
class MethodSettings:
    """All settings of a training in the experiments.

    Attributes:
        training: optimiser, schedule, arithmetic.
        propagation: of PPN; its shape also serves the baselines.
        training_ways: few-shot classes of a training episode; None takes the tasks' own, as the
            paper does. More make better embeddings (Snell et al. trained at 20 and 30 ways). A GNN
            always takes the tasks' own.
        episode_queries: images to classify of each few-shot class in the plain baselines' episodes;
            15 is usual and makes an iteration as large as PPN's. The `*` variants take the shape's,
            like PPN.
        beyond_weight: of the losses beyond the paper's, see `BEYOND`.
        backbone: architecture of the backbone.
        gnn: of the graph network.
        closer_look: of the cosine classifiers.
    """

    training: TrainingSettings = field(default_factory=TrainingSettings)
    propagation: LevelWiseSettings = field(default_factory=LevelWiseSettings)
    training_ways: int | None = None
    episode_queries: int | None = 15
    beyond_weight: float = 1.0
    backbone: BackboneName = "conv4"
    gnn: GnnSettings = field(default_factory=GnnSettings)
    closer_look: CloserLookSettings = field(default_factory=CloserLookSettings)

    @property
    def shape(self) -> EpisodeShape:
        """Classes and images of an iteration."""
        return self.propagation.shape


def make_objective(method: str, training_set: TrainingSet, settings: MethodSettings) -> Objective:
    """Create an objective; the same arguments give the same initial weights.

    Raises:
        InputError: there is no such method, or the training set is too small for it.
    """
    if method not in (*METHODS, *BEYOND):
        raise InputError(
            "there is no such method", expected=", ".join((*METHODS, *BEYOND)), found=f"“{method}”"
        )
    objective = _make(method, training_set, settings)
    objective.constants = constants_of(method, settings)
    return objective


def _make(method: str, training_set: TrainingSet, settings: MethodSettings) -> Objective:
    seed, side = settings.training.seed, settings.training.side
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        backbone = BACKBONES[settings.backbone](side)
    width = backbone.embedding_width
    if method in KINDS_OF_PPN:
        return PrototypePropagation(
            backbone, width, training_set, _propagation(method, settings), seed=seed
        )
    level_wise, has_heads, base = _parts(method)
    if base == "closer-look":
        return CloserLook(
            backbone, width, training_set, settings.closer_look, level_wise=level_wise, seed=seed
        )
    sampler = baseline_sampler(
        training_set, _shape(settings, level_wise=level_wise), level_wise=level_wise
    )
    if base == "gnn":
        return FewShotGnn(backbone, width, sampler, settings.gnn, seed=seed)
    if not has_heads:
        return PrototypicalNet(backbone, sampler)
    heads = ClassHeads(width, training_set, fine_only=not level_wise, seed=seed)
    return PrototypicalNet(
        backbone, sampler, BesideHeads(heads, training_set.class_positions, settings.beyond_weight)
    )


def _parts(method: str) -> tuple[bool, bool, str]:
    """Whether a baseline is level-wise, whether it has heads, and its plain name."""
    plain = method.removesuffix(HEADS)
    return plain.endswith(STAR), plain != method, plain.removesuffix(STAR)


def _propagation(method: str, settings: MethodSettings) -> LevelWiseSettings:
    if method == PPN:
        return settings.propagation
    if method == PPN_COSINE:
        return replace(settings.propagation, normalisation="cosine")
    weight = settings.beyond_weight
    return replace(settings.propagation, head_weight=weight, guess_weight=weight)


def _shape(settings: MethodSettings, *, level_wise: bool) -> EpisodeShape:
    return (
        settings.shape if level_wise else replace(settings.shape, queries=settings.episode_queries)
    )


def constants_of(method: str, settings: MethodSettings) -> dict[str, Plain]:
    """Constructor settings of a method, by field name, which checkpoints store."""
    found = {**_own_constants(method, settings), "backbone": settings.backbone}
    return {
        name: value for name, value in found.items() if name not in NEWER or value != NEWER[name]
    }


def _own_constants(method: str, settings: MethodSettings) -> dict[str, Plain]:
    level_wise, has_heads, base = _parts(method)
    if base == "closer-look":
        names = _direct_names(settings.closer_look)
        return {name: getattr(settings.closer_look, name) for name in sorted(names)}
    if method in KINDS_OF_PPN:
        return by_name.plain_settings(_propagation(method, settings))
    shape = by_name.plain_settings(_shape(settings, level_wise=level_wise))
    own = by_name.plain_settings(settings.gnn) if base == "gnn" else {}
    return {**shape, **own, **({"head_weight": settings.beyond_weight} if has_heads else {})}


def with_chosen(settings: MethodSettings, chosen: Chosen) -> MethodSettings:
    """Replace settings by chosen values.

    A name is that of a field at any depth, except in the fitting of Closer Look's test: it shares
    names with the training and follows the authors' code. Ways and shots are the column's.

    Args:
        settings: to start from.
        chosen: by field name; see `engine.collection.training.settings.parse_settings`.

    Raises:
        UsageError: there is no such setting, or the value is of another type; the message lists
            what there is.
        InputError: the value is out of range.
    """
    known = _direct_names(settings) | _direct_names(settings.closer_look)
    for part in (settings.training, settings.propagation, settings.gnn):
        known |= by_name.plain_settings(part).keys()
    for name in chosen:
        if name not in known - COLUMN_SETTINGS:
            expected = ", ".join(sorted(known - COLUMN_SETTINGS))
            raise UsageError("there is no such setting", expected=expected, found=name)
    changed = by_name.with_chosen(settings, chosen)
    return replace(
        changed, closer_look=replace(changed.closer_look, fitting=settings.closer_look.fitting)
    )


def _direct_names(settings: Any) -> set[str]:
    """Fields without nested settings."""
    return {
        each.name for each in fields(settings) if not is_dataclass(getattr(settings, each.name))
    }
