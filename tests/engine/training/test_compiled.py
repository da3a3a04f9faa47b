import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from engine.errors import Cancelled
from engine.events import CancelToken
from engine.training.loop import train
from tests.support.small_trainings import PlainObjective, small_settings, state_of

PIXELS = np.random.default_rng(0).integers(0, 256, (12, 4, 4, 3), dtype=np.uint8)


def objective() -> PlainObjective:
    """A linear backbone on tiny images."""
    torch.manual_seed(0)
    return PlainObjective(nn.Sequential(nn.Flatten(), nn.Linear(48, 2), nn.ReLU()), len(PIXELS))


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("g++") is None and shutil.which("clang++") is None, reason="no C++ compiler here"
)
def test_compiled_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiled backbone ends where a plain one does; its checkpoint resumes uncompiled."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")
    monkeypatch.setenv("TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS", "0")  # dear for so few kernels
    monkeypatch.setenv(
        "TORCHINDUCTOR_VEC_ISA_OK", "0"
    )  # plain C++: nothing is compiled to try instructions
    plain, compiled, resumed = objective(), objective(), objective()
    train(plain, PIXELS, small_settings(side=4, point_interval=5))
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        train(
            compiled,
            PIXELS,
            small_settings(side=4, point_interval=5, compiles=True),
            tmp_path / "run",
            on_point=lambda _point: cancel.cancel(),
            cancel=cancel,
        )
    assert list((tmp_path / "cache").rglob("*.cpp")) != []
    assert state_of(compiled).keys() == state_of(plain).keys()
    train(resumed, PIXELS, small_settings(side=4, point_interval=5), tmp_path / "run")
    for name, value in state_of(plain).items():
        torch.testing.assert_close(state_of(resumed)[name], value, rtol=1e-4, atol=1e-6)
