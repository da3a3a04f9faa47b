import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import distributed, nn

from engine.training import checkpoints
from engine.training.arithmetic import Distribution
from engine.training.curve import CHECKPOINT_NAME
from engine.training.loop import train
from tests.support.few_shot_problems import colour_training_set
from tests.support.shared_training import ITERATIONS
from tests.support.small_trainings import REPOSITORY, small_objective, small_settings


def can_listen() -> bool:
    """Whether processes on this machine may talk to each other."""
    try:
        with socket.create_server(("127.0.0.1", 0)):
            return True
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(
    not distributed.is_available(), reason="this PyTorch is built without distribution"
)
@pytest.mark.skipif(not can_listen(), reason="no sockets on the loopback device")
def test_two_processes_train_one_model(tmp_path: Path) -> None:
    """Under torchrun both end with the same weights and statistics, unlike those of one process.

    One checkpoint is written, and one process alone goes on with it.
    """
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*run, "-m", "tests.support.shared_training", str(tmp_path)],
        cwd=REPOSITORY,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second = (load_file(tmp_path / f"{rank}.safetensors") for rank in (0, 1))
    assert any("running_mean" in name for name in first)
    assert all(torch.equal(first[name], second[name]) for name in first)
    alone = small_objective()
    train(alone, colour_training_set().pixels, small_settings(iterations=2))
    assert not torch.equal(
        alone.backbone.get_parameter("layers.0.weight"), first["backbone.layers.0.weight"]
    )
    assert [file.name for file in (tmp_path / "run").iterdir()] == [CHECKPOINT_NAME]
    checkpoint = checkpoints.read(tmp_path / "run" / CHECKPOINT_NAME)
    assert torch.equal(
        checkpoint.tensors["model.backbone.layers.0.weight"], first["backbone.layers.0.weight"]
    )
    assert checkpoint.iteration == ITERATIONS // 2
    goes_on = train(
        small_objective(),
        colour_training_set().pixels,
        small_settings(iterations=ITERATIONS),
        tmp_path / "run",
    )
    assert goes_on.iterations == ITERATIONS


def test_a_single_process_shares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without torchrun's variables the module stays itself, and no group is joined."""
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    module = nn.Linear(2, 2)
    with Distribution.of_environment("cpu") as distribution:
        assert not distribution.is_shared
        assert distribution.share(module) is module
        assert not distributed.is_initialized()
    assert (distribution.rank, distribution.size, distribution.device.type) == (0, 1, "cpu")


def test_places_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process knows its number, and takes the GPU of its number on its machine."""
    for name, value in {"WORLD_SIZE": "8", "RANK": "5", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    on_cpu = Distribution.of_environment("cpu")
    assert (on_cpu.is_shared, on_cpu.rank, on_cpu.size, on_cpu.device) == (
        True,
        5,
        8,
        torch.device("cpu"),
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert Distribution.of_environment("auto").device == torch.device("cuda", 1)
