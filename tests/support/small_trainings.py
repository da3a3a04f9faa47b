"""Short trainings: Conv4 on coloured images, and a linear backbone on hidden patterns."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from engine.model.backbone import Conv4
from engine.new_file import new_file
from engine.training import checkpoints
from engine.training.level_wise import EpisodeShape, LevelWiseSettings, PrototypePropagation
from engine.training.loop import IterationDraw, Objective, train
from engine.training.settings import TrainingSettings
from engine.training.training_set import TrainingSet
from tests.support.few_shot_problems import SIDE, colour_training_set

REPOSITORY = Path(__file__).parents[2]
WAITS = "now"


def small_settings(**changes: Any) -> TrainingSettings:
    """Eight iterations with three checkpoints, in float32 on the CPU."""
    usual: dict[str, Any] = {
        "iterations": 8,
        "side": SIDE,
        "precision": "float32",
        "device": "cpu",
        "checkpoint_interval": 3,
        "point_interval": 2,
    }
    return TrainingSettings(**usual | changes)


def small_objective(*, width: int = 4, seed: int = 0) -> PrototypePropagation:
    """PPN on coloured images with a narrow Conv4; the buffer is refreshed every third iteration."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        backbone = Conv4(SIDE, width)
    settings = LevelWiseSettings(
        EpisodeShape(4, 2), refresh_epochs=1, epoch_iterations=3, buffer_images=5
    )
    return PrototypePropagation(
        backbone, backbone.embedding_width, colour_training_set(), settings, seed=seed
    )


def state_of(module: nn.Module) -> dict[str, Tensor]:
    """A copy of all weights and buffers."""
    return {name: value.clone() for name, value in module.state_dict().items()}


def different(first: dict[str, Tensor], second: dict[str, Tensor]) -> list[str]:
    """Names of entries that are not bit-identical."""
    assert first.keys() == second.keys()
    return [name for name, value in first.items() if not torch.equal(value, second[name])]


class PlainObjective(Objective):
    """Pulls the embeddings of four random images towards 1: a minimal objective."""

    def __init__(self, backbone: nn.Module, image_count: int) -> None:
        super().__init__(backbone)
        self._image_count = image_count

    def draw(self, generator: np.random.Generator) -> IterationDraw:
        """Four images without replacement."""
        return IterationDraw(generator.choice(self._image_count, 4, replace=False))

    def loss(self, embeddings: Tensor, draw: IterationDraw) -> Tensor:  # noqa: ARG002 (no classes)
        """Mean squared distance to 1."""
        return (embeddings - 1).square().mean()


def hidden_pattern_set(seed: int = 0) -> TrainingSet:
    """2 coarse and 8 few-shot classes with faint patterns under strong irrelevant ones."""
    generator = np.random.default_rng(seed)
    patterns = np.linalg.qr(generator.normal(size=(192, 192)))[0] * np.sqrt(192)
    coarse, fine, noise = patterns[:2], patterns[2:10], patterns[10:40]
    class_positions = np.repeat(np.arange(10), 24)
    leaves = np.where(
        class_positions < 2,
        class_positions * 4 + generator.integers(0, 4, 240),
        class_positions - 2,
    )
    signal = 10 * coarse[leaves // 4] + 10 * fine[leaves]
    pixels = 128 + signal + generator.normal(0, 8, (240, len(noise))) @ noise
    return TrainingSet(
        pixels=np.clip(pixels, 0, 255).astype(np.uint8).reshape(240, 8, 8, 3),
        class_positions=class_positions,
        edge_index=np.array([[0] * 4 + [1] * 4, list(range(2, 10))]),
        levels=np.array([3] * 2 + [4] * 8),
        few_shot=np.arange(2, 10),
        class_names=tuple(f"class {position}" for position in range(10)),
    )


def train_and_wait(run: Path, where: str) -> None:
    """Train until iteration 7 or until half of the checkpoint of iteration 6 is written; wait.

    For child processes, which are killed while they wait.
    """
    torch.set_num_threads(1)
    if where == "checkpoint":
        _stop_in_second_checkpoint()

    def wait_after_seven(iteration: int) -> None:
        if iteration == 7:
            _wait()

    objective = small_objective()
    train(
        objective,
        colour_training_set().pixels,
        small_settings(point_interval=1),
        run,
        on_point=lambda point: wait_after_seven(point.iteration),
    )


def kill_training(run: Path, where: str) -> None:
    """Start `train_and_wait` in a child and kill it."""
    script = (
        "from pathlib import Path; from tests.support.small_trainings import train_and_wait; "
        f"train_and_wait(Path({str(run)!r}), {where!r})"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == WAITS
        child.kill()
        child.wait()
    assert child.returncode == -signal.SIGKILL


def _stop_in_second_checkpoint() -> None:
    written: list[Path] = []

    def write_half(path: Path, content: bytes) -> None:
        written.append(path)
        with new_file(path, replace=True) as draft:
            draft.file.write(content[: len(content) // 2] if len(written) == 2 else content)
            if len(written) == 2:
                draft.file.flush()
                _wait()

    checkpoints.__dict__["write_file"] = write_half  # in a child process


def _wait() -> None:
    sys.stdout.write(f"{WAITS}\n")
    sys.stdout.flush()
    sys.stdin.read()  # blocks: the parent keeps the other end open
