"""The methods of the paper's tables: what is trained, and which rows of the table a training gives."""

from dataclasses import dataclass, field
from typing import Final

import torch

from engine.errors import InputError
from engine.experiments.baselines.baseline import baseline_sampler
from engine.experiments.baselines.closer_look import CloserLook, CloserLookSettings
from engine.experiments.baselines.gnn import FewShotGnn, GnnSettings
from engine.experiments.baselines.prototypical_net import PrototypicalNet
from engine.model.conv4 import Conv4
from engine.training.level_wise.objective import PrototypePropagation
from engine.training.level_wise.sampling import EpisodeShape
from engine.training.level_wise.settings import LevelWiseSettings
from engine.training.objective import Objective
from engine.training.settings import TrainingSettings
from engine.training.training_set import TrainingSet

PPN: Final = "ppn"
PPN_PLUS: Final = "ppn+"
STAR: Final = "-star"
BASELINES: Final = ("prototypical-net", "gnn", "closer-look")
METHODS: Final = (*BASELINES, *(name + STAR for name in BASELINES), PPN)
"""What can be trained, in the table's order; `ppn` is tested as `ppn` and as `ppn+`."""


@dataclass(frozen=True)
class MethodSettings:
    """Every constant of a training in the experiments, by what it belongs to.

    Attributes:
        training: optimiser, schedule, arithmetic.
        propagation: of PPN; its shape also serves the baselines.
        gnn: of the graph network.
        closer_look: of the cosine classifiers.
    """

    training: TrainingSettings = field(default_factory=TrainingSettings)
    propagation: LevelWiseSettings = field(default_factory=LevelWiseSettings)
    gnn: GnnSettings = field(default_factory=GnnSettings)
    closer_look: CloserLookSettings = field(default_factory=CloserLookSettings)

    @property
    def shape(self) -> EpisodeShape:
        """Classes and images of an iteration."""
        return self.propagation.shape


def make_objective(method: str, training_set: TrainingSet, settings: MethodSettings) -> Objective:
    """A fresh objective on a Conv4; the same arguments give the same initial weights.

    Raises:
        InputError: there is no such method, or the training set does not suffice for it.
    """
    if method not in METHODS:
        raise InputError("there is no such method", expected=", ".join(METHODS), found=f"“{method}”")
    seed, side = settings.training.seed, settings.training.side
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        backbone = Conv4(side)
    width = backbone.embedding_width
    if method == PPN:
        return PrototypePropagation(backbone, width, training_set, settings.propagation, seed=seed)
    level_wise = method.endswith(STAR)
    base = method.removesuffix(STAR)
    if base == "closer-look":
        return CloserLook(backbone, width, training_set, settings.closer_look, level_wise=level_wise, seed=seed)
    sampler = baseline_sampler(training_set, settings.shape, level_wise=level_wise)
    if base == "gnn":
        return FewShotGnn(backbone, width, sampler, settings.gnn, seed=seed)
    return PrototypicalNet(backbone, sampler)
