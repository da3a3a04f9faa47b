"""Switches of a device, as people write them and as ONNX Runtime takes them."""

from dataclasses import fields
from pathlib import Path

import pytest

from engine.errors import UsageError
from engine.runtime.devices.facts import CUDA_PROVIDER, PROVIDERS
from engine.runtime.devices.settings import DeviceSettings, batch_for, provider_options
from research.benchmarks.device_settings import read_settings

GUIDE = Path(__file__).parents[4] / "docs" / "gpu.md"


def test_reading() -> None:
    """Names and values become settings; the last of two counts."""
    settings = read_settings(
        ["batch=64", "cuda_graphs=yes", "algorithm_search=exhaustive", "tf32=off", "batch=16"]
    )
    assert settings == DeviceSettings(
        batch=16, cuda_graphs=True, algorithm_search="EXHAUSTIVE", tf32=False
    )
    assert read_settings([]) == DeviceSettings()


@pytest.mark.parametrize(
    "text", ["speed=yes", "cuda_graphs=maybe", "batch=many", "batch", "algorithm_search=best"]
)
def test_misuse(text: str) -> None:
    """An unknown switch or value is refused."""
    with pytest.raises(UsageError):
        read_settings([text])


def test_provider_options() -> None:
    """Each switch has its option; defaults choose quickly and spare memory; others have none."""
    assert provider_options(CUDA_PROVIDER, DeviceSettings()) == {
        "cudnn_conv_algo_search": "HEURISTIC",
        "arena_extend_strategy": "kSameAsRequested",
        "prefer_nhwc": "0",
        "use_tf32": "1",
        "enable_cuda_graph": "0",
    }
    other = DeviceSettings(
        algorithm_search="EXHAUSTIVE",
        spare_memory=False,
        channels_last=True,
        tf32=False,
        cuda_graphs=True,
    )
    found = list(provider_options(CUDA_PROVIDER, other).values())
    assert found == ["EXHAUSTIVE", "kNextPowerOfTwo", "1", "0", "1"]
    others = {*PROVIDERS.values()} - {CUDA_PROVIDER}
    assert [provider_options(each, other) for each in others] == [{}] * len(others)


@pytest.mark.parametrize(
    ("free_gib", "side", "batch"),
    [(None, 128, 32), (120.0, 128, 128), (8.0, 224, 32), (2.0, 224, 8), (0.1, 224, 8)],
)
def test_batch_by_memory(free_gib: float | None, side: int, batch: int) -> None:
    """A quarter of the free memory holds a batch; by hand.

    224 x 224 x 3 x 4 x 64 = 36.75 MiB an image.
    """
    free_bytes = None if free_gib is None else int(free_gib * 2**30)
    assert batch_for(free_bytes, side, DeviceSettings()) == batch
    assert batch_for(free_bytes, side, DeviceSettings(batch=5)) == 5


@pytest.mark.parametrize("name", [field.name for field in fields(DeviceSettings)])
def test_the_guide_explains_it(name: str) -> None:
    """Each switch stands in docs/gpu.md."""
    assert f"`{name}`" in GUIDE.read_text(encoding="utf-8")
