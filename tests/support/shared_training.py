"""A process of `torchrun` with half of a small training, which writes its final weights.

Usage: `python -m torch.distributed.run ... -m tests.support.shared_training FOLDER`
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

import torch
from safetensors.torch import save_file

from engine.errors import Cancelled
from engine.events import CancelToken
from engine.training.curve import TrainingPoint
from engine.training.loop import train
from tests.support.few_shot_problems import colour_training_set
from tests.support.small_trainings import small_objective, small_settings

ITERATIONS = 4

if __name__ == "__main__":
    torch.set_num_threads(1)
    folder, rank = Path(sys.argv[1]), os.environ["RANK"]
    # Initial weights differ between processes: those of the first must be used.
    objective = small_objective(seed=int(rank))
    cancel = CancelToken()

    def stop_halfway(point: TrainingPoint) -> None:
        if point.iteration == ITERATIONS // 2:
            cancel.cancel()

    with suppress(Cancelled):
        settings = small_settings(iterations=ITERATIONS)
        train(
            objective,
            colour_training_set().pixels,
            settings,
            folder / "run",
            on_point=stop_halfway,
            cancel=cancel,
        )
    statistics = {name: value for name, value in objective.named_buffers() if "running" in name}
    state = dict(objective.named_parameters()) | statistics
    save_file(
        {name: value.contiguous() for name, value in state.items()}, folder / f"{rank}.safetensors"
    )
