"""A simulated device: load and rate."""

from pathlib import Path

import numpy as np
import pytest

from engine.errors import UsageError
from research.benchmarks.embedding import measure_embed
from research.benchmarks.simulated_device import BATCH, DeviceUse, SimulatedDevice, simulated_rate
from tests.support.backbones import SIDE, WIDTH, write_tiny_backbone
from tests.support.images import write_jpeg


def test_its_use_is_counted() -> None:
    use = DeviceUse(runs=4, sizes=1, busy_s=3.0, seconds=4.0)
    assert (use.idle, use.fullness(3 * BATCH)) == (0.25, 0.75)
    assert (DeviceUse(0, 0, 0.0, 0.0).idle, DeviceUse(0, 0, 0.0, 0.0).fullness(5)) == (0.0, 0.0)


def test_it_takes_its_time(tmp_path: Path) -> None:
    """The simulated time is a lower bound."""
    device = SimulatedDevice(
        tmp_path / "tiny.onnx", write_tiny_backbone(tmp_path / "tiny.onnx"), 2_000
    )
    images = np.zeros((BATCH, SIDE, SIDE, 3), dtype=np.uint8)
    assert device.take_use().runs == 0
    assert device.embed(images).shape == (BATCH, WIDTH)
    device.embed(images[:10])
    use = device.take_use()
    assert (use.runs, use.sizes) == (2, 2)
    assert use.busy_s >= 0.9 * (BATCH + 10) / 2_000
    assert device.take_use().runs == 0


@pytest.mark.parametrize(
    ("device", "rate"), [("cpu", None), ("simulated:300", 300), ("simulated:0.5", 0.5)]
)
def test_rates_are_in_its_name(device: str, rate: float | None) -> None:
    assert simulated_rate(device) == rate


@pytest.mark.slow
@pytest.mark.parametrize(
    "device", ["simulated:", "simulated:x", "simulated:0", "simulated:-3", "simulated:inf"]
)
def test_a_device_without_a_rate_is_an_error(device: str) -> None:
    with pytest.raises(UsageError, match="simulated:300"):
        simulated_rate(device)


@pytest.mark.slow
def test_the_pipeline_is_measured_with_it(tmp_path: Path) -> None:
    paths = [write_jpeg(tmp_path / f"{number}.jpg", seed=number) for number in range(BATCH + 6)]
    figures = measure_embed(paths, device="simulated:400", rounds=1)
    assert figures.is_on_gpu
    assert (figures.images, figures.batch_sizes) == (BATCH + 6, 1)
    assert figures.fullness == pytest.approx((BATCH + 6) / (2 * BATCH))
    assert figures.idle is not None
