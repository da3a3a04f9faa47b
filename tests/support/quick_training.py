"""Settings of very short trainings."""

from engine.collection.training.settings import Chosen
from research.methods import MethodSettings, with_chosen
from tests.support.few_shot_problems import SIDE

QUICK: Chosen = {
    "side": SIDE,
    "iterations": 3,
    "point_interval": 2,
    "coarse_images": 3,
    "training_ways": None,
    "episode_queries": 3,
    "batch_size": 8,
    "coarse_batch_size": 4,
    "refresh_epochs": 1,
    "epoch_iterations": 2,
    "projected_width": 8,
    "edge_width": 8,
    "hidden_blocks": 1,
    "device": "cpu",
    "precision": "float32",
}


def quick_settings(**changes: float | str | bool | None) -> MethodSettings:
    """Three iterations at 16 px of the smallest networks."""
    return with_chosen(MethodSettings(), {**QUICK, **changes})


def quick_words(**changes: float | str | None) -> list[str]:
    """As arguments of the command line."""
    return [
        word
        for name, value in {**QUICK, **changes}.items()
        for word in ("--setting", f"{name}={value}")
    ]
