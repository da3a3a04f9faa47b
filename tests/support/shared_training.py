"""What `torchrun` starts on each of its processes: a small training; each process writes down the weights it ends with.

Usage: `python -m torch.distributed.run ... -m tests.support.shared_training FOLDER`
"""

import os
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

from engine.training.loop import train
from tests.support.few_shot_problems import colour_training_set
from tests.support.small_trainings import small_objective, small_settings

if __name__ == "__main__":
    torch.set_num_threads(1)
    folder, rank = Path(sys.argv[1]), os.environ["RANK"]
    # Each process starts from other weights: those of the first must win.
    objective = small_objective(seed=int(rank))
    train(objective, colour_training_set().pixels, small_settings(iterations=2), folder / "run")
    save_file(
        {name: value.contiguous() for name, value in objective.named_parameters()}, folder / f"{rank}.safetensors"
    )
