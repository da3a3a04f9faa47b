"""Every constant of level-wise training of PPN (Algorithm 1) that plain training does not have."""

from dataclasses import dataclass, field
from typing import Final

from engine.model.attention import HIDDEN_WIDTH, Normalisation
from engine.training.level_wise.sampling import EpisodeShape

ONE_SHOT_LAMBDA: Final = 0.0
"""Paper, section 4: lambda for 1 shot."""
MORE_SHOTS_LAMBDA: Final = 0.5
"""Paper, section 4: lambda for 5 shots."""


@dataclass(frozen=True)
class LevelWiseSettings:
    """What Algorithm 1 takes besides an optimiser; the defaults are the paper's or, where it says so, the authors'."""

    shape: EpisodeShape = field(default_factory=EpisodeShape)  # classes and images of an iteration
    lambda_: float | None = None  # weight of `P0` in Eq. 6; None takes the paper's 0 for 1 shot and 0.5 for more.
    # The same for coarse classes, whose `P0` rests on many images; None takes `lambda_`, as the paper does. Then, at 0,
    # siblings have one prototype, and coarse images are drawn to their grandparents only.
    coarse_lambda: float | None = None
    refresh_epochs: int = 5  # m, epochs between two updates of the buffered `P0`
    epoch_iterations: int = 100  # iterations that make an epoch; 100 in the authors' code
    # Images of each class behind the buffered `P0`, at most; all when None, as in the paper. After training, `P0` is
    # computed from all in any case.
    buffer_images: int | None = None
    # Weight of what the iteration's own support images say of a coarse class, the buffer having the rest; needs
    # `coarse_shots` in the shape. At 0, as in Algorithm 1, no gradient reaches a coarse prototype; with more, errors of
    # children train the images of their parents, as the paper's text wants.
    fresh_share: float = 0.0
    hidden_width: int = HIDDEN_WIDTH  # of the attention; 128 in the authors' code
    logit_scale: float = 1.0  # factor on the cosine before the softmax; 1 in the authors' code
    # "softmax" over a class's parents as in the authors' code, or the raw "cosine" of the paper
    normalisation: Normalisation = "softmax"
    steps: int = 1  # propagation steps; the paper takes one

    @property
    def own_weight(self) -> float:
        """Lambda of Eq. 6."""
        if self.lambda_ is not None:
            return self.lambda_
        return ONE_SHOT_LAMBDA if self.shape.shots == 1 else MORE_SHOTS_LAMBDA
