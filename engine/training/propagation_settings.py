"""Every constant of the meta-training of propagation."""

from dataclasses import dataclass, field

from engine.model.attention import HIDDEN_WIDTH, Normalisation
from engine.training.episodes import EpisodeSettings
from engine.training.settings import at_least, between


@dataclass(frozen=True)
class PropagationTrainingSettings:
    """Every constant of the training."""

    episodes: EpisodeSettings = field(default_factory=EpisodeSettings)  # how episodes are drawn
    iterations: int = 1000  # episodes to train on, one step each
    # Iterations between two looks at the validation classes. The best state is kept, and the start counts as one, so
    # that on those classes training never ends worse than it began.
    validation_interval: int = 50
    validation_episodes: int = 50  # episodes of each look
    test_episodes: int = 200  # episodes over held-out classes that the figures are measured on
    hidden_width: int = HIDDEN_WIDTH  # of the attention
    logit_scale: float = 1.0  # factor on the cosine before the softmax; 1 is what the authors published
    normalisation: Normalisation = "softmax"  # of the attention weights
    steps: int = 1  # propagation steps
    # Fixed weight of `P0` (0 for 1 shot and 0.5 for 5 in the paper); None learns `shrinkage` instead
    lambda_: float | None = None
    shrinkage: float = 1.0  # start value s of lambda = n / (n + s) for a prototype of n images
    # Start value; None takes twice the variance of an embedding's component within a leaf class, which is what Eq. 2
    # needs to be a Gaussian's likelihood.
    temperature: float | None = None
    learns_temperature: bool = True  # whether temperatures move with the rest
    learning_rate: float = 1e-3  # Adam's, for the attention
    scalar_learning_rate: float = 1e-2  # Adam's, for the logarithms of temperatures and shrinkage
    weight_decay: float = 1e-5  # on the attention only
    # The learning rates are multiplied by it at `first_decay` and every `decay_interval` after
    rate_factor: float = 0.7
    # first_decay, decay_interval: iterations; in the paper's proportion (10k and 15k of 150k)
    first_decay: int = 67
    decay_interval: int = 100
    seed: int = 0  # of every draw

    def __post_init__(self) -> None:
        at_least(self, iterations=0, validation_interval=1, validation_episodes=1, test_episodes=1, hidden_width=1)
        at_least(self, steps=1, first_decay=0, decay_interval=1, seed=0)
        between(self, lambda_=(0.0, 1.0), learning_rate=(0.0, 1.0), scalar_learning_rate=(0.0, 10.0))
        between(self, weight_decay=(0.0, 1.0), rate_factor=(0.0, 1.0), shrinkage=(1e-6, 1e6), temperature=(1e-6, 1e9))
